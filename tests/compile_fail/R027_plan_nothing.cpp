// R027: a plan of nothing; docs/errors.md#R027
// error: ricci\[R027\]
// error: nothing_to_plan<0>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  ricci::plan().run();
#else
  ricci::plan(x(i).assign(y(i))).run();
#endif
}
