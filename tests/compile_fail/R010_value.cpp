// R010: an element with too few subscripts; docs/errors.md#R010
// error: ricci\[R010\]
// error: subscript_count<2, 1>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  const ricci::tensor<double, 3, 3> A;
  ricci::tensor<double, 3, 3> C;
#ifdef BAD
  const double value = A(1);
#else
  const double value = A(1, 0);
#endif
  C(i, j) = value * A(i, j);
}
