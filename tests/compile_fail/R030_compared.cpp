// R030: expressions are compared; docs/errors.md#R030
// error: ricci\[R030\]
// error: not_compared<.*access<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

bool run() {
  ricci::tensor<double, 3, 3> A, B;
#ifdef BAD
  return A(i, j) == B(i, j);
#else
  return A == B;
#endif
}
