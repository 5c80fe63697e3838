// R022: the maximum of a tensor and a number; docs/errors.md#R022
// error: ricci\[R022\]
// error: bad_function
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
  ricci::tensor<double> zero;
  x.fill(-1);
#ifdef BAD
  y(i) = max(x(i), 0.0);
#else
  y(i) = max(x(i), zero());
#endif
}
