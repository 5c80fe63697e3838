// R012: a const matrix in a group whose matrices may be written; docs/errors.md#R012
// error: ricci\[R012\]
#include <ricci/ricci.hpp>

void run() {
  const ricci::tensor<double, 3, 3> A;
#ifdef BAD
  ricci::group<double> g(ricci::of_size(3, 3));
#else
  ricci::group<const double> g(ricci::of_size(3, 3));
#endif
  g.push_back(A);
}
