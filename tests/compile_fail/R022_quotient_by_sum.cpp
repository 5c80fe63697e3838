// R022: a quotient by a sum; docs/errors.md#R022
// error: ricci\[R022\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y, w;
#ifdef BAD
  w(i) = x(i) / (x(i) + y(i));
#else
  w(i) = x(i) / (x(i) * y(i));
#endif
}
