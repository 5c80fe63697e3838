// find_path: the exact search for few factors, the large search beyond.
#include <algorithm>
#include <bit>

#include "plan/path/exact.hpp"
#include "plan/path/network.hpp"
#include "plan/path/search.hpp"
#include "plan/path/tree.hpp"

namespace ricci {
namespace ordering {
namespace {

binary_tree tree_of(const subset_solver& solver, int count) {
  binary_tree tree;
  tree.left.assign(count, -1);
  tree.right.assign(count, -1);
  std::vector<std::pair<std::uint32_t, int>> todo;  // subset, node
  const auto node_of = [&](std::uint32_t subset) {
    if ((subset & (subset - 1)) == 0) return std::countr_zero(subset);
    const int node = static_cast<int>(tree.left.size());
    tree.left.push_back(-1);
    tree.right.push_back(-1);
    todo.emplace_back(subset, node);
    return node;
  };
  tree.root = node_of((std::uint32_t{1} << count) - 1);
  while (!todo.empty()) {
    const auto [subset, node] = todo.back();
    todo.pop_back();
    const std::uint32_t first = solver.first_part(subset);
    const int l = node_of(first), r = node_of(subset ^ first);
    tree.left[node] = l;
    tree.right[node] = r;
  }
  return tree;
}

step_list exact_steps(const network& net, double limit) {
  const int count = static_cast<int>(net.factors.size());
  std::vector<std::uint32_t> mask(net.extents.size(), 0);
  std::vector<char> open(net.extents.size(), 0);
  for (int f = 0; f < count; ++f) {
    for (int label : net.factors[f]) mask[label] |= std::uint32_t{1} << f;
  }
  for (int label : net.result) open[label] = 1;
  subset_solver solver;
  solver.begin(count);
  for (std::size_t label = 0; label < mask.size(); ++label) {
    // An empty extent makes every cost zero; the order found for extent one serves as well.
    const double extent = static_cast<double>(std::max<std::int64_t>(net.extents[label], 1));
    if (mask[label]) solver.add_label(mask[label], extent, open[label]);
  }
  solver.solve(limit);
  return steps_of(tree_of(solver, count), count, {});
}

}  // namespace
}  // namespace ordering

path find_path(const network& net, const path_options& options) {
  using namespace ordering;
  check_network(net);
  const int count = static_cast<int>(net.factors.size());
  if (count < 2) return cost_of(net, {});
  if (count == 2) return cost_of(net, {{0, 1}});
  if (count <= std::min(options.exact_limit, subset_limit)) return cost_of(net, exact_steps(net, options.largest));
  return cost_of(net, search(net, options));
}

}  // namespace ricci
