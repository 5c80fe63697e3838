// R025: a tensor without labels that is multiplied; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*tensor<double, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  x.fill(1);
#ifdef BAD
  x *= 2;
#else
  x(i) *= 2;
#endif
}
