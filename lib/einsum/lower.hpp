// Subscripts and shapes become a program.
#pragma once

#include "einsum/subscripts.hpp"

namespace ricci::detail {

struct lowered_einsum {
  program statement;                  // slot 0 is the result, slot 1 + q is operand q
  std::vector<std::int64_t> extents;  // of the result
};

/// Without `out` the result is dense. With it, its extents must be the result's, and the program says what overlaps.
/// Errors: bad_extent (extents that do not agree or broadcast), bad_subscripts (ranks), bad_argument (element types).
lowered_einsum lower_einsum(const subscripts& s, std::span<const array_info> operands, const array_info* out);

}  // namespace ricci::detail
