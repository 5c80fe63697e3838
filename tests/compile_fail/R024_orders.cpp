// R024: two orders of the axes; docs/errors.md#R024
// error: ricci\[R024\]
// error: repeated_option<.*row_major_tag, .*column_major_tag
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<double, ricci::dynamic, 4, ricci::row_major, ricci::column_major> A(3);
#else
  ricci::tensor<double, ricci::dynamic, 4, ricci::column_major> A(3);
#endif
  A.fill(1);
}
