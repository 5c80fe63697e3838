// R027: a plan of two statements; docs/errors.md#R027
// error: ricci\[R027\]
// error: plan_arguments<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  ricci::plan(x(i).assign(y(i)), y(i).add(x(i))).run();
#else
  ricci::fuse(x(i).assign(y(i)), y(i).add(x(i))).run();
#endif
}
