// R025: a tensor from an einsum at run time; docs/errors.md#R025
// error: ricci\[R025\]
// error: einsum_into.*docs/errors
// error: not_from_einsum<.*tensor<double, 3, 3>
#include <ricci/ricci.hpp>

void run() {
  ricci::tensor<double, 3, 3> A, B;
#ifdef BAD
  const ricci::tensor<double, 3, 3> C = ricci::einsum("ij,jk->ik", A, B);
#else
  const ricci::tensor<double, 3, 3> C = ricci::einsum<"ij,jk->ik">(A, B);
#endif
  static_cast<void>(C);
}
