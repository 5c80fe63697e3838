// R018: negative extent; docs/errors.md#R018
// error: ricci\[R018\]
// error: negative_extent<-4>
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
#ifdef BAD
  ricci::tensor<double, 3, -4> A;
#else
  ricci::tensor<double, 3, 4> A;
#endif
  A.fill(1);
}
