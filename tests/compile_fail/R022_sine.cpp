// R022: a function that statements have not; docs/errors.md#R022
// error: ricci\[R022\]
// error: no_function<ricci::access<
#include <ricci/ricci.hpp>

#include <algorithm>
#include <cmath>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  x(i) = sin(y(i));
#else
  std::transform(y.begin(), y.end(), x.begin(), [](double element) { return std::sin(element); });
#endif
}
