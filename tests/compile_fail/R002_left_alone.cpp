// R002: left alone; docs/errors.md#R002
// error: ricci\[R002\]
// error: left_alone<.*"j".*, 2>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A, C;
  ricci::tensor<double, 3> x;
#ifdef BAD
  C(i, j) = A(i, j) + x(i);
#else
  C(i, j) = A(i, j) + A(i, j);
  x(i) = A(i, 0);
#endif
}
