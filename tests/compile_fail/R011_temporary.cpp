// R011: temporary; docs/errors.md#R011
// error: ricci\[R011\]
// error: double, 3, 4
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> C;
  const auto make = [] { return ricci::tensor<double, 3, 4>(); };
#ifdef BAD
  C(i, j) = make()(i, j);
#else
  const auto A = make();
  C(i, j) = A(i, j);
#endif
  static_cast<void>(make);
}
