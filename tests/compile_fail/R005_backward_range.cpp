// R005: backward range; docs/errors.md#R005
// error: ricci\[R005\]
// error: bad_range<.*"m".*, 4, 3,
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 9> A, C;
#ifdef BAD
  C(m.in(4_c, 3_c)) = A(m);
#else
  C(m.in(4_c, 4_c)) = A(m);
#endif
}
