// R028: an expression is printed; docs/errors.md#R028
// error: ricci\[R028\].*assign
// error: not_printable<.*product_node
#include <ricci/ricci.hpp>

#include <iostream>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3, 4> A;
  ricci::tensor<double, 4, 5> B;
  ricci::tensor<double, 3, 5> C;
#ifdef BAD
  std::cout << A(i, k) * B(k, j);
#else
  C(i, j) = A(i, k) * B(k, j);
  std::cout << C(0, 0) << ricci::plan(C(i, j).assign(A(i, k) * B(k, j)));
#endif
}
