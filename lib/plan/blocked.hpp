// Products in cache blocks of packed panels: the order in which rows, columns and summed indices come, and how they are cut.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace ricci::planning {

/// A digit of a flattened index, the fastest first: an axis, `piece` values of it at a time. outer: it counts those pieces.
struct digit {
  std::size_t axis = 0;  // among the step's axes
  std::int64_t piece = 1;
  bool outer = false;
};

struct walk {
  std::vector<digit> digits;
  std::int64_t box = 0;  // how many indices make a box; 0: there are none
};

/// The order of the rows, columns or summed indices. Neighbours in c come first (for sums: in b); where another axis is that of
/// neighbours in what is packed (for sums: in a), some of either make a box, so that the lines that are read for one are used
/// for the others while they are near. `size`: bytes of an element; `cut`: its register tiles are known.
walk walk_of(const std::vector<step_axis>& axes, group g, std::int64_t size, const cache_blocks& cut);

/// The product in blocks, or nothing where they do not pay. `seconds` is its estimate.
std::optional<plan_step> blocked_step(const pair_op& op, const std::vector<step_axis>& axes, const machine& m);

}  // namespace ricci::planning
