// R031: a sum that is assigned to an element; docs/errors.md#R031
// error: deleted
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  x(0) = y(i) * y(i);
#else
  ricci::tensor<double> s;
  s() = y(i) * y(i);
  x(0) = s();
#endif
  x(i) *= 2;
}
