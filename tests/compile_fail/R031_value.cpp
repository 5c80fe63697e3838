// R031: a sum whose value is wanted; docs/errors.md#R031
// error: deleted
// error: access<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  const ricci::tensor<double, 3> x;
  ricci::tensor<double, 3> y;
#ifdef BAD
  const double value = x(i);
#else
  const double value = x(0);
#endif
  y(i) = value * x(i);
}
