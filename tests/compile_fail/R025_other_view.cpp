// R025: a view becomes one of a type that knows more; docs/errors.md#R025
// error: ricci\[R025\]
// error: assigned_without_labels<.*tensor_view<double, 3>, .*tensor_view<double, -
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> z;
  ricci::tensor<double, ricci::dynamic> x(3);
  auto v = z.view();
#ifdef BAD
  v = x.view();
#else
  v(i) = x(i);
#endif
}
