// R024: a text where a tensor is made; docs/errors.md#R024
// error: ricci\[R024\]
// error: not_an_extent<(char const|const char) ?\*>
#include <ricci/ricci.hpp>

void run() {
#ifdef BAD
  ricci::tensor<double, ricci::dynamic> z("3");
#else
  ricci::tensor<double, ricci::dynamic> z(3);
#endif
  z.fill(1);
}
