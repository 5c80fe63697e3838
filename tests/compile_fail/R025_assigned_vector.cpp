// R025: a tensor that is assigned a std::vector; docs/errors.md#R025
// error: ricci\[R025\]
// error: assigned_without_labels<ricci::tensor<double, 3>, std::vector<double
#include <ricci/ricci.hpp>

#include <vector>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
  std::vector<double> numbers(3);
#ifdef BAD
  x = numbers;
#else
  x(i) = ricci::view(numbers)(i);
#endif
  x(i) *= 2;
}
