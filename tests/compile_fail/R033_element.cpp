// R033: a batch of elements whose type is not said; docs/errors.md#R033
// error: ricci\[R033\]
// error: batch_arguments<ricci::matrix_size<5, 5>, int>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
#ifdef BAD
  auto b = ricci::make_batch(ricci::of_size(5_c, 5_c), 15);
#else
  auto b = ricci::make_batch<double>(ricci::of_size(5_c, 5_c), 15);
#endif
  b(0)(i, j) = 2 * b(1)(i, j);
}
