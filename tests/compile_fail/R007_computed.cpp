// R007: a constant that was computed; docs/errors.md#R007
// error: ricci\[R007\]
// error: bad_constant<0, -1, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 9> A;
  ricci::tensor<double, 9> x;
#ifdef BAD
  x(i) = A(-1_c, i);
#else
  x(i) = A(1_c + 1_c, i);
  x(i.in(2_c * 1_c, 9_c - 1_c)) = A(0_c, i);
#endif
}
