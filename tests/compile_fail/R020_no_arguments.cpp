// R020: no extents at all; docs/errors.md#R020
// error: ricci\[R020\]
// error: extent_arguments<1, 0>
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<double, ricci::dynamic, 3> A;
#else
  ricci::tensor<double, ricci::dynamic, 3> A(4);
  ricci::tensor<double, 4, 3> B;
  B.fill(1);
#endif
  A.fill(1);
}
