// Products of problems that lie side by side, copied so that the matrices of each problem lie by themselves.
#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace ricci::planning {

/// A product whose factors or result have the neighbours along a label of all three, as copies of those to temporaries, the product of the
/// temporaries, and a copy of the result. block: the labels of all three, of which that one, the last, is cut.
struct apart {
  work copied;
  std::vector<int> block;
};

/// None if the work is another, or its problems are so small that they are multiplied where they lie.
std::optional<apart> problems_apart(const work& w);

}  // namespace ricci::planning
