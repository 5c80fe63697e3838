// R025: a statement from a tensor without labels; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*tensor<double, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
  ricci::tensor<double, 3, 3> B;
  ricci::tensor<int, 3> dof;
  y.fill(1), B.fill(1), dof.fill(2);
#ifdef BAD
  auto later = x(i).assign(y);
  static_cast<void>(later);
#else
  auto later = x(i).assign(y(i));
  static_cast<void>(later);
#endif
}
