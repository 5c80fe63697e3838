// R013: bad sum; docs/errors.md#R013
// error: ricci\[R013\]
// error: "j"
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A, B, C;
  ricci::tensor<double, 3> x;
#ifdef BAD
  C(i, j) = sum(j, A(i, j)) * B(i, j);
#else
  C(i, j) = sum(k, A(i, k)) * B(i, j);
#endif
  static_cast<void>(x);
}
