// R017: einsum operands; docs/errors.md#R017
// error: ricci\[R017\]
// error: 0, 3, 2>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A;
#ifdef BAD
  auto x = ricci::einsum<"ijk->">(A);
#else
  auto x = ricci::einsum<"ij->">(A);
#endif
  static_cast<void>(x);
}
