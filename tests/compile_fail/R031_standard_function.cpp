// R031: a function of the standard library takes numbers; docs/errors.md#R031
// error: deleted
// error: operator double
#include <ricci/ricci.hpp>

#include <cmath>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  x(i) = std::sqrt(y(i));
#else
  x(i) = sqrt(y(i));
#endif
}
