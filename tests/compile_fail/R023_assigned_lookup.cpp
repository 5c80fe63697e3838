// R023: a looked-up left side is assigned; docs/errors.md#R023
// error: ricci\[R023\]
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 9> v;
  ricci::tensor<double, 4, 3> w;
  ricci::tensor<std::int32_t, 4, 3> dof;
#ifdef BAD
  v(dof(e, a)) = w(e, a);
#else
  v(dof(e, a)) += w(e, a);
#endif
}
