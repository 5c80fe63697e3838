// R013: sum of nothing; docs/errors.md#R013
// error: ricci\[R013\]
// error: "j"
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A;
  ricci::tensor<double, 3> x;
#ifdef BAD
  x(i) = sum(j, A(i, j) + x(i));
#else
  x(i) = sum(j, A(i, j)) + x(i);
#endif
}
