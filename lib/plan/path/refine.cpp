// Improving a tree piece by piece: subtrees of a few leaves are replaced by the best order of these leaves.
#include "plan/path/refine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace ricci::ordering {
namespace {

constexpr double least_gain = 1e-9;       // relative; less is rounding
constexpr std::size_t most_listed = 40'000'000;  // labels in all lists of a tree: 160 MB
constexpr double largest_exponent = 900;  // of a product of extents, so that sums of a few stay finite

bool is_single(std::uint32_t subset) { return (subset & (subset - 1)) == 0; }

}  // namespace

double sum_of_logs(const std::vector<double>& logs) {
  if (logs.empty()) return -std::numeric_limits<double>::infinity();
  const double high = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (double x : logs) sum += std::exp2(x - high);
  return high + std::log2(sum);
}

weighed_tree::weighed_tree(const graph& g, binary_tree tree) : graph_(&g), tree_(std::move(tree)) {
  const std::size_t nodes = tree_.left.size(), factors = static_cast<std::size_t>(g.factor_count);
  labels_.resize(nodes);
  size_.assign(nodes, 0);
  work_.assign(nodes, -1e9);
  std::vector<int> uses(g.weight.size()), mark(g.weight.size(), -1);
  for (std::size_t label = 0; label < uses.size(); ++label) {
    uses[label] = static_cast<int>(g.holders[label].size()) + (g.kept[label] ? 1 : 0);
  }
  for (std::size_t f = 0; f < factors; ++f) {
    labels_[f] = g.labels[f];
    for (int label : labels_[f]) size_[f] += g.weight[label];
  }
  const auto order = top_down(tree_);
  std::size_t listed = 0;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const int node = *it;
    if (tree_.left[node] < 0) continue;
    double work = 0;
    std::vector<int> all;
    for (int from : {tree_.left[node], tree_.right[node]}) {
      for (int label : labels_[from]) {
        --uses[label];
        if (mark[label] == node) continue;
        mark[label] = node;
        all.push_back(label);
        work += g.weight[label];
      }
    }
    const std::size_t involved = all.size();
    std::erase_if(all, [&](int label) { return uses[label] == 0; });
    for (int label : all) {
      ++uses[label];
      size_[node] += g.weight[label];
    }
    work_[node] = work + (all.size() < involved ? 1 : 0);
    listed += all.size();
    labels_[node] = std::move(all);
    if (listed > most_listed) {
      complete_ = false;
      return;
    }
  }
}

double weighed_tree::cost() const {
  double excess = 0;
  for (std::size_t node = graph_->factor_count; node < size_.size(); ++node) {
    if (static_cast<int>(node) == tree_.root || size_[node] <= graph_->limit + 1e-9) continue;
    excess = std::max(excess, size_[node]);
  }
  return sum_of_logs(work_) + 1e6 * excess;
}

refiner::refiner(const graph& g, random_source& random, clock::time_point deadline)
    : graph_(g), random_(random), deadline_(deadline), mask_(g.weight.size(), 0), open_(g.weight.size(), 0) {}

void refiner::refine(weighed_tree& t, int leaves, int sweeps) {
  double before = t.cost();
  for (int i = 0; i < sweeps; ++i) {
    if (!sweep(t, leaves, i % 2 == 0)) return;
    const double after = t.cost();
    // Both ways to pick a piece must have failed before this is the end.
    if (i % 2 == 1) {
      if (before - after < 1e-3) return;
      before = after;
    }
  }
}

// False if the time is up.
bool refiner::sweep(weighed_tree& t, int leaves, bool by_work) {
  std::vector<int> tops(t.tree_.left.size() - static_cast<std::size_t>(graph_.factor_count));
  std::iota(tops.begin(), tops.end(), graph_.factor_count);
  std::vector<double> work(t.work_);
  std::sort(tops.begin(), tops.end(), [&](int a, int b) { return work[a] != work[b] ? work[a] > work[b] : a < b; });
  negligible_ = sum_of_logs(work) - 14;
  int count = 0;
  for (int top : tops) {
    if (++count % 64 == 0 && clock::now() > deadline_) return false;
    improve(t, top, leaves, by_work);
  }
  return clock::now() <= deadline_;
}

