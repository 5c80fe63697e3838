// R024: labels where a tensor is made; docs/errors.md#R024
// error: ricci\[R024\]
// error: not_an_extent<.*label<.*"i"
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
#ifdef BAD
  ricci::tensor<double, ricci::dynamic, ricci::dynamic> z(i, j);
#else
  ricci::tensor<double, ricci::dynamic, ricci::dynamic> z(3, 4);
#endif
  z(i, j) = 2 * z(i, j);
}
