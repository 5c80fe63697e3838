// R017: a std::vector as the result of an einsum; docs/errors.md#R017
// error: ricci\[R017\]
#include <ricci/ricci.hpp>

#include <vector>

void run() {
  ricci::tensor<double, 3, 3> A;
  std::vector<double> numbers(3);
#ifdef BAD
  ricci::einsum_into(numbers, "ij->i", A);
#else
  ricci::einsum_into(ricci::view(numbers), "ij->i", A);
#endif
}
