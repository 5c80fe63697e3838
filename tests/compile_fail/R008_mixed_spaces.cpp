// R008: mixed spaces; docs/errors.md#R008
// error: ricci\[R008\]
// error: mixed_spaces<2>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3> A, C;
  ricci::tensor<double, 3, ricci::gpu> G;
#ifdef BAD
  C(i) = A(i) * G(i);
#else
  C(i) = A(i) * A(i);
#endif
  static_cast<void>(G);
}
