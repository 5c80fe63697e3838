// R009: mixed types; docs/errors.md#R009
// error: ricci\[R009\]
// error: mixed_types<.*"double".*"float"
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3> A, C;
  ricci::tensor<float, 3> F;
#ifdef BAD
  C(i) = A(i) * F(i);
#else
  C(i) = A(i) * A(i);
#endif
  static_cast<void>(F);
}
