// R025: a tensor that is made from one of another type; docs/errors.md#R025
// error: ricci\[R025\]
// error: not_made_from<ricci::tensor<float, 3>, ricci::tensor<double, 3> ?>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  ricci::tensor<float, 3> z(x);
#else
  ricci::tensor<double, 3> z(x);
#endif
  y(i) = 2 * x(i);
  z.fill(1);
}
