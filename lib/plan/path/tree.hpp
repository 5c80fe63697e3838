// An order of contraction as a binary tree, and the order in which its steps are written down.
#pragma once

#include <vector>

#include "plan/path/network.hpp"

namespace ricci::ordering {

/// Nodes 0..n-1 are the factors, the others are products of two nodes, children before parents not required.
struct binary_tree {
  std::vector<int> left, right;  // -1 for factors
  int root = -1;
};

/// All nodes, parents before children.
std::vector<int> top_down(const binary_tree& tree);

/// The steps of a tree: children before parents, and of two children first the one that needs more room.
/// room[node] is the logarithm (base 2) of the node's size; it may be empty.
step_list steps_of(const binary_tree& tree, int factor_count, const std::vector<double>& room);

}  // namespace ricci::ordering
