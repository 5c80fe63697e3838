// R027: a statement that has run is planned; docs/errors.md#R027
// error: ricci\[R027\].*assign
// error: no_statement<.*access<.*tensor_view<double, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  const auto p = ricci::plan(x(i) = y(i), {.threads = 1});
#else
  const auto p = ricci::plan(x(i).assign(y(i)), {.threads = 1});
#endif
  p.run();
}
