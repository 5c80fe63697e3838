// R026: not an element type; docs/errors.md#R026
// error: ricci\[R026\]
// error: not_an_element<int>
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  auto b = ricci::make_batch<int>(ricci::of_size(3, 3), 5);
#else
  auto b = ricci::make_batch<float>(ricci::of_size(3, 3), 5);
#endif
  b(0)(1, 2) = b(1, 1, 2);
}
