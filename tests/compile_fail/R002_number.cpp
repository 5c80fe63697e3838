// R002: a number as a term; docs/errors.md#R002
// error: ricci\[R002\]
// error: number_alone<.*"j".*, 2>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  ricci::tensor<double, 3, 3> A;
  [[maybe_unused]] ricci::tensor<double, 3> ones;
  ones.fill(1);
#ifdef BAD
  x(j) = A(i, j) * x(i) + 1;
#else
  x(j) = A(i, j) * x(i) + 1 * ones(j);
#endif
}
