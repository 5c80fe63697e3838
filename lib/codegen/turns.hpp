// Copies between problems that lie one after the other and problems side by side, written at run time: blocks of memory
// are transposed on their way through registers.
#pragma once

#include "codegen/codegen.hpp"

namespace ricci::codegen {

/// to[loops, y, x] = from[loops, x, y]: x has stride 1 in what is written, y in what is read. Strides in elements.
struct turn_request {
  std::int64_t size = 8;               // bytes of an element: 4 or 8
  std::int64_t x = 1, y = 1;           // extents
  std::int64_t from_x = 0, to_y = 0;
  std::int64_t loops[2] = {1, 1}, from_loops[2] = {}, to_loops[2] = {};
};

/// The kernel's b is what is read, its c what is written. They do not overlap.
/// Null if there is none: x fills no register, y no quarter of one, other sizes, no generator here.
std::shared_ptr<const kernel> make(const turn_request& r, target t);

}  // namespace ricci::codegen
