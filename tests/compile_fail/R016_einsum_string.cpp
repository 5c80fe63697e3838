// R016: einsum string; docs/errors.md#R016
// error: ricci\[R016\]
// error: ij
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A;
#ifdef BAD
  auto x = ricci::einsum<"ij">(A);
#else
  auto x = ricci::einsum<"ij->">(A);
#endif
  static_cast<void>(x);
}
