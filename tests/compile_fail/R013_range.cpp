// R013: a range where a sum has its label; docs/errors.md#R013
// error: ricci\[R013\].*sum\(j
// error: bad_sum_arguments<.*range<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  ricci::tensor<double> s;
  x.fill(1);
#ifdef BAD
  s() = sum(i.in(0, 2), x(i)) + 1;
#else
  s() = sum(i, x(i.in(0, 2))) + 1;
#endif
}
