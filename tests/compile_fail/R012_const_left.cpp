// R012: const left; docs/errors.md#R012
// error: ricci\[R012\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A;
#ifdef BAD
  const ricci::tensor<double, 3, 4> C;
#else
  ricci::tensor<double, 3, 4> C;
#endif
  C(i, j) = A(i, j);
}
