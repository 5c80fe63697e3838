// R013: a sum that does not say over what; docs/errors.md#R013
// error: ricci\[R013\].*sum\(j
// error: bad_sum_arguments<.*access<.*tensor_view<double, 3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  ricci::tensor<double> s;
  x.fill(1);
#ifdef BAD
  s() = 2 * sum(x(i));
#else
  s() = 2 * sum(i, x(i));
#endif
}
