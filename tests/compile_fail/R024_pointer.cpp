// R024: memory where a tensor is made, which owns its own; docs/errors.md#R024
// error: ricci\[R024\]
// error: not_an_extent<double ?\*>
#include <ricci/ricci.hpp>

void run() {
  double memory[12]{};
#ifdef BAD
  ricci::tensor<double, ricci::dynamic, 4> z(memory, 3);
#else
  auto z = ricci::view(memory, ricci::extents<ricci::dynamic, 4>{3});
#endif
  z.fill(1);
}
