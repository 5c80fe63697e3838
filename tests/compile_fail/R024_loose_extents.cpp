// R024: extents of a view that are not one argument; docs/errors.md#R024
// error: ricci\[R024\]
// error: loose_extents<2>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  double memory[12]{};
#ifdef BAD
  auto z = ricci::view(memory, 3, 4);
#else
  auto z = ricci::view(memory, ricci::extents<3, 4>{});
#endif
  z(i, j) = 2 * z(i, j);
}
