// R017: an array of a rank known at run time in a compile-time einsum; docs/errors.md#R017
// error: ricci\[R017\]
#include <ricci/ricci.hpp>

void run() {
  ricci::ndarray<double> x({3, 4});
#ifdef BAD
  auto row = ricci::einsum<"ij->i">(x);
#else
  auto row = ricci::einsum("ij->i", x);
#endif
  row.fill(1);
}
