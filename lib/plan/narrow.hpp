// Which 16-bit operands a kernel converts for itself.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace ricci::planning {

/// Elements of a that a written kernel converts for itself: codegen::most_staged.
inline constexpr std::int64_t most_converted = 6144;

/// Stored in 16 bits.
inline bool is_narrow(const operand& x) { return x.where != operand::kind::one && compute_type(x.type) != x.type; }

/// One summed label, a's neighbours along it, and few enough of them.
inline bool rows_are_short(const std::vector<step_axis>& axes) {
  const step_axis* k = nullptr;
  std::int64_t rows = 1;
  for (const step_axis& x : axes) {
    if (x.role == group::m) rows = std::max(rows, x.extent);
    if (x.role == group::k && std::exchange(k, &x)) return false;
  }
  return k && k->a == 1 && k->b != 0 && rows * k->extent <= most_converted;
}

}  // namespace ricci::planning
