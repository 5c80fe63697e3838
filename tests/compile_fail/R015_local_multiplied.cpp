// R015: a local is multiplied in place; docs/errors.md#R015
// error: ricci\[R015\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  ricci::local<double> g;
#ifdef BAD
  g(i) *= 2;
#else
  ricci::fuse(g(i).assign(2 * x(i)), x(i).assign(g(i))).run();
#endif
}
