// R025: a std::vector as the right side; docs/errors.md#R025
// error: ricci\[R025\]
// error: without_labels<.*vector<double
#include <ricci/ricci.hpp>

#include <vector>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  const std::vector<double> numbers{1, 2, 3};
#ifdef BAD
  x(i) = numbers;
#else
  x(i) = ricci::view(numbers)(i);
#endif
}
