// Timing on the GPU: events, medians, buffers, and the bandwidth that everything is compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <ricci/core/types.hpp>

#include "gpu/device.hpp"
#include "gpu/step.hpp"

namespace ricci::cuda {

/// Device memory that is given back.
class buffer {
 public:
  explicit buffer(std::int64_t bytes);
  ~buffer();
  buffer(buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  char* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

  /// Random elements in [-1, 1), a 64 MiB pattern repeated.
  void randomise(dtype t, unsigned seed) const;

 private:
  char* data_;
  std::int64_t bytes_;
};

/// Median, in seconds, of `count` timings of work(i) by events, after two that are not counted.
double median_seconds(int count, const std::function<void(int)>& work);

/// GB/s of x = y + z over three buffers, and of a plain copy, counted as bytes read and written.
struct bandwidths {
  double triad = 0, copy = 0, device_copy = 0;
};
bandwidths measure_bandwidth(const buffer& x, const buffer& y, const buffer& z);

/// Seconds of the launch of a kernel that does nothing, `in_a_row` of them between two events.
double empty_launch_seconds(int in_a_row = 1);

/// A packed row-major batch of square products c = beta c + a b.
step_shape square_step(dtype t, int n, bool beta, std::int64_t batch);
/// The same of m x k times k x n.
step_shape product_step(dtype t, std::int64_t m, std::int64_t n, std::int64_t k, bool beta, std::int64_t batch);

/// Launches one step on the default stream. Errors: gpu_failed.
void launch_step(const step_plan& p, const kernel& k, const operands& x, const device& d);

}  // namespace ricci::cuda
