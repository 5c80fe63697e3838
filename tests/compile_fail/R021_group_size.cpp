// R021: a matrix of another size in a group; docs/errors.md#R021
// error: ricci\[R021\]
// error: matrix_of_other_size<3, 4, 4, 4>
#include <ricci/ricci.hpp>

using namespace ricci::literals;

void run() {
#ifdef BAD
  ricci::tensor<double, 3, 4> x;
#else
  ricci::tensor<double, 4, 4> x;
#endif
  ricci::group<double, 4, 4> g(ricci::of_size(4_c, 4_c));
  g.push_back(x);
}
