// R008: a gpu tensor in a run-time einsum; docs/errors.md#R008
// error: ricci\[R008\]
// error: gpu
#include <ricci/ricci.hpp>

void run() {
  ricci::tensor<double, 2, 2> a;
#ifdef BAD
  ricci::tensor<double, 2, 2, ricci::gpu> b;
#else
  ricci::tensor<double, 2, 2> b;
#endif
  auto x = ricci::einsum("ij,jk->ik", a, b);
  x.fill(1);
}
