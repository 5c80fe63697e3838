// R003: unequal extents; docs/errors.md#R003
// error: ricci\[R003\]
// error: unequal_extents<.*"k".*, 4, 6>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A;
  ricci::tensor<double, 4, 5> good;
  ricci::tensor<double, 6, 5> bad;
  ricci::tensor<double, 3, 5> C;
#ifdef BAD
  C(i, j) = A(i, k) * bad(k, j);
#else
  C(i, j) = A(i, k) * good(k, j);
  C(i, j) = A(i, k.in(0, 4)) * bad(k, j);
#endif
}
