// R011: a temporary tensor declared even or odd; docs/errors.md#R011
// error: ricci\[R011\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

ricci::tensor<double, 3, 3> basis() { return {}; }

void run() {
  ricci::tensor<double, 3> u, w;
#ifdef BAD
  const auto E = ricci::even_odd(basis());
#else
  const auto B = basis();
  const auto E = ricci::even_odd(B);
#endif
  w(q) = E(q, a) * u(a);
}
