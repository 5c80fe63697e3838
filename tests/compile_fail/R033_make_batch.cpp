// R033: the size of the matrices of a batch is one argument; docs/errors.md#R033
// error: ricci\[R033\]
// error: batch_arguments<int, int, int>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
#ifdef BAD
  auto b = ricci::make_batch<double>(5, 5, 15);
#else
  auto b = ricci::make_batch<double>(ricci::of_size(5, 5), 15);
#endif
  b(0)(i, j) = 2 * b(1)(i, j);
}
