// R030: tensors of two element types; docs/errors.md#R030
// error: ricci\[R030\]
// error: not_compared<ricci::tensor<double, 3>, ricci::tensor<float, 3> ?>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
  const ricci::tensor<float, 3> z;
#ifdef BAD
  if (x == z) x(i) = y(i);
#else
  if (x == y) x(i) = y(i);
#endif
  static_cast<void>(z.data());
}
