// R025: an index tensor as the left side; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*table_access
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<int, 3> x, y;
  y.fill(1);
#ifdef BAD
  x(i) = y(i);
#else
  x = y;
#endif
}
