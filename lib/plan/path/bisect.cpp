// Orders of contraction from the top down: the network is cut in two along its lightest labels, again and again.
#include "plan/path/bisect.hpp"

#include <bit>

#include "plan/path/cut.hpp"
#include "plan/path/exact.hpp"
#include "plan/path/parts.hpp"

namespace ricci::ordering {
namespace {

constexpr int small = 8;  // sets of up to so many factors are ordered exactly

class bisection {
 public:
  bisection(const graph& g, const bisect_options& options, random_source& random)
      : graph_(g), options_(options), cutter_(g, random), mask_(g.weight.size(), 0) {
    tree_.left.assign(static_cast<std::size_t>(g.factor_count), -1);
    tree_.right = tree_.left;
  }

  binary_tree run() {
    const auto parts = connected_parts(graph_);
    std::vector<int> roots;
    for (const auto& part : parts) roots.push_back(tree_of(part));
    join_parts(graph_, parts, roots, tree_);
    return std::move(tree_);
  }

 private:
  // The sets still to be cut wait on a list, so that no chain of factors is too long for the stack.
  int tree_of(std::vector<int> factors) {
    if (factors.size() == 1) return factors[0];
    const int root = new_node(tree_);
    std::vector<std::pair<std::vector<int>, int>> todo;
    todo.emplace_back(std::move(factors), root);
    while (!todo.empty()) {
      auto [set, node] = std::move(todo.back());
      todo.pop_back();
      if (set.size() <= small) {
        order_exactly(set, node);
        continue;
      }
      const int first = cutter_.cut(set, options_);
      std::vector<int> sides[2] = {{set.begin(), set.begin() + first}, {set.begin() + first, set.end()}};
      int child[2];
      for (int s : {0, 1}) {
        child[s] = sides[s].size() == 1 ? sides[s][0] : new_node(tree_);
        if (sides[s].size() > 1) todo.emplace_back(std::move(sides[s]), child[s]);
      }
      tree_.left[node] = child[0];
      tree_.right[node] = child[1];
    }
    return root;
  }

  void order_exactly(const std::vector<int>& set, int root) {
    std::vector<int> touched;
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (int label : graph_.labels[set[i]]) {
        if (mask_[label] == 0) touched.push_back(label);
        mask_[label] |= std::uint32_t{1} << i;
      }
    }
    solver_.begin(static_cast<int>(set.size()));
    for (int label : touched) {
      const auto inside = static_cast<std::size_t>(std::popcount(mask_[label]));
      const bool open = graph_.kept[label] || inside < graph_.holders[label].size();
      solver_.add_label(mask_[label], graph_.extent[label], open);
      mask_[label] = 0;
    }
    solver_.solve(std::numeric_limits<double>::infinity());
    std::vector<std::pair<std::uint32_t, int>> todo{{(std::uint32_t{1} << set.size()) - 1, root}};
    while (!todo.empty()) {
      const auto [subset, node] = todo.back();
      todo.pop_back();
      const std::uint32_t first = solver_.first_part(subset);
      int child[2];
      for (int s : {0, 1}) {
        const std::uint32_t part = s == 0 ? first : subset ^ first;
        const bool single = (part & (part - 1)) == 0;
        child[s] = single ? set[static_cast<std::size_t>(std::countr_zero(part))] : new_node(tree_);
        if (!single) todo.emplace_back(part, child[s]);
      }
      tree_.left[node] = child[0];
      tree_.right[node] = child[1];
    }
  }

  const graph& graph_;
  const bisect_options options_;
  cutter cutter_;
  subset_solver solver_;
  std::vector<std::uint32_t> mask_;
  binary_tree tree_;
};

}  // namespace

binary_tree bisected_tree(const graph& g, const bisect_options& options, random_source& random) {
  return bisection(g, options, random).run();
}

}  // namespace ricci::ordering
