// R015: bad local; docs/errors.md#R015
// error: ricci\[R015\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3> A, C;
  ricci::local<double> g;
#ifdef BAD
  auto p = ricci::plan(g(i).assign(A(i)));
#else
  auto p = ricci::fuse(g(i).assign(A(i)), C(i).assign(g(i)));
#endif
  p.run();
}
