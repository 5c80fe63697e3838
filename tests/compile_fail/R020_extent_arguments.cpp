// R020: extent arguments; docs/errors.md#R020
// error: ricci\[R020\]
// error: extent_arguments<2, 1>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
#ifdef BAD
  ricci::tensor<double, ricci::dynamic, 3, ricci::dynamic> A(4);
#else
  ricci::tensor<double, ricci::dynamic, 3, ricci::dynamic> A(4, 5);
#endif
  A.fill(1);
}
