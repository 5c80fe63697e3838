// R019: a range with a step; docs/errors.md#R019
// error: ricci\[R019\]
// error: count_of_bounds<3>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 6, 3> A;
  ricci::tensor<double, 3, 3> C;
#ifdef BAD
  C(i, j) = A(i.in(0, 6, 2), j);
#else
  C(i, j) = ricci::view(A.data(), {3, 3}, {6, 1})(i, j);
#endif
}
