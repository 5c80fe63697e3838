// R033: batch_gemm without its coefficients; docs/errors.md#R033
// error: ricci\[R033\]
// error: gemm_arguments<ricci::batch<double, 5, 5>, ricci::batch<double, 5, 5>, ricci::batch<double, 5, 5> ?>
#include <ricci/ricci.hpp>

using namespace ricci::literals;

void run() {
  const auto b = ricci::make_batch<double>(ricci::of_size(5_c, 5_c), 15);
  auto c = b * b;
#ifdef BAD
  ricci::batch_gemm(b, b, c);
#else
  ricci::batch_gemm(1, b, b, 0, c);
#endif
}