void refiner::pick_leaves(const weighed_tree& t, int top, int leaves, bool by_work) {
  leaves_ = {t.tree_.left[top], t.tree_.right[top]};
  inner_ = {top};
  while (static_cast<int>(leaves_.size()) < leaves) {
    int best = -1;
    double best_value = 0;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      if (t.tree_.left[leaves_[i]] < 0) continue;
      const double value = by_work ? t.work_[leaves_[i]] : random_.uniform();
      if (best >= 0 && value <= best_value) continue;
      best = static_cast<int>(i);
      best_value = value;
    }
    if (best < 0) return;
    const int node = leaves_[best];
    inner_.push_back(node);
    leaves_[best] = t.tree_.left[node];
    leaves_.push_back(t.tree_.right[node]);
  }
}

void refiner::pose(const weighed_tree& t, int top) {
  touched_.clear();
  double total = 0;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    for (int label : t.labels_[leaves_[i]]) {
      if (mask_[label] == 0) {
        touched_.push_back(label);
        total += graph_.weight[label];
      }
      mask_[label] |= std::uint32_t{1} << i;
    }
  }
  for (int label : t.labels_[top]) open_[label] = 1;
  scale_ = total > largest_exponent ? largest_exponent / total : 1;
  solver_.begin(static_cast<int>(leaves_.size()));
  for (int label : touched_) {
    const double extent = scale_ == 1 ? graph_.extent[label] : std::exp2(graph_.weight[label] * scale_);
    solver_.add_label(mask_[label], extent, open_[label]);
  }
}

bool refiner::improve(weighed_tree& t, int top, int leaves, bool by_work) {
  pick_leaves(t, top, leaves, by_work);
  if (leaves_.size() < 3) return false;
  double heaviest = 0;
  for (int node : inner_) heaviest = std::max(heaviest, t.work_[node]);
  if (heaviest < negligible_) return false;

  pose(t, top);
  const double limit = std::exp2(graph_.limit * scale_);
  order_cost old;
  for (int node : inner_) {
    const double size = std::exp2(t.size_[node] * scale_);
    old.flops += std::exp2(t.work_[node] * scale_);
    old.traffic += size;
    if (node != top && size > limit * (1 + least_gain)) old.excess = std::max(old.excess, size);
  }
  // The top itself is a real intermediate, but its size is the same whatever the order below it.
  const order_cost& now = solver_.solve(limit);
  const bool same = now.flops < old.flops * (1 + least_gain);
  const bool better = now.excess < old.excess * (1 - least_gain) ||
                      (now.excess <= old.excess && (now.flops < old.flops * (1 - least_gain) ||
                                                    (same && now.traffic < old.traffic * (1 - least_gain))));
  if (better) rebuild(t, top);
  for (int label : touched_) mask_[label] = 0;
  for (int label : t.labels_[top]) open_[label] = 0;
  return better;
}

void refiner::rebuild(weighed_tree& t, int top) {
  std::vector<std::pair<std::uint32_t, int>> todo{{(std::uint32_t{1} << leaves_.size()) - 1, top}};
  std::size_t next = 1;  // inner_[0] is the top
  while (!todo.empty()) {
    const auto [subset, node] = todo.back();
    todo.pop_back();
    const std::uint32_t first = solver_.first_part(subset), second = subset ^ first;
    const auto node_of = [&](std::uint32_t part) {
      if (is_single(part)) return leaves_[static_cast<std::size_t>(std::countr_zero(part))];
      todo.emplace_back(part, inner_[next]);
      return inner_[next++];
    };
    t.tree_.left[node] = node_of(first);
    t.tree_.right[node] = node_of(second);
    describe(t, node, subset);
  }
}

// Labels, size and work of a new inner node.
void refiner::describe(weighed_tree& t, int node, std::uint32_t subset) {
  const std::uint32_t first = solver_.first_part(subset), second = subset ^ first;
  const auto summed_in = [&](int label, std::uint32_t part) { return !open_[label] && (mask_[label] & ~part) == 0; };
  auto& own = t.labels_[node];
  if (node != inner_[0]) own.clear();
  double work = 0, size = 0;
  bool sums = false;
  for (int label : touched_) {
    if ((mask_[label] & subset) == 0) continue;
    if (!is_single(first) && summed_in(label, first)) continue;
    if (!is_single(second) && summed_in(label, second)) continue;
    work += graph_.weight[label];
    if (summed_in(label, subset)) {
      sums = true;
      continue;
    }
    size += graph_.weight[label];
    if (node != inner_[0]) own.push_back(label);
  }
  t.size_[node] = size;
  t.work_[node] = work + (sums ? 1 : 0);
}

}  // namespace ricci::ordering
