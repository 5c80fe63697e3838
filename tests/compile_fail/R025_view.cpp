// R025: a view without labels as the left side; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*tensor_view<double, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y, z;
  ricci::tensor<double, 3, 3> B;
  x.fill(1), y.fill(2), B.fill(3);
  auto v = z.view();
#ifdef BAD
  v = B(i, j) * x(j);
#else
  v(i) = B(i, j) * x(j);
#endif
}
