// R015: a local is assigned at once; docs/errors.md#R015
// error: ricci\[R015\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> A, C;
  ricci::local<double> g;
#ifdef BAD
  g(i) = A(i);
#else
  ricci::fuse(g(i).assign(A(i)), C(i).assign(g(i))).run();
#endif
}
