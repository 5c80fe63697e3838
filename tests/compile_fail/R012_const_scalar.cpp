// R012: a number into a const tensor of rank 0; docs/errors.md#R012
// error: ricci\[R012\]
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  const ricci::tensor<double> s;
#else
  ricci::tensor<double> s;
#endif
  s() = 2.5;
}
