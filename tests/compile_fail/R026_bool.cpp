// R026: a tensor of bool; docs/errors.md#R026
// error: ricci\[R026\]
// error: not_an_element<bool>
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<bool, 3> z;
#else
  ricci::tensor<int, 3> z;
#endif
  z.fill(1);
}
