// R025: an index tensor as a left side that is added to; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*table_access
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<int, 3> x;
  x.fill(1);
#ifdef BAD
  x(i) += 2;
#else
  for (int& entry : x) entry += 2;
#endif
}
