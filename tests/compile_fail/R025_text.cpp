// R025: a text as the right side; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<(const )?char ?\[5\]>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3, 3> C;
#ifdef BAD
  C(i, j) = "text";
#else
  C(i, j) = 2 * C(i, j);
#endif
}
