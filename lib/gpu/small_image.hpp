// How the operands of small products lie in shared memory.
#pragma once

#include "gpu/small.hpp"

namespace ricci::cuda {

/// One axis of an operand's problem.
struct image_axis {
  std::int64_t extent, far;     // stride in memory
  bool is_row;
  int place;                    // in the group's list
  std::int64_t near = 0;        // stride in shared memory
};

/// An operand of a tile's problems in memory, and its image in shared memory.
struct operand_image {
  dtype type = dtype::f64;
  bool conj = false, flat = false, aligned = true, lined = false, problem_fastest = false, pointers = false, shared = false;
  bool kept = false;  // all tiles have it in common
  int problems = 1, beside = 0;
  std::int64_t elements = 1, stride = 0, size = 0, row = 1, pad = 0, units = 1, unit = 1, chunk = 16;
  std::vector<image_axis> axes;  // of rows and columns, by stride in memory, smallest first; strides of 0 left out
  std::vector<std::int64_t> row_extents, row_near, col_extents, col_near;

  std::int64_t bytes() const { return static_cast<std::int64_t>(size_of(type)); }
};

struct images {
  operand_image a, b, c;
};

images make_images(const small_shape& s, const small_config& c, const alignments& at);

/// Neighbours along rows (or columns) that are aligned words of the image, of 16 bytes at most: they may be read or written at once.
int pack_of(const operand_image& i, bool along_row, int most);

/// Neighbours of b along k that a single thread reads at once, if it reads none along columns. Where each problem has a b of its own that
/// did not pay (measured on an H200: 0.6 to 1.05 of the speed, 1.0 to 1.3 beside a common factor).
int pack_along_sum(const small_shape& s, const operand_image& b, const small_config& config);

/// Neighbours in a row that a thread of the tensor cores for 16 bits writes at once.
int result_pack_of(const operand_image& c, const small_config& config);

/// The hardware copies runs, if all operands that are copied are: the configuration's choice, or 0.
int bulk_of(const images& i, const small_config& c);

std::int64_t shared_bytes_of(const images& i, const small_config& c, bool beta);

}  // namespace ricci::cuda
