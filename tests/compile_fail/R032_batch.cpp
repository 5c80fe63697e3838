// R032: a batch is viewed as its tensor, or matrix by matrix; docs/errors.md#R032
// error: ricci\[R032\]
// error: no_view<ricci::batch<double, 2, 2>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  auto b = ricci::make_batch<double>(ricci::of_size(2_c, 2_c), 3);
  ricci::tensor<double, 3, 2, 2> A;
#ifdef BAD
  const auto v = ricci::view(b);
#else
  const auto v = ricci::view(b.as_tensor());
#endif
  A(e, i, j) = v(e, i, j);
}
