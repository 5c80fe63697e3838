// R017: the words of an einsum are first; docs/errors.md#R017
// error: ricci\[R017\]
// error: einsum_arguments<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3, 3> A;
#ifdef BAD
  auto C = ricci::einsum(A, A, "ij,jk->ik");
#else
  auto C = ricci::einsum("ij,jk->ik", A, A);
#endif
  C.fill(1);
  A(i, j) *= 2;
}
