// R017: an index tensor in a compile-time einsum; docs/errors.md#R017
// error: ricci\[R017\]
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<int, 3, 4> x;
#else
  ricci::tensor<float, 3, 4> x;
#endif
  auto row = ricci::einsum<"ij->i">(x);
  row.fill(1);
}
