// R022: the real part of an expression; docs/errors.md#R022
// error: ricci\[R022\]
// error: no_function<ricci::access<
#include <ricci/ricci.hpp>

#include <algorithm>
#include <complex>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  ricci::tensor<std::complex<double>, 3> z;
#ifdef BAD
  x(i) = real(z(i));
#else
  std::transform(z.begin(), z.end(), x.begin(), [](std::complex<double> element) { return element.real(); });
#endif
}
