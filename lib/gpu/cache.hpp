// Compiled kernels, remembered in memory (for each context) and on disk.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/device.hpp"

namespace ricci::cuda {

/// A kernel on a device.
struct kernel {
  cu_function function = nullptr;
  int registers = 0, local_bytes = 0;  // of a thread; local memory means spills
  int blocks = 0;                      // resident on a multiprocessor
  unsigned shared_bytes = 0;           // dynamic, of a block
};

/// What to compile: a text, the name of its kernel, threads of a block and bytes of dynamic shared memory.
struct kernel_request {
  std::string text, name;
  int threads = 256;
  int shared_bytes = 0;
};

/// The loaded kernel; compiles it if neither memory nor disk knows it. Errors: gpu_failed, no_gpu, no_memory.
kernel load_kernel(const device& d, const kernel_request& r);

/// Machine code of a text for an architecture, from the disk if it is there; remembered there if not. A file that is
/// not what its name says is compiled and written again.
std::string machine_code(const std::string& text, int architecture);

/// Where the machine code is kept: $RICCI_CACHE/kernels (set but empty: nowhere), else the user's cache folder.
std::string kernel_folder();

/// Bytes of kernels kept on disk before the oldest go.
inline constexpr std::int64_t most_cached_bytes = 256 << 20;

}  // namespace ricci::cuda
