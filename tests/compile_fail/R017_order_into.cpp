// R017: the result of an einsum is first; docs/errors.md#R017
// error: ricci\[R017\]
// error: einsum_arguments<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3, 3> A, C;
#ifdef BAD
  ricci::einsum_into("ij,jk->ik", A, A, C);
#else
  ricci::einsum_into(C, "ij,jk->ik", A, A);
#endif
  A(i, j) = 2 * C(i, j);
}
