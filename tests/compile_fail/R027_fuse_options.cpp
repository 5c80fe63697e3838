// R027: a statement that has run among those of a program with options; docs/errors.md#R027
// error: ricci\[R027\].*assign
// error: no_statement<.*access<.*tensor_view<double, 3>
#include <ricci/ricci.hpp>

#include <iostream>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
  ricci::tensor<double, 3, 3> A;
#ifdef BAD
  std::cout << ricci::fuse({.threads = 1}, A(i, j).assign(x(i) * y(j)), y(i) = x(i), x(i) = A(i, j) * y(j));
#else
  std::cout << ricci::fuse({.threads = 1}, A(i, j).assign(x(i) * y(j)), y(i).assign(x(i)), x(i).assign(A(i, j) * y(j)));
#endif
}
