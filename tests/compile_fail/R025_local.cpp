// R025: a local without labels; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*local<double>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  ricci::tensor<double, 3, 3> B;
  ricci::local<double> g;
#ifdef BAD
  ricci::fuse(g(i).assign(2 * x(i)), x(i).assign(B(i, j) * g)).run();
#else
  ricci::fuse(g(i).assign(2 * x(i)), x(i).assign(B(i, j) * g(j))).run();
#endif
}
