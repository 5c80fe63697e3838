// The rows, columns and summed indices of a blocked product as lists of offsets.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace ricci {

/// Offsets in elements of the rows, columns and summed indices of a blocked product: labels flattened in the order in which
/// planning::walk_of says that they come.
struct flat_lists {
  std::vector<std::int64_t> row_a, row_c, col_b, col_c, sum_a, sum_b;
};
flat_lists flattened(const plan_step& s);

}  // namespace ricci
