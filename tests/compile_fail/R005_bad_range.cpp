// R005: bad range; docs/errors.md#R005
// error: ricci\[R005\]
// error: bad_range<.*"m".*, 1, 10, 9>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 9> A, C;
#ifdef BAD
  C(m.in(1_c, 10_c)) = A(m);
#else
  C(m.in(1_c, 9_c)) = A(m);
#endif
}
