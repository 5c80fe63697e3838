// R025: no labels at all; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*tensor<double, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y, z;
  ricci::tensor<double, 3, 3> B;
  x.fill(1), y.fill(2), B.fill(3);
#ifdef BAD
  z(i) = sqrt(x);
#else
  z(i) = sqrt(x(i));
#endif
}
