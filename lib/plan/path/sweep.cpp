// Orders of contraction that sweep through the network: one product grows, factor by factor.
#include "plan/path/sweep.hpp"

#include <algorithm>
#include <queue>

#include "plan/path/cut.hpp"
#include "plan/path/parts.hpp"

namespace ricci::ordering {
namespace {

constexpr int far = 1 << 30;  // added to the place in the queue of what was met through a hub alone

class sweep {
 public:
  sweep(const graph& g, double temperature, random_source& random)
      : graph_(g), random_(random), inside_(g.weight.size(), 0),
        growth_(static_cast<std::size_t>(g.factor_count), 0), noise_(growth_), met_(growth_.size(), 0),
        taken_(growth_.size(), 0) {
    tree_.left.assign(growth_.size(), -1);
    tree_.right = tree_.left;
    for (int f = 0; f < g.factor_count; ++f) {
      if (temperature > 0) noise_[f] = temperature * random.gumbel();
      for (int label : g.labels[f]) {
        if (!g.lone(label)) growth_[f] += g.weight[label];
      }
    }
  }

  binary_tree run() {
    const auto parts = connected_parts(graph_);
    std::vector<int> roots;
    for (const auto& part : parts) roots.push_back(chain(edge_of(part)));
    join_parts(graph_, parts, roots, tree_);
    return std::move(tree_);
  }

 private:
  struct entry {
    double growth;
    int met, factor;
    bool operator>(const entry& o) const { return growth != o.growth ? growth > o.growth : met > o.met; }
  };

  // What a walk from a random factor of the part meets last.
  int edge_of(const std::vector<int>& part) {
    std::vector<int> queue{part[static_cast<std::size_t>(random_.below(static_cast<int>(part.size())))]};
    ++walk_;
    seen_.resize(growth_.size(), 0);
    passed_.resize(graph_.weight.size(), 0);
    seen_[queue[0]] = walk_;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (int label : graph_.labels[queue[i]]) {
        if (passed_[label] == walk_) continue;
        passed_[label] = walk_;
        if (static_cast<int>(graph_.holders[label].size()) > graph_.hub) continue;
        for (int f : graph_.holders[label]) {
          if (seen_[f] == walk_) continue;
          seen_[f] = walk_;
          queue.push_back(f);
        }
      }
    }
    return queue.back();
  }

  int chain(int start) {
    take(start);
    int node = start;
    while (!heap_.empty()) {
      const entry e = heap_.top();
      heap_.pop();
      if (taken_[e.factor] || e.growth != growth_[e.factor] + noise_[e.factor]) continue;
      take(e.factor);
      node = new_node(tree_, node, e.factor);
    }
    return node;
  }

  void take(int factor) {
    taken_[factor] = 1;
    for (int label : graph_.labels[factor]) {
      const auto& holders = graph_.holders[label];
      const bool is_hub = static_cast<int>(holders.size()) > graph_.hub;
      const int inside = ++inside_[label];
      const int outside = static_cast<int>(holders.size()) - inside;
      // The first to take a label spares the others its weight; the last one drops it.
      double change = inside == 1 ? -graph_.weight[label] : 0;
      if (outside == 1 && !graph_.kept[label]) change -= graph_.weight[label];
      if (outside == 0 || (inside > 1 && change == 0)) continue;
      for (int f : holders) {
        if (taken_[f]) continue;
        if (met_[f] == 0 || (met_[f] > far && !is_hub)) met_[f] = ++meetings_ + (is_hub ? far : 0);
        growth_[f] += change;
        heap_.push({growth_[f] + noise_[f], met_[f], f});
      }
    }
  }

  const graph& graph_;
  random_source& random_;
  binary_tree tree_;
  std::vector<int> inside_;            // by label: how many of its holders are taken
  std::vector<double> growth_, noise_; // by factor: log2 by which the product grows if it is taken
  std::vector<int> met_;
  std::vector<char> taken_;
  std::vector<int> seen_, passed_;
  int meetings_ = 0, walk_ = 0;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> heap_;
};

// Halves of halves in a row: a cut sees on which side of it the neighbours outside its set are.
void arrange(std::vector<int>& part, const bisect_options& options, cutter& cut, std::vector<int>& rank) {
  using range = std::pair<std::size_t, std::size_t>;
  for (int f : part) rank[f] = 0;
  std::queue<range> todo;  // level by level, so that all of a level see each other's halves
  todo.emplace(0, part.size());
  while (!todo.empty()) {
    const auto [begin, end] = todo.front();
    todo.pop();
    if (end - begin < 2) continue;
    const auto at = [&](std::size_t i) { return part.begin() + static_cast<std::ptrdiff_t>(i); };
    std::vector<int> set(at(begin), at(end));
    const std::size_t middle = begin + static_cast<std::size_t>(cut.cut(set, options, &rank));
    std::copy(set.begin(), set.end(), at(begin));
    for (std::size_t i = middle; i < end; ++i) rank[part[i]] = static_cast<int>(middle);
    todo.emplace(begin, middle);
    todo.emplace(middle, end);
  }
}

}  // namespace

binary_tree arranged_tree(const graph& g, const bisect_options& options, random_source& random) {
  binary_tree tree;
  tree.left.assign(static_cast<std::size_t>(g.factor_count), -1);
  tree.right = tree.left;
  auto parts = connected_parts(g);
  std::vector<int> roots, rank(static_cast<std::size_t>(g.factor_count), 0);
  cutter cut(g, random);
  for (auto& part : parts) {
    arrange(part, options, cut, rank);
    int node = part[0];
    for (std::size_t i = 1; i < part.size(); ++i) node = new_node(tree, node, part[i]);
    roots.push_back(node);
  }
  join_parts(g, parts, roots, tree);
  return tree;
}

binary_tree swept_tree(const graph& g, double temperature, random_source& random) {
  return sweep(g, temperature, random).run();
}

}  // namespace ricci::ordering
