// R030: a tensor of rank 0 is compared by its value; docs/errors.md#R030
// error: ricci\[R030\]
// error: not_ordered<ricci::tensor<double>, double>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double> s;
#ifdef BAD
  if (s < 2.0) s.fill(2);
#else
  if (s() < 2.0) s.fill(2);
#endif
  s() *= 2;
}
