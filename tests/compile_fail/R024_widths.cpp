// R024: two widths of interleaved memory; docs/errors.md#R024
// error: ricci\[R024\]
// error: repeated_option<.*interleaved_tag<4>, .*interleaved_tag<8>
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<double, 3, 2, ricci::interleaved<4>, ricci::interleaved<8>> A;
#else
  ricci::tensor<double, 3, 2, ricci::interleaved<8>> A;
#endif
  A.fill(1);
}
