// R004: a label that only the factor of *= has; docs/errors.md#R004
// error: ricci\[R004\]
// error: lone_label<.*"j"
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  ricci::tensor<double, 3, 3> A;
  x.fill(1), A.fill(2);
#ifdef BAD
  x(i) *= A(i, j);
#else
  x(i) *= sum(j, A(i, j));
#endif
}
