// R001: repeated left; docs/errors.md#R001
// error: ricci\[R001\]
// error: "i"
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 3> A, C;
#ifdef BAD
  C(i, i) = A(i, i);
#else
  C(i, j) = A(i, j);
#endif
}
