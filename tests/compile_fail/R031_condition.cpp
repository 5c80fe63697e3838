// R031: an expression is no condition; docs/errors.md#R031
// error: deleted
// error: operator double
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  if (x(i)) x(i) = y(i);
#else
  if (x(0) != 0) x(i) = y(i);
#endif
}
