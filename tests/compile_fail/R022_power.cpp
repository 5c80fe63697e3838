// R022: a power of an expression; docs/errors.md#R022
// error: ricci\[R022\]
// error: no_function<ricci::access<.*, int>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  x(i) = pow(y(i), 2);
#else
  x(i) = y(i) * y(i);
#endif
}
