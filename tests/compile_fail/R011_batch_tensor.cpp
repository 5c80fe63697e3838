// R011: the tensor of a temporary batch in an expression; docs/errors.md#R011
// error: ricci\[R011\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;
using namespace ricci::literals;

void run() {
  auto x = ricci::make_batch<double>(ricci::of_size(3_c, 3_c), 10);
  auto c = ricci::make_batch<double>(ricci::of_size(3_c, 3_c), 10);
#ifdef BAD
  const auto step = c(e, i, j).assign((x * x).as_tensor()(e, j, i));
#else
  const auto y = (x * x).as_tensor();
  const auto step = c(e, i, j).assign(y(e, j, i));
#endif
  ricci::plan(step).run();
}
