// R025: an index tensor as a factor; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*table_access
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
  ricci::tensor<double, 3, 3> B;
  ricci::tensor<int, 3> dof;
  y.fill(1), B.fill(1), dof.fill(2);
#ifdef BAD
  x(i) = 2 * dof(i);
#else
  x(i) = 2 * y(dof(i));
#endif
}
