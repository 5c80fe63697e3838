// R008: a host tensor looked up by an index tensor on the GPU; docs/errors.md#R008
// error: ricci\[R008\]
// error: mixed_spaces<2>
#include <ricci/ricci.hpp>

using namespace ricci::labels;

void run() {
  ricci::tensor<double, 3> u, x;
  ricci::tensor<std::int32_t, 3> here;
  ricci::tensor<std::int32_t, 3, ricci::gpu> there;
#ifdef BAD
  x(e) = u(there(e));
#else
  x(e) = u(here(e));
#endif
  static_cast<void>(here), static_cast<void>(there);
}
