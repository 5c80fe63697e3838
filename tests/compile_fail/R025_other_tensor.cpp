// R025: a tensor becomes one of another type; docs/errors.md#R025
// error: ricci\[R025\]
// error: assigned_without_labels<.*tensor<double, 3>, .*tensor<double, -
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> z;
  ricci::tensor<double, ricci::dynamic> x(3);
#ifdef BAD
  z = x;
#else
  z(i) = x(i);
#endif
}
