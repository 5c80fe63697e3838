// What a test sees of the pretended GPUs, and how it makes them do something else.
#pragma once

#include <atomic>

/// Of the process.
struct pretended_gpus {
  std::atomic<int> launches[2] = {};     // on each GPU
  std::atomic<int> modules{0};           // loaded, and not unloaded since
  std::atomic<int> load_takes{0};        // milliseconds
  std::atomic<bool> lacks_kernels{false};  // modules hold none
  std::atomic<int> blas_handles{0};      // asked for
  std::atomic<bool> has_blas{false};     // else there are no handles
  std::atomic<int> blas_says{0};         // of a product
  std::atomic<int> blas_calls{0};
};

extern "C" {
pretended_gpus* pretended_state();
/// As if the memory had been given back and taken again on another GPU, at the same address.
void pretended_move(void* memory, int owner);
}
