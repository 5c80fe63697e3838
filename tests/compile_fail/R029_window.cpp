// R029: a subscript is the sum of two labels; docs/errors.md#R029
// error: ricci\[R029\].*view
// error: computed_subscript<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 10> in;
  ricci::tensor<double, 3> f;
  ricci::tensor<double, 8> out;
#ifdef BAD
  out(i) = in(i + k) * f(k);
#else
  out(i) = ricci::view(in.data(), {8, 3}, {1, 1})(i, k) * f(k);
#endif
}
