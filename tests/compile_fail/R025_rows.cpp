// R025: rows of elements; docs/errors.md#R025
// error: ricci\[R025\]
// error: list_of_elements<ricci::tensor<double, 2, 2> ?>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
#ifdef BAD
  ricci::tensor<double, 2, 2> A{{1, 2}, {3, 4}};
#else
  const double list[] = {1, 2, 3, 4};
  ricci::tensor<double, 2, 2> A;
  A(i, j) = ricci::view(list, {2, 2})(i, j);
#endif
  A(i, j) *= 2;
}
