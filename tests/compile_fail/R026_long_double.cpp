// R026: a tensor of what is no element type; docs/errors.md#R026
// error: ricci\[R026\]
// error: not_an_element<long double>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
#ifdef BAD
  ricci::tensor<long double, 3> z;
#else
  ricci::tensor<double, 3> z;
#endif
  z(i) = z(i);
}
