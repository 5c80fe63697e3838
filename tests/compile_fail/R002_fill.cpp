// R002: a number as the right side; docs/errors.md#R002
// error: ricci\[R002\]
// error: number_alone<.*"i".*, 1>
// error: [.]fill
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3, 3> C;
#ifdef BAD
  C(i, j) = -0.5;
#else
  C.fill(-0.5);
#endif
}
