// A pairwise step as the GPU sees it: labels in groups, neighbours fused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace ricci::cuda {

/// A label (or several fused): extent, and strides in elements of a, b and c; 0 where it is missing.
struct axis {
  std::int64_t extent = 1, a = 0, b = 0, c = 0;
  bool operator==(const axis&) const = default;
};

/// c[batch, m, n] = beta c + alpha sum_k a[batch, m, k] b[batch, k, n]; axes of a group outermost first (by c, k by a).
struct step_shape {
  dtype a = dtype::f64, b = dtype::f64, c = dtype::f64;
  bool has_a = true, has_b = true; // else the constant one
  bool conj_a = false, conj_b = false;
  bool beta = false;              // c is read
  bool swapped = false;           // a and b here are b and a of the operation
  std::vector<axis> batch, m, n, k;
  bool operator==(const step_shape&) const = default;
};

std::int64_t count_of(const std::vector<axis>& axes);

/// The axes that c has: those of batch, m and n.
std::vector<axis> free_axes(const step_shape& s);

using stride_of_axis = std::int64_t axis::*;
/// Of operand 'a', 'b' or 'c'.
stride_of_axis stride_in(char operand);

/// Groups the labels of an operation and fuses those whose strides nest in every operand.
step_shape shape_of(const pair_op& op, const std::vector<std::int64_t>& extents);

/// c = a b as c^T = b^T a^T.
void swap_factors(step_shape& s);

/// Elements of an operand in memory: those that several indices meet count once.
double distinct_elements(const step_shape& s, stride_of_axis stride);

/// Whether two axes of an operand, with these strides and extents, meet elements again.
bool meet_again(std::int64_t x, std::int64_t x_extent, std::int64_t y, std::int64_t y_extent);

/// Floating-point operations, and bytes that must move at least once.
double flops_of(const step_shape& s);
double bytes_of(const step_shape& s);
/// Where windows overlap, what they meet again counts again.
double counted_bytes_of(const step_shape& s);

/// The offset of a flattened index over axes (outermost first), of these strides in an operand, as an expression in `index`.
std::string offset_text(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
                        const std::string& index);

/// The same in 64 bits, for strides that are negative or long.
std::string long_offset_text(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
                             const std::string& index);

/// The axis with the smallest step in an operand; their number if there is none.
std::size_t nearest_axis(const std::vector<axis>& axes, std::int64_t axis::*operand);

std::vector<std::int64_t> extents_of(const std::vector<axis>& axes);
std::vector<std::int64_t> strides_of(const std::vector<axis>& axes, std::int64_t axis::*operand);

/// "element<1>" and the like.
std::string element_text(dtype t);
/// A function of kernels/functions.cuh applied to an expression.
std::string function_text(function f, const std::string& x);
const char* text_of(bool b);

}  // namespace ricci::cuda
