// R027: a plan that is run with an argument; docs/errors.md#R027
// error: ricci\[R027\]
// error: not_a_stream<ricci::tensor<double, 3> ?>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
  const auto p = ricci::plan(x(i).assign(y(i)));
#ifdef BAD
  p.run(x);
#else
  p.run();
#endif
}
