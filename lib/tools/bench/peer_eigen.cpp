// Eigen, compiled apart for this very machine (or for AVX2) and opened at run time: its code must not mix with the command's.
#include "tools/bench/bench.hpp"
#include "tools/bench/eigen_module.hpp"

namespace ricci::tools {

void find_eigen(const bench_request& r, std::vector<peer>& to) {
  const library module = r.avx2 ? library::open({"$ORIGIN/libricci_peer_eigen_avx2.so", "$ORIGIN/../bench-peers/libricci_peer_eigen_avx2.so"})
                                : library::open({"$ORIGIN/libricci_peer_eigen.so", "$ORIGIN/../bench-peers/libricci_peer_eigen.so"});
  const auto find = module ? module.find<ricci_eigen_find>("ricci_eigen_gemm") : nullptr;
  const auto version = module ? module.find<const char*()>("ricci_eigen_version") : nullptr;
  if (!find || !version) return;
  to.push_back({"Eigen", version(), module.path("ricci_eigen_gemm"),
                [find, fixed_too = r.eigen_fixed](const gemm_case& c, gemm_data& d, std::vector<contender>& out) {
                  if (c.trans_a || c.trans_b) return;
                  for (const bool fixed : {true, false}) {
                    if (fixed && (!fixed_too || !c.is_plain())) continue;
                    ricci_eigen_kernel* const kernel = find(static_cast<int>(c.type), c.size.m, c.size.n, c.size.k, c.beta, fixed);
                    if (!kernel) continue;
                    const auto [m, n, k] = c.size;
                    const std::int64_t lda = c.ld_a(), ldb = c.ld_b(), ldc = c.ld_c();
                    out.push_back({fixed ? "Eigen fixed" : "Eigen", false, true, [=, &d](std::int64_t first, std::int64_t last) {
                                     for_each_problem(d, first, last, [&](const void* a, const void* b, void* x) { kernel(a, b, x, m, n, k, lda, ldb, ldc); });
                                   }});
                  }
                }});
}

}  // namespace ricci::tools
