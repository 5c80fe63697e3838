// R023: two axes are looked up; docs/errors.md#R023
// error: ricci\[R023\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 9, 9> m;
  ricci::tensor<double, 4> w;
  ricci::tensor<std::int32_t, 4> row, col;
#ifdef BAD
  w(e) = m(row(e), col(e));
#else
  w(e) = m(row(e), 2);
#endif
}
