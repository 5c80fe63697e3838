// R008: a gpu matrix in a group; docs/errors.md#R008
// error: ricci\[R008\]: the matrices of a group are in host memory
#include <ricci/ricci.hpp>

void run() {
  ricci::group<double> g(ricci::of_size(3, 3));
#ifdef BAD
  ricci::tensor<double, 3, 3, ricci::gpu> a;
#else
  ricci::tensor<double, 3, 3> a;
#endif
  g.push_back(a);
}
