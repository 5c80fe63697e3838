// R025: an einsum at run time is assigned to a tensor; docs/errors.md#R025
// error: ricci\[R025\]
// error: einsum_into.*docs/errors
// error: not_from_einsum<.*tensor<double, 3, 3>
#include <ricci/ricci.hpp>

void run() {
  ricci::tensor<double, 3, 3> A, B, C;
#ifdef BAD
  C = ricci::einsum("ij,jk->ik", A, B);
#else
  ricci::einsum_into(C, "ij,jk->ik", A, B);
#endif
}
