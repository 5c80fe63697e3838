// R024: fewer strides than extents; docs/errors.md#R024
// error: ricci\[R024\]: a view has a stride for each extent
// error: unequal_lists<2, 1>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run(double* memory) {
#ifdef BAD
  auto A = ricci::view(memory, {3, 3}, {1});
#else
  auto A = ricci::view(memory, {3, 3}, {3, 1});
#endif
  A(i, j) = 0 * A(i, j);
}
