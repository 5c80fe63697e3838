// Copies between problems that lie one after the other and problems side by side, written at run time: blocks of memory
// are transposed on their way through registers.
#pragma once

#include "codegen/codegen.hpp"

namespace ricci::codegen {

/// to[loops, y, x] = from[loops, x, y]: x has stride 1 in what is written, y in what is read. Strides in elements.
struct turn_request {
  std::int64_t size = 8;               // bytes of an element: 4, 8 or 16
  std::int64_t x = 1, y = 1;           // extents
  std::int64_t from_x = 0, to_y = 0;
  std::int64_t loops[2] = {1, 1}, from_loops[2] = {}, to_loops[2] = {};
  bool scratch = false;                // gaps between the written rows of a matrix, and behind its last, may be written as well
};

/// The kernel's b is what is read, its c what is written. They do not overlap.
/// Null if there is none, among other sizes: x fills no register and y no quarter of one of a large matrix, no generator here.
std::shared_ptr<const kernel> make(const turn_request& r, target t);

/// The same for small matrices, and with AVX2 for up to eight neighbours of any number of rows; null for others.
std::shared_ptr<const kernel> make_small(const turn_request& r, target t);

/// The same on AVX-512 for matrices of a few registers without gaps, if they take at most so many permutations each; null for others.
std::shared_ptr<const kernel> make_permuted(const turn_request& r, double most);

/// A few elements of any strides, in elements; 2, 4, 8 or 16 bytes each.
struct copy_request {
  struct axis {
    std::int64_t extent, from, to;
  };
  std::int64_t size = 8;
  std::vector<axis> axes;
};

/// The kernel's b is what is read, its c what is written. They do not overlap. Null for more than 64 elements, and where there is no
/// generator.
std::shared_ptr<const kernel> make(const copy_request& r, target t);

}  // namespace ricci::codegen
