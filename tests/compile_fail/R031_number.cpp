// R031: a sum that is to go to a number; docs/errors.md#R031
// error: ricci\[R031\]
// error: number_on_left<double, .*product_node<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

double run() {
  ricci::tensor<double, 3> A, R;
  ricci::tensor<double> s;
  double x = 1;
  x += s() * s();
#ifdef BAD
  R(0) += A(i) * A(i);
#else
  s() += A(i) * A(i);
  R(0) += s();
#endif
  return x + R(0);
}
