// The GPU's half of ricci tune.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <ricci/core/types.hpp>

namespace ricci::tools {

struct gpu_tuning {
  std::vector<std::tuple<dtype, std::int64_t, std::int64_t, std::int64_t>> problems;  // m x k times k x n
  int rounds = 3;
  bool thorough = false, dry = false;
  std::string output;
};

/// Errors: no_gpu, gpu_failed, bad_file.
void tune_gpu(const gpu_tuning& how);

}  // namespace ricci::tools
