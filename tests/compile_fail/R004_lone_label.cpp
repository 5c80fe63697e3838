// R004: lone label; docs/errors.md#R004
// error: ricci\[R004\].*sum\(label
// error: "j"
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  ricci::tensor<double, 3, 4> A;
  ricci::tensor<double, 3> x;
#ifdef BAD
  x(i) = A(i, j);
#else
  x(i) = sum(j, A(i, j));
#endif
}
