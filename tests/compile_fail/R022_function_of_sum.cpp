// R022: the root of a sum; docs/errors.md#R022
// error: ricci\[R022\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y, w;
#ifdef BAD
  w(i) = sqrt(x(i) + y(i));
#else
  ricci::local<double> n;
  ricci::fuse(n(i).assign(x(i) + y(i)), w(i).assign(sqrt(n(i)))).run();
#endif
}
