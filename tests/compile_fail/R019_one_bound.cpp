// R019: a range of one bound; docs/errors.md#R019
// error: ricci\[R019\]
// error: count_of_bounds<1>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3, 3> A, C;
#ifdef BAD
  C(i, j) = A(i.in(3), j);
#else
  C(i, j) = A(i.in(0, 3), j);
#endif
}
