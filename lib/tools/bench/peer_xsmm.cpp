// libxsmm 1.17's dispatched kernels, called for one problem after the other.
#include "tools/bench/bench.hpp"

namespace ricci::tools {
namespace {

template <class T>
using kernel_fn = void(const T*, const T*, T*, ...);
template <class T>
using dispatch_fn = kernel_fn<T>*(int, int, int, const int*, const int*, const int*, const T*, const T*, const int*, const int*);

/// Column-major inside, so row-major C = A B is C' = B' A'.
template <class T>
void add(dispatch_fn<T>* dispatch, const gemm_case& p, gemm_data& d, std::vector<contender>& to) {
  if (!dispatch || p.trans_a || p.trans_b) return;
  const int lda = static_cast<int>(p.ld_b()), ldb = static_cast<int>(p.ld_a()), ldc = static_cast<int>(p.ld_c());
  const int m = static_cast<int>(p.size.n), n = static_cast<int>(p.size.m), k = static_cast<int>(p.size.k);
  const T one = 1, beta = static_cast<T>(p.beta);
  kernel_fn<T>* const kernel = dispatch(m, n, k, &lda, &ldb, &ldc, &one, &beta, nullptr, nullptr);
  if (!kernel) return;
  to.push_back({"libxsmm", false, true, [&d, kernel](std::int64_t first, std::int64_t last) {
                  for_each_problem(d, first, last, [&](const void* a, const void* b, void* c) {
                    kernel(static_cast<const T*>(b), static_cast<const T*>(a), static_cast<T*>(c));
                  });
                }});
}

}  // namespace

void find_xsmm(std::vector<peer>& to) {
  const library xsmm = library::open({"$ORIGIN/libricci_peer_xsmm.so", "$ORIGIN/../bench-peers/libricci_peer_xsmm.so", "libxsmm.so.1", "libxsmm.so"});
  if (!xsmm || !xsmm.find<void()>("libxsmm_dmmdispatch")) return;
  if (const auto init = xsmm.find<void()>("libxsmm_init")) init();
  const auto arch = xsmm.find<const char*()>("libxsmm_get_target_arch");
  to.push_back({"libxsmm", arch ? std::string("1.17 for ") + arch() : "", xsmm.path("libxsmm_dmmdispatch"),
                [xsmm](const gemm_case& c, gemm_data& d, std::vector<contender>& out) {
                  if (c.type == dtype::f64) add<double>(xsmm.find<dispatch_fn<double>>("libxsmm_dmmdispatch"), c, d, out);
                  if (c.type == dtype::f32) add<float>(xsmm.find<dispatch_fn<float>>("libxsmm_smmdispatch"), c, d, out);
                }});
}

}  // namespace ricci::tools
