// R024: a constructor's argument that is no integer; docs/errors.md#R024
// error: ricci\[R024\]
// error: not_an_extent<double>
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<double, ricci::dynamic> A(2.5);
#else
  ricci::tensor<double, ricci::dynamic> A(3);
#endif
  A.fill(1);
}
