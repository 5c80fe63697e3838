// R025: a label is no number; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<ricci::label<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  x(i) = y(i) * i;
#else
  for (int at = 0; at < 3; ++at) x(at) = y(at) * at;
#endif
  x(i) *= 2;
}
