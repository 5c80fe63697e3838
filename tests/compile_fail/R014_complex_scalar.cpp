// R014: complex scalar; docs/errors.md#R014
// error: ricci\[R014\]
// error: "double"
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3> A, C;
  const std::complex<double> z(0, 1);
#ifdef BAD
  C(i) = z * A(i);
#else
  C(i) = z.imag() * A(i);
#endif
}
