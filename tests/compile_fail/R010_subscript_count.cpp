// R010: subscript count; docs/errors.md#R010
// error: ricci\[R010\]
// error: subscript_count<2, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A, C;
#ifdef BAD
  C(i, j) = A(i, j, k);
#else
  C(i, j) = A(i, j);
#endif
}
