// R019: a label as the bound of a range; docs/errors.md#R019
// error: ricci\[R019\]
// error: not_a_bound<
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3> A, C;
#ifdef BAD
  C(i.in(0, j)) = A(i);
#else
  C(i.in(0, 2)) = A(i);
#endif
}
