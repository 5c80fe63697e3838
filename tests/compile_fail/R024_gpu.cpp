// R024: a tag that stands twice; docs/errors.md#R024
// error: ricci\[R024\]
// error: repeated_option<.*gpu_tag, .*gpu_tag
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<double, 3, ricci::gpu, ricci::gpu> A;
#else
  ricci::tensor<double, 3, ricci::gpu> A;
#endif
  A.fill(1);
}
