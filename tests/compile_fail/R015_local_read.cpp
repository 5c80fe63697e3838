// R015: local read; docs/errors.md#R015
// error: ricci\[R015\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3> A, C;
  ricci::local<double> g;
#ifdef BAD
  C(i) = A(i) * g(i);
#else
  ricci::fuse(g(i).assign(A(i)), C(i).assign(A(i) * g(i))).run();
#endif
}
