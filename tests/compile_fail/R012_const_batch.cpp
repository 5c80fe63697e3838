// R012: a product written to a const batch; docs/errors.md#R012
// error: ricci\[R012\]
#include <ricci/ricci.hpp>

using namespace ricci::literals;

void run() {
  const auto x = ricci::make_batch<double>(ricci::of_size(3_c, 3_c), 10);
#ifdef BAD
  const auto y = ricci::make_batch<double>(ricci::of_size(3_c, 3_c), 10);
#else
  auto y = ricci::make_batch<double>(ricci::of_size(3_c, 3_c), 10);
#endif
  ricci::batch_gemm(1, x, x, 0, y);
}
