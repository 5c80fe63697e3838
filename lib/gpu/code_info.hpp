// What the compiler made of a kernel, read from its machine code: no driver and no GPU is needed.
#pragma once

#include <string>

#include "gpu/cache.hpp"
#include "gpu/device.hpp"

namespace ricci::cuda {

struct code_info {
  int registers = 0;     // of a thread
  int stack_bytes = 0;   // of a thread: spilled registers and arrays with run-time indices
  int static_shared = 0;
};

/// Errors: gpu_failed if this is no machine code of a kernel of that name (PTX, say).
code_info read_code_info(const std::string& code, const std::string& kernel_name);

/// Blocks that fit on a multiprocessor.
int blocks_of(const code_info& c, const kernel_request& r, const gpu_machine& m);

}  // namespace ricci::cuda
