// R025: a number instead of a tensor; docs/errors.md#R025
// error: ricci\[R025\]
// error: assigned_without_labels<.*tensor<double, 3>, int>
#include <ricci/ricci.hpp>

void run() {
  ricci::tensor<double, 3> z;
#ifdef BAD
  z = 2;
#else
  z.fill(2);
#endif
}
