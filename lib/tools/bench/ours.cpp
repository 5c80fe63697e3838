// ricci's own ways: the C functions for strided and pointed-to batches, a statement for interleaved ones.
#include <ricci/engine/gemm.hpp>

#include "tools/bench/bench.hpp"

namespace ricci::tools {
namespace {

gemm_problem dense_problem(const gemm_case& c, const gemm_data& d) {
  gemm_problem p;
  p.type = c.type;
  p.m = c.size.m, p.n = c.size.n, p.k = c.size.k;
  p.a_row = p.k, p.b_row = p.n, p.c_row = p.n;
  p.a_step = d.step_a, p.b_step = d.step_b, p.c_step = d.step_c;
  p.beta = c.beta;
  p.threads = c.threads;
  return p;
}

}  // namespace

void add_ours(const gemm_case& c, gemm_data& d, std::vector<contender>& to) {
  const gemm_problem p = dense_problem(c, d);
  // With threads of its own, and called from threads of the caller.
  for (const bool alone : {false, true}) {
    if (alone && c.threads == 1) continue;
    const std::string name = alone ? "ricci in threads" : "ricci";
    if (c.layout == "strided") {
      to.push_back({name, true, alone, [&d, p](std::int64_t first, std::int64_t last) {
                      gemm_problem part = p;
                      part.batch = last - first;
                      run_gemm(part, d.address(d.a, d.step_a, first), d.address(d.b, d.step_b, first), d.address(d.c, d.step_c, first));
                    }, {}});
    } else if (c.layout == "pointers") {
      to.push_back({name, true, alone, [&d, p](std::int64_t first, std::int64_t last) {
                      gemm_problem part = p;
                      part.batch = last - first;
                      run_gemm_each(part, d.pointers_a.data() + first, d.pointers_b.data() + first, d.pointers_c.data() + first);
                    }, {}});
    }
  }
}

}  // namespace ricci::tools
