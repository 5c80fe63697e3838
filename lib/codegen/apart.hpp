// Sums of numbers that are no neighbours, such as diagonals, written at run time: one number after the other, without copies to lanes.
#pragma once

#include "codegen/codegen.hpp"

namespace ricci::codegen {

/// c(n) = beta c(n) + alpha sum_k b(n, k): strides of b in elements, c without gaps.
struct apart_request {
  dtype type = dtype::f64;          // f32, f64, c64 or c128
  std::int64_t extent = 1, k = 1;   // of n and of the sum
  std::int64_t lane_b = 0, k_b = 0;
  factor alpha = factor::one;       // one or minus one; for real numbers any as well
  factor beta = factor::zero;       // zero or one
};

inline constexpr std::int64_t most_apart_terms = 32, most_apart_step = 1 << 24;  // bytes

/// The kernel's a is not read. Null for other factors, for more terms or fewer than two, where two terms or results lie further apart, and
/// where there is no generator.
std::shared_ptr<const kernel> make(const apart_request& r, target t);

}  // namespace ricci::codegen
