// R010: a batch has three axes; docs/errors.md#R010
// error: ricci\[R010\]
// error: subscript_count<3, 2>
#include <ricci/ricci.hpp>

using namespace ricci::literals;

void run() {
  auto b = ricci::make_batch<double>(ricci::of_size(5_c, 5_c), 15);
#ifdef BAD
  b(0, 1) = 2;
#else
  b(0, 1, 1) = 2;
#endif
}
