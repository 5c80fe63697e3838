// Machines that plans are tested for.
#pragma once

#include "plan/plan.hpp"

namespace ricci::test {

/// With the numbers of an AMD EPYC (Zen 4).
inline machine zen4() {
  machine m = *named_machine("avx512");
  m.writes_kernels = true, m.fetches_blocks = true, m.peak_f64 = 58.7, m.peak_f32 = 117.8, m.memory_bandwidth = 22.8;
  m.caches = {{32768, 249}, {1048576, 108.9}, {33554432, 84.2}};
  return m;
}

}  // namespace ricci::test
