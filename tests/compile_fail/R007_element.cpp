// R007: a bad constant in the place of an element; docs/errors.md#R007
// error: ricci\[R007\]
// error: bad_constant<0, 9, 3>
#include <ricci/ricci.hpp>

using namespace ricci::literals;

double run() {
  ricci::tensor<double, 3, 4> A;
#ifdef BAD
  return A(9_c, 0_c);
#else
  return A(2_c, 0_c) + A(2_c, 3);
#endif
}
