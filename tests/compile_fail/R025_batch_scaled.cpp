// R025: the product of two groups is multiplied by a number; docs/errors.md#R025
// error: ricci\[R025\]
// error: batches_without_labels<int, .*batch<double
#include <ricci/ricci.hpp>

using namespace ricci::literals;

void run(ricci::group<double>& a, const ricci::group<double>& b) {
  auto c = ricci::make_batch<double>(ricci::of_size(a.rows(), b.cols()), a.size());
#ifdef BAD
  c = 2 * (a * b);
#else
  ricci::batch_gemm(2, a, b, 0, c);
#endif
}
