// Steps of blocks that are one call of a written kernel: from one block to the next only the pointers move.
#pragma once

#include "engine/bound.hpp"

namespace ricci {

/// One step of a chain, ready for the next block; code is null if the step is not one call.
struct link {
  codegen::kernel::function code = nullptr;
  const char *a = nullptr, *b = nullptr;
  char* c = nullptr;
  std::int64_t a_step = 0, b_step = 0, c_step = 0;
  const char *alpha = nullptr, *beta = nullptr;
  kernels::stream_fn stream = nullptr;  // null: the kernel writes to c itself
  char* buffer = nullptr;
  std::int64_t bytes = 0;

  RICCI_CALLS_WRITTEN_CODE void run() {
    code(a, b, stream ? buffer : c, alpha, beta);
    if (stream) stream(buffer, c, bytes);
    a += a_step, b += b_step, c += c_step;
  }
};

/// r has the pointers of the block; what is packed once is packed. The plan has one block label.
link link_of(const step_run& r, char* packs);

}  // namespace ricci
