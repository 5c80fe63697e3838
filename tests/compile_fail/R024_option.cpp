// R024: an option that is neither an extent nor a tag; docs/errors.md#R024
// error: ricci\[R024\]
// error: not_an_extent<(double|const double)>
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<double, 3, 2.5> A;
#else
  ricci::tensor<double, 3, 2> A;
#endif
  A.fill(1);
}
