// Many short dot products whose results are neighbours: what is to be written.
#pragma once

#include "codegen/codegen.hpp"

namespace ricci::codegen {

inline constexpr int most_dot_loops = 4;

/// Results in the order in which c has them. Bytes.
struct dots {
  struct axis {
    std::int64_t extent, a, b, c;
  };
  std::vector<axis> dense;  // c has them one right behind the other, the first fastest; elements without an axis: none
  std::vector<axis> loops;  // around those, the last outermost
  /// What a dot product takes at once: so many numbers from here on.
  struct piece {
    std::int64_t a, b, count;
  };
  std::vector<piece> pieces;
  int real = 8, lanes = 8;  // bytes of a number; numbers of a register, which is how many results are done at once
  int segment = 8;          // lanes of one dot product; fewer than a register only if it is one piece
  std::int64_t inner = 1, count = 1;  // results before the last dense axis moves on, and all
  std::int64_t period = 1;            // results after which places repeat
  bool triples = false;               // of three numbers each, which lie one behind the other in a or b or both

  int segments() const { return lanes / segment; }
  /// Whether neighbouring results have neighbouring segments of a factor, or the same one.
  bool is_even(std::int64_t axis::*stride) const;
};

/// Sets the order of the axes of c, that of the lanes among them: those whose results are neighbours, and the others. False if no results
/// are.
bool take_axes(const kernels::contract_args& x, std::int64_t real, const kernels::axis& lanes, dots& d);

/// Nothing if this is no request for many short dot products, or too much code: another lane axis, complex or 16-bit numbers, several
/// summed axes, rows that meet several columns, results that are not neighbours.
std::vector<dots> dots_of(const request& r, target t);

}  // namespace ricci::codegen
