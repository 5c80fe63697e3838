// R012: einsum into a const array; docs/errors.md#R012
// error: ricci\[R012\]
#include <ricci/ricci.hpp>

void run() {
  const ricci::ndarray<double> a({2, 2});
#ifdef BAD
  const ricci::ndarray<double> c({2, 2});
#else
  ricci::ndarray<double> c({2, 2});
#endif
  const std::vector<ricci::ndview<const double>> operands{a.view()};
  ricci::einsum_into(c, "ij->ji", operands);
}
