// R025: a number times a tensor without labels; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*tensor<double, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y, z;
  ricci::tensor<double, 3, 3> B;
  x.fill(1), y.fill(2), B.fill(3);
#ifdef BAD
  const ricci::tensor<double, 3> twice = 2 * x;
#else
  z(i) = 2 * x(i);
#endif
}
