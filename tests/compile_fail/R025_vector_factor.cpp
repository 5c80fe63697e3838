// R025: a std::vector as a factor; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*vector<double
#include <ricci/ricci.hpp>

#include <vector>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  ricci::tensor<double, 3, 3> A;
  const std::vector<double> numbers{1, 2, 3};
#ifdef BAD
  x(i) = A(i, j) * numbers;
#else
  x(i) = A(i, j) * ricci::view(numbers)(j);
#endif
}
