// An order of contraction as a binary tree, and the order in which its steps are written down.
#include "plan/path/tree.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::ordering {
namespace {

double add_logs(double a, double b) {
  const double high = std::max(a, b), low = std::min(a, b);
  return high + std::log2(1 + std::exp2(low - high));
}

}  // namespace

std::vector<int> top_down(const binary_tree& tree) {
  std::vector<int> order{tree.root};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int node = order[i];
    if (tree.left[node] < 0) continue;
    order.push_back(tree.left[node]);
    order.push_back(tree.right[node]);
  }
  return order;
}

step_list steps_of(const binary_tree& tree, int factor_count, const std::vector<double>& room) {
  // need[node]: room for the node's subtree while it is worked out (as registers in Sethi and Ullman's numbering).
  std::vector<double> need(room);
  const auto order = top_down(tree);
  const auto right_first = [&](int node) {
    return !need.empty() && need[tree.right[node]] > need[tree.left[node]];
  };
  for (auto it = order.rbegin(); it != order.rend() && !need.empty(); ++it) {
    if (tree.left[*it] < 0) continue;
    const int first = right_first(*it) ? tree.right[*it] : tree.left[*it];
    const int second = tree.left[*it] + tree.right[*it] - first;
    need[*it] = std::max({need[first], add_logs(room[first], need[second]), add_logs(room[*it], room[first])});
  }
  step_list steps;
  std::vector<int> position(tree.left.size(), -1), stack{tree.root};
  for (int node = 0; node < factor_count; ++node) position[node] = node;
  while (!stack.empty()) {
    const int node = stack.back();
    const int l = tree.left[node], r = tree.right[node];
    if (position[node] >= 0) {
      stack.pop_back();
    } else if (position[l] >= 0 && position[r] >= 0) {
      position[node] = factor_count + static_cast<int>(steps.size());
      steps.emplace_back(std::min(position[l], position[r]), std::max(position[l], position[r]));
      stack.pop_back();
    } else {
      const bool swap = right_first(node);
      stack.push_back(swap ? l : r);
      stack.push_back(swap ? r : l);
    }
  }
  return steps;
}

}  // namespace ricci::ordering
