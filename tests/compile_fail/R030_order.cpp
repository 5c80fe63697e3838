// R030: expressions have no order; docs/errors.md#R030
// error: ricci\[R030\]
// error: not_ordered<ricci::access<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  if (x(i) < y(i)) x.fill(0);
#else
  if (x(0) < y(0)) x.fill(0);
#endif
}
