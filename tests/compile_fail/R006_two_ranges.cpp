// R006: two ranges; docs/errors.md#R006
// error: ricci\[R006\]
// error: two_ranges<.*"m".*, 1, 9, 0, 8>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 9> A, C;
#ifdef BAD
  C(m.in(1_c, 9_c)) = A(m.in(0_c, 8_c));
#else
  C(m.in(1_c, 9_c)) = A(m.in(1_c, 9_c));
#endif
}
