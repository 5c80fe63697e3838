// R022: the root of complex elements; docs/errors.md#R022
// error: ricci\[R022\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<std::complex<double>, 3> x, w;
  ricci::tensor<double, 3> y, v;
#ifdef BAD
  w(i) = sqrt(x(i));
#else
  v(i) = sqrt(y(i));
#endif
}
