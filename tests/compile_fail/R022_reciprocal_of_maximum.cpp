// R022: a reciprocal of a maximum, which is not the maximum of reciprocals; docs/errors.md#R022
// error: ricci\[R022\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y, w;
#ifdef BAD
  w(i) = reciprocal(-max(x(i), y(i)));
#else
  ricci::local<double> m;
  ricci::fuse(m(i).assign(max(x(i), y(i))), w(i).assign(-reciprocal(m(i)))).run();
#endif
}
