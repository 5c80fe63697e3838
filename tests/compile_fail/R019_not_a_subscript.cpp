// R019: not a subscript; docs/errors.md#R019
// error: ricci\[R019\]
// error: not_a_subscript<1>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A, C;
#ifdef BAD
  C(i, j) = A(i, 1.5);
#else
  C(i, j) = A(i, j);
#endif
}
