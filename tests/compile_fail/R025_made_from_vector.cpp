// R025: a tensor that is made from a std::vector; docs/errors.md#R025
// error: ricci\[R025\]
// error: not_made_from<ricci::tensor<double, 3>, std::vector<double
#include <ricci/ricci.hpp>

#include <vector>

using namespace ricci::labels;

void run() {
  std::vector<double> numbers(3);
#ifdef BAD
  ricci::tensor<double, 3> z(numbers);
#else
  ricci::tensor<double, 3> z;
  z(i) = ricci::view(numbers)(i);
#endif
  z(i) *= 2;
}
