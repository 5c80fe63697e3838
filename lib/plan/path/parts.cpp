// The connected parts of a network, and the join of their trees.
#include "plan/path/parts.hpp"

#include <queue>

namespace ricci::ordering {

std::vector<std::vector<int>> connected_parts(const graph& g) {
  std::vector<std::vector<int>> all;
  std::vector<char> met(static_cast<std::size_t>(g.factor_count), 0), done(g.weight.size(), 0);
  for (int start = 0; start < g.factor_count; ++start) {
    if (met[start]) continue;
    met[start] = 1;
    auto& part = all.emplace_back(1, start);
    for (std::size_t i = 0; i < part.size(); ++i) {
      for (int label : g.labels[part[i]]) {
        if (done[label]) continue;
        done[label] = 1;
        for (int f : g.holders[label]) {
          if (met[f]) continue;
          met[f] = 1;
          part.push_back(f);
        }
      }
    }
  }
  return all;
}

int new_node(binary_tree& tree, int left, int right) {
  tree.left.push_back(left);
  tree.right.push_back(right);
  return static_cast<int>(tree.left.size()) - 1;
}

void join_parts(const graph& g, const std::vector<std::vector<int>>& parts, const std::vector<int>& roots,
                binary_tree& tree) {
  std::vector<int> part_of(static_cast<std::size_t>(g.factor_count), 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (int f : parts[i]) part_of[f] = static_cast<int>(i);
  }
  std::vector<double> size(parts.size(), 0);  // of the labels of the result
  for (std::size_t label = 0; label < g.weight.size(); ++label) {
    if (g.kept[label]) size[part_of[g.holders[label][0]]] += g.weight[label];
  }
  using item = std::pair<double, int>;
  std::priority_queue<item, std::vector<item>, std::greater<>> left;
  for (std::size_t i = 0; i < roots.size(); ++i) left.emplace(size[i], roots[i]);
  while (left.size() > 1) {
    const auto [a_size, a] = left.top();
    left.pop();
    const auto [b_size, b] = left.top();
    left.pop();
    left.emplace(a_size + b_size, new_node(tree, a, b));
  }
  tree.root = left.top().second;
}

}  // namespace ricci::ordering
