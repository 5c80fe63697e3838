// Products that the vendor's library can do: cuBLAS, found with dlopen. Nothing is linked, and nothing needs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/shape.hpp"

namespace ricci::cuda {

/// One step as strided batches of column-major products, c^T = b^T a^T; loops that no batch can say are calls.
struct blas_call {
  bool used = false;
  std::int64_t rows = 0, cols = 0, sum = 0;   // of c^T: n, m, k
  char op_b = 'N', op_a = 'N';                // N, T or C
  std::int64_t row_b = 0, row_a = 0, row_c = 0;  // leading dimensions
  axis batch;
  std::vector<axis> calls;                    // outermost first
  bool operator==(const blas_call&) const = default;
};

/// The step in those terms; `used` is false if it cannot be said so.
blas_call blas_call_of(const step_shape& s);

/// Where the operands of call `at` begin, in elements from where the step's do.
struct blas_offsets {
  std::int64_t a = 0, b = 0, c = 0;
};
blas_offsets offsets_of(const blas_call& c, std::int64_t at);

/// Rows of all matrices begin and end at multiples of so many elements: 1, 2, 4 or 8. The library's products of 16 bits are slow below 8.
std::int64_t elements_together(const blas_call& c);

/// Whether the call is expected to beat ricci's own kernels, on a machine with or without warpgroups.
bool blas_wins(const step_shape& s, const blas_call& c, bool warpgroups);

/// "cuBLAS, 100 products of 96 x 96 x 96"
std::string to_string(const blas_call& c);

/// RICCI_CUBLAS: 0 never, "always" wherever it can, else where it is expected to win.
blas_use blas_use_wanted();

/// Which library was found. RICCI_LIBCUBLAS names another file. Opened when it is first asked for.
struct blas_info {
  std::string file, missing;  // missing: why there is none
};
const blas_info& find_blas();

/// Makes the device's handle, which takes a while the first time; false if the library is missing or cannot be used.
bool prepare_blas(const device& d);

/// Enqueues. a and b as the shape has them. False, and nothing was enqueued, if the library does not do this product. Errors: gpu_failed.
bool run_blas(const step_shape& s, const blas_call& c, const void* a, const void* b, void* x, const double (&alpha)[2],
              const double (&beta)[2], const device& d, cu_stream stream);

}  // namespace ricci::cuda
