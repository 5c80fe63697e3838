// R027: the options of a plan are behind its statement; docs/errors.md#R027
// error: ricci\[R027\]
// error: plan_arguments<ricci::options, 
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  ricci::plan(ricci::options{}, x(i).assign(y(i))).run();
#else
  ricci::plan(x(i).assign(y(i)), ricci::options{}).run();
#endif
}
