// Which lines of its operands an iteration of a nest touches, so that no others are asked for ahead.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/tile_cost.hpp"

namespace ricci::codegen {

enum class nest_operand { a, b, c };

/// Rows and summed indices [first, first + count) of an iteration.
struct nest_part {
  std::int64_t row = 0, rows = 0, sum = 0, sums = 0;
};

/// Where the lines of 64 bytes begin that a part touches, in bytes from where the operand's pointer stands.
std::vector<std::int64_t> lines_of(const nest& n, const geometry& g, nest_operand x, const nest_part& part);

/// Less than nine tenths of the `step` bytes to the next iteration are in lines that an iteration touches.
bool is_sparse(const nest& n, const geometry& g, nest_operand x, std::int64_t step);

}  // namespace ricci::codegen
