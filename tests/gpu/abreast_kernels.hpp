// Kernels of problems side by side, and of which types kernels are made.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gpu/abreast.hpp"
#include "gpu/measure.hpp"
#include "gpu/step.hpp"

namespace ricci::test {

/// Half and bfloat16 share all but the names of their instructions: each has every second of their kernels.
inline bool is_left_to_other(dtype t, std::int64_t n) { return size_of(t) == 2 && (t == dtype::f16) == (n % 2 == 0); }

/// Problems side by side: kernels that are chosen, and others, of neighbours that are whole words and of some that are not.
inline std::vector<std::pair<std::string, cuda::kernel_request>> abreast_kernels(int architecture, bool all) {
  using namespace cuda;
  std::vector<std::pair<std::string, kernel_request>> to;
  gpu_machine m = described_h200();
  m.architecture = architecture;
  unsigned number = 0;
  for (int t = 0; t < dtype_count; ++t)
    for (const auto& [side, sum] : {std::pair<std::int64_t, std::int64_t>{8, 64}, {16, 16}, {32, 32}, {33, 50}, {64, 64}, {100, 100}, {200, 7}}) {
      ++number;
      if (!all && is_left_to_other(static_cast<dtype>(t), number + static_cast<unsigned>(t))) continue;
      step_plan p;
      step_shape& s = p.shape;
      p.kind = kernel_kind::abreast;
      s.a = s.b = s.c = static_cast<dtype>(t);
      s.beta = number % 3 == 0, s.conj_a = number % 2 == 0, s.conj_b = number % 5 == 0;
      const std::int64_t z = number % 4 == 0 ? 4001 : 4096;
      s.batch = {{z, 1, 1, 1}}, s.m = {{side, sum * z, 0, side * z}}, s.n = {{side, 0, z, z}}, s.k = {{sum, z, side * z, 0}};
      if (number % 7 == 3) s.batch[0].a = side * sum, s.m[0].a = sum, s.k[0].a = 1;          // rows along the sum
      if (number % 7 == 5) s.batch[0].c = side * side, s.m[0].c = side, s.n[0].c = 1;        // a result problem by problem
      if (number % 7 == 6) s.batch.insert(s.batch.begin(), {5, s.m[0].a * side, s.k[0].b * sum, s.m[0].c * side});
      const auto found = abreast_candidates(s, m);
      const std::size_t each = all ? 1 : std::max<std::size_t>(1, found.size() / 2);
      for (std::size_t n = 0; n <= found.size(); n += each) {
        p.abreast = n == 0 ? *choose_abreast(s, m) : found[(n - 1 + number) % found.size()];
        to.push_back({to_string(p) + " " + std::to_string(p.abreast.rm) + " x " + std::to_string(p.abreast.rn) + " of a thread, " + name_of(s.c) + " " + std::to_string(number), request_of(p, number % 8 < 6 ? alignments{} : alignments{2, 2, 2})});
      }
    }
  return to;
}

}  // namespace ricci::test
