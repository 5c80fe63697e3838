// R025: batches are added as a whole; docs/errors.md#R025
// error: ricci\[R025\]
// error: batches_without_labels<.*batch<float
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  const auto a = ricci::make_batch<float>(ricci::of_size(3_c, 3_c), 10), b = a;
  auto c = a * b;
#ifdef BAD
  c = a * b + c;
#else
  c(e, i, j) += a(e, i, j);
#endif
}
