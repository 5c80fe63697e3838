// R030: an expression beside a number; docs/errors.md#R030
// error: ricci\[R030\]
// error: not_compared<.*product_node<.*, int>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

bool run() {
  ricci::tensor<double, 3, 3> A;
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  return 0 != A(i, j) * x(j);
#else
  y(i) = A(i, j) * x(j);
  return 0 != y(0) || y(1) != 0;
#endif
}
