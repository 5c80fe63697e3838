// R025: a tensor that is made from an expression; docs/errors.md#R025
// error: ricci\[R025\]
// error: not_made_from<ricci::tensor<double, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  ricci::tensor<double, 3> z = x(i) + y(i);
#else
  ricci::tensor<double, 3> z;
  z(i) = x(i) + y(i);
#endif
  x = z;
}
