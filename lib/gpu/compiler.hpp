// NVRTC, found with dlopen: kernels' text becomes machine code for one architecture.
#pragma once

#include <string>
#include <vector>

namespace ricci::cuda {

/// What was found. `missing` is empty if it can be used.
struct compiler_info {
  std::string file, missing;
  int version = 0;                   // 13000 is 13.0; from 12.0 on it will do
  std::vector<int> architectures;    // 80, 86, 90, ...
};

const compiler_info& find_compiler();

/// Whether kernels may use what belongs to compute capability 9.0 alone: products by warpgroups.
bool has_warpgroups(int architecture);

/// Machine code (or PTX, if the architecture is newer than the compiler) of a text. The headers of lib/gpu/kernels can
/// be included. Errors: no_gpu without NVRTC, gpu_failed with the compiler's log.
std::string compile_text(const std::string& text, int architecture, const std::vector<std::string>& options);

/// The options every kernel is compiled with; part of its key.
std::vector<std::string> usual_options();

}  // namespace ricci::cuda
