// R029: a subscript is a label and a number; docs/errors.md#R029
// error: ricci\[R029\].*view
// error: computed_subscript<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 8> x;
  ricci::tensor<double, 7> y;
#ifdef BAD
  y(i) = x(i + 1) - x(i);
#else
  y(i) = ricci::view(x.data() + 1, {7}, {1})(i) - ricci::view(x.data(), {7}, {1})(i);
#endif
}
