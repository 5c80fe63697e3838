// R017: a std::vector in an einsum at run time; docs/errors.md#R017
// error: ricci\[R017\]
#include <ricci/ricci.hpp>

#include <vector>

void run() {
  ricci::tensor<double, 3, 3> A;
  const std::vector<double> numbers{1, 2, 3};
#ifdef BAD
  auto row = ricci::einsum("ij,j->i", A, numbers);
#else
  auto row = ricci::einsum("ij,j->i", A, ricci::view(numbers));
#endif
  row.fill(1);
}
