// The connected parts of a network, and the join of their trees.
#pragma once

#include <vector>

#include "plan/path/greedy.hpp"

namespace ricci::ordering {

/// The factors of each connected part, in the order in which a walk from the first of them meets them.
std::vector<std::vector<int>> connected_parts(const graph& g);

int new_node(binary_tree& tree, int left = -1, int right = -1);

/// Multiplies the trees of all parts (roots[i] belongs to parts[i]), the small results first, and sets the root.
void join_parts(const graph& g, const std::vector<std::vector<int>>& parts, const std::vector<int>& roots,
                binary_tree& tree);

}  // namespace ricci::ordering
