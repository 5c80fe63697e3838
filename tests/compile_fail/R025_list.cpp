// R025: a list of elements; docs/errors.md#R025
// error: ricci\[R025\]
// error: list_of_elements<ricci::tensor<double, 3> ?>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
#ifdef BAD
  x = {1, 2, 3};
#else
  const double list[] = {1, 2, 3};
  x(i) = ricci::view(list, {3})(i);
#endif
  x(i) *= 2;
}
