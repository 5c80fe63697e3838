// R011: a view of a temporary tensor; docs/errors.md#R011
// error: ricci\[R011\]
// error: temporary_tensor<ricci::tensor<double, 3> ?>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> C;
#ifdef BAD
  const auto v = ricci::view(ricci::tensor<double, 3>());
#else
  const ricci::tensor<double, 3> A;
  const auto v = ricci::view(A);
#endif
  C(i) = v(i);
}
