// R021: the matrices of two batches do not fit; docs/errors.md#R021
// error: ricci\[R021\]
// error: batches_that_do_not_fit<3, 4, 5, 2, 3, 2>
#include <ricci/ricci.hpp>

using namespace ricci::literals;

void run() {
  auto x = ricci::make_batch<double>(ricci::of_size(3_c, 4_c), 10);
#ifdef BAD
  auto y = ricci::make_batch<double>(ricci::of_size(5_c, 2_c), 10);
#else
  auto y = ricci::make_batch<double>(ricci::of_size(4_c, 2_c), 10);
#endif
  auto z = x * y;
  z.fill(1);
}
