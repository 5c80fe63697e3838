// R030: a tensor and a number; docs/errors.md#R030
// error: ricci\[R030\]
// error: not_compared<ricci::tensor<double, 3>, int>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  if (x == 0) x(i) = y(i);
#else
  if (x(0) == 0) x(i) = y(i);
#endif
}
