// One GPU: its numbers, its primary context, its memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "gpu/driver.hpp"

namespace ricci::cuda {

/// Whether products may go to the vendor's library.
enum class blas_use : int { never, where_it_wins, always };

struct tuned_table;

/// What plans need to know of a GPU. A plain value: plans for an absent GPU can be made from a description.
struct gpu_machine {
  std::string name = "NVIDIA H200";
  int architecture = 90;             // compute capability, 10 major + minor
  int multiprocessors = 132;
  int shared_bytes = 233472;         // of a multiprocessor
  int shared_most = 232448;          // of a block
  int registers = 65536;             // of a multiprocessor
  int threads = 2048;                // of a multiprocessor
  std::int64_t l2_bytes = 62914560;
  std::int64_t memory_bytes = std::int64_t{139} << 30;
  double bandwidth = 4360;           // GB/s, reached by a triad
  double peak_f64 = 34000, peak_f32 = 67000;             // GFLOP/s of multiply-adds
  double tensor_f64 = 67000, tensor_16 = 790000;         // of the tensor cores
  blas_use blas = blas_use::never;                       // a described machine's plans need nothing but ricci
  bool warpgroups = true;                                // multiply whole slices: compute capability 9.0, and a compiler that knows it
  bool shares = true;                                    // threads may share products as they lie where that is faster; tests do without
  std::shared_ptr<const tuned_table> tuned{};            // measured on this machine; null: the shipped table alone
  bool operator==(const gpu_machine&) const = default;
};

/// Bytes that a plan may take for a temporary because that is faster.
inline std::int64_t most_temporary(const gpu_machine& m) { return std::min(std::int64_t{8} << 30, m.memory_bytes / 16); }

/// The H200 that the shipped table was measured on.
const gpu_machine& described_h200();

/// One GPU of this machine. The primary context is retained for the life of the process, so that memory and kernels are
/// shared with callers who use CUDA's runtime.
struct device {
  int ordinal = 0;
  cu_context context = nullptr;
  cu_pool pool = nullptr;            // for temporaries, ordered by streams
  gpu_machine machine;
  std::string complaint;             // why this GPU's tuning table was ignored; empty if it was not
};

/// The GPU of the calling thread's current context, else the first one. Errors: no_gpu (none, or older than compute
/// capability 8.0), gpu_failed.
device& current_device();
device& device_of(int ordinal);

/// Makes a device's context current until it goes out of scope.
class use_device {
 public:
  explicit use_device(const device& d);
  ~use_device();
  use_device(const use_device&) = delete;
  use_device& operator=(const use_device&) = delete;

 private:
  bool pushed_ = false;
};

/// The ordinal of the GPU whose memory this is, or -1 for memory of the host or of nobody.
int owner_of(const void* pointer);

/// Zeroed memory on the current device. Errors: no_gpu, no_memory, gpu_failed.
void* allocate(std::int64_t bytes);
void release(void* memory) noexcept;

/// Copies; either side may be device or host memory as told. Complete when they return.
void copy_to_device(void* to, const void* from, std::int64_t bytes);
void copy_to_host(void* to, const void* from, std::int64_t bytes);
void copy_on_device(void* to, const void* from, std::int64_t bytes);

}  // namespace ricci::cuda
