// R032: a pointer without extents; docs/errors.md#R032
// error: ricci\[R032\]
// error: no_view<double ?\*>
#include <ricci/ricci.hpp>

#include <vector>

using namespace ricci::labels;

void run() {
  std::vector<double> memory(12);
  ricci::tensor<double, 3, 4> A;
#ifdef BAD
  const auto v = ricci::view(memory.data());
#else
  const auto v = ricci::view(memory.data(), {3, 4});
#endif
  A(i, j) = 2 * v(i, j);
}
