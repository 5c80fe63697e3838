// R026: a view of what is no element type; docs/errors.md#R026
// error: ricci\[R026\]
// error: not_an_element<long double>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
#ifdef BAD
  long double memory[3]{};
#else
  double memory[3]{};
#endif
  x(i) = 2 * ricci::view(memory, {3}, {1})(i);
}
