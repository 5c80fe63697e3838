// R011: a view of a temporary std::vector; docs/errors.md#R011
// error: ricci\[R011\]
// error: temporary_tensor<.*vector<double
#include <ricci/ricci.hpp>

#include <vector>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x;
#ifdef BAD
  x(i) = ricci::view(std::vector<double>(3))(i);
#else
  const std::vector<double> numbers(3);
  x(i) = ricci::view(numbers)(i);
#endif
}
