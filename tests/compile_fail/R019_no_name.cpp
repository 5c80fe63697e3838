// R019: a label without a name; docs/errors.md#R019
// error: ricci\[R019\]
// error: name
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  constexpr ricci::label<""> x;
#else
  constexpr ricci::label<"x"> x;
#endif
  ricci::tensor<double, 3> a, b;
  a(x) = b(x);
}
