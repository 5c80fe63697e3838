// R028: the elements of an expression are gone through; docs/errors.md#R028
// error: ricci\[R028\]
// error: not_a_range<ricci::access<
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
  double sum = 0;
#ifdef BAD
  for (double element : x(i)) sum += element;
#else
  for (double element : x) sum += element;
#endif
  y.fill(sum);
}
