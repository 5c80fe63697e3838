// R014: a complex number into a real tensor of rank 0; docs/errors.md#R014
// error: ricci\[R014\]
// error: complex_scalar<.*"double"
#include <ricci/ricci.hpp>

void run() {
  ricci::tensor<double> s;
  ricci::tensor<std::complex<double>> z;
  const std::complex<double> x(1, 2);
#ifdef BAD
  s() = x;
#else
  z() = x;
  s() = x.real();
#endif
}
