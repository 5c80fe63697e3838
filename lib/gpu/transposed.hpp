// A large contraction as copies and a product: of matrices for the vendor's library, of problems one by one or of aligned rows for own kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/device.hpp"
#include "plan/plan.hpp"

namespace ricci::cuda {

/// Operations in order; temporaries of theirs are numbered from the first one given.
struct transposed_product {
  std::vector<pair_op> ops;  // empty: not possible, or not expected to be faster
  std::vector<temporary> temporaries;
  std::vector<label_info> labels;  // of its own, numbered behind those of the program
};

transposed_product by_transposition(const pair_op& op, const std::vector<std::int64_t>& extents, const gpu_machine& m, int first_temporary);

/// A view whose windows overlap, and whose channels are no neighbours, is copied so that they are: what lies behind it, once.
transposed_product by_moving_windows(const pair_op& op, const std::vector<std::int64_t>& extents, const gpu_machine& m, int first_temporary);

}  // namespace ricci::cuda
