// R025: a matrix of a batch is a view, which nothing holds; docs/errors.md#R025
// error: ricci\[R025\]
// error: assigned_without_labels<.*tensor_view<double
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  auto b = ricci::make_batch<double>(ricci::of_size(3_c, 3_c), 10);
#ifdef BAD
  b(0) = b(1);
#else
  b(0)(i, j) = b(1)(i, j);
#endif
}
