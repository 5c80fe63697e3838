// R009: mixed element types in a run-time einsum; docs/errors.md#R009
// error: ricci\[R009\]
// error: float
#include <ricci/ricci.hpp>

void run() {
  ricci::ndarray<double> a({2, 2}), b({2, 2});
  ricci::ndarray<float> c({2, 2});
#ifdef BAD
  auto x = ricci::einsum("ij,jk->ik", a, c);
#else
  auto x = ricci::einsum("ij,jk->ik", a, b);
#endif
  x.fill(1);
}
