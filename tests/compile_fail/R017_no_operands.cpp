// R017: an einsum of nothing; docs/errors.md#R017
// error: ricci\[R017\]
// error: einsum_arguments<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3, 3> A;
#ifdef BAD
  auto C = ricci::einsum("ij->ji");
#else
  auto C = ricci::einsum("ij->ji", A);
#endif
  C.fill(1);
  A(i, j) *= 2;
}
