// R028: a statement is printed; docs/errors.md#R028
// error: ricci\[R028\]
// error: not_printable<ricci::statement_of<
#include <ricci/ricci.hpp>

#include <iostream>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> x, y;
#ifdef BAD
  std::cout << x(i).assign(y(i));
#else
  std::cout << ricci::plan(x(i).assign(y(i)));
#endif
}
