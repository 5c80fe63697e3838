// R012: copied to a const tensor; docs/errors.md#R012
// error: ricci\[R012\]
#include <ricci/ricci.hpp>

void run() {
  ricci::tensor<double, 3, 4> A;
#ifdef BAD
  const ricci::tensor<double, 3, 4> C;
#else
  ricci::tensor<double, 3, 4> C;
#endif
  ricci::copy(A, C);
}
