// Orders of contraction from the top down: the network is cut in two along its lightest labels, again and again.
#pragma once

#include <chrono>

#include "plan/path/greedy.hpp"

namespace ricci::ordering {

struct bisect_options {
  double imbalance = 0.1;  // a part has at least (1/2 - imbalance) of the factors
  int tries = 2;           // starts of each cut
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();  // then it is hasty
};

/// A tree of two or more factors; parts without a common label are joined last, the small ones first.
binary_tree bisected_tree(const graph& g, const bisect_options& options, random_source& random);

}  // namespace ricci::ordering
