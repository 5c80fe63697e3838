// R007: a negative constant, beside an integer and on an axis of dynamic extent; docs/errors.md#R007
// error: ricci\[R007\]
// error: bad_constant<1, -1, -1>
#include <ricci/ricci.hpp>

double run(int x) {
  const ricci::tensor<double, 3, ricci::dynamic> A(4);
#ifdef BAD
  return A(x, std::integral_constant<int, -1>{});
#else
  return A(x, std::integral_constant<int, 1>{});
#endif
}
