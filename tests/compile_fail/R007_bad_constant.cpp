// R007: bad constant; docs/errors.md#R007
// error: ricci\[R007\]
// error: bad_constant<1, 9, 9>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 9> A;
  ricci::tensor<double, 3> x;
#ifdef BAD
  x(i) = A(i, 9_c);
#else
  x(i) = A(i, 8_c);
#endif
}
