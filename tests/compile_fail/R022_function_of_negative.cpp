// R022: the exponential of a negated tensor, whose sign would go with the term; docs/errors.md#R022
// error: ricci\[R022\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, w;
#ifdef BAD
  w(i) = exp(-x(i));
#else
  ricci::local<double> m;
  ricci::fuse(m(i).assign(-x(i)), w(i).assign(exp(m(i)))).run();
  w(i) = exp(-(-x(i))) - reciprocal(-x(i));
#endif
}
