// R019: a range from no integer; docs/errors.md#R019
// error: ricci\[R019\]
// error: not_a_bound<double>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3> A, C;
#ifdef BAD
  C(i.in(0.9, 2.7)) = A(i);
#else
  C(i.in(0, 2_c)) = A(i);
#endif
}
