// R032: a tensor has its extents; docs/errors.md#R032
// error: ricci\[R032\]
// error: no_view<ricci::tensor<double, 3, 4>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3, 4> A;
  ricci::tensor<double, 4, 3> C;
#ifdef BAD
  const auto v = ricci::view(A, {4, 3});
#else
  const auto v = ricci::view(A.data(), {4, 3});
#endif
  C(i, j) = v(i, j);
}
