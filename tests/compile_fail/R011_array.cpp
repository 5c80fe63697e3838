// R011: a view with extents of a temporary std::array; docs/errors.md#R011
// error: ricci\[R011\]
// error: temporary_tensor<.*array<double, 4
#include <ricci/ricci.hpp>

#include <array>
#include <span>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 2, 2> x;
#ifdef BAD
  x(i, j) = ricci::view(std::array<double, 4>{1, 2, 3, 4}, ricci::extents<2, 2>{})(i, j);
#else
  std::array<double, 4> numbers{1, 2, 3, 4};
  x(i, j) = ricci::view(numbers, ricci::extents<2, 2>{})(i, j);
  x(i, j) = ricci::view(std::span(numbers), ricci::extents<2, 2>{})(i, j);  // a span owns nothing
#endif
}
