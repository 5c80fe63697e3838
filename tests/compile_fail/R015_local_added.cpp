// R015: a local is added to; docs/errors.md#R015
// error: ricci\[R015\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, w;
  ricci::local<double> g;
#ifdef BAD
  ricci::fuse(g(i).add(x(i)), w(i).assign(g(i))).run();
#else
  ricci::fuse(g(i).assign(x(i)), w(i).assign(g(i))).run();
#endif
}
