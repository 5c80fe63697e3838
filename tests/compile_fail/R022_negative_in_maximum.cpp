// R022: the maximum of a negated tensor, whose sign would go with the term; docs/errors.md#R022
// error: ricci\[R022\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y, w;
#ifdef BAD
  w(i) = max(-x(i), y(i));
#else
  w(i) = -max(x(i), y(i));
#endif
}
