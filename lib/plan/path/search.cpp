// The search for a good order of many factors.
#include "plan/path/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "plan/path/bisect.hpp"
#include "plan/path/refine.hpp"
#include "plan/path/sweep.hpp"

namespace ricci::ordering {
namespace {

using clock = refiner::clock;

constexpr int most_starts = 40;
constexpr int patience = 10;         // starts without a gain after which the search ends
constexpr int quick_leaves = 8, thorough_leaves = 10;
constexpr int quick_sweeps = 4, thorough_sweeps = 20;

// No kind is best for all networks: greedy for trees and many small parts, bisection for random graphs, rows and
// sweeps for lattices and circuits.
enum class start : int { greedy, row, bisection, sweep };
constexpr int kinds = 4;

clock::time_point deadline_of(double seconds) {
  const double capped = std::clamp(seconds, 0.0, 1e6);
  return clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(capped));
}

class large_search {
 public:
  large_search(const network& net, const path_options& options)
      : graph_(net, options.largest), random_(options.seed), deadline_(deadline_of(options.seconds)),
        refiner_(graph_, random_, deadline_) {}

  step_list run() {
    // One plain start of each kind, improved cheapest first: if the time is short, it goes to the most promising.
    binary_tree plain = greedy_tree(graph_, {}, random_);
    std::vector<candidate> first;
    add(first, start::greedy, plain);
    for (start kind : {start::sweep, start::row, start::bisection}) {
      if (clock::now() < deadline_) add(first, kind, begin(kind, true));
    }
    std::sort(first.begin(), first.end(), [](const candidate& a, const candidate& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.kind < b.kind;
    });
    for (auto& c : first) improve(std::move(c));
    if (!best_) return steps_of(plain, graph_.factor_count, {});

    int last_gain = kinds;
    for (int i = kinds; i < most_starts && i - last_gain <= patience && clock::now() < deadline_; ++i) {
      const start kind = i < 2 * kinds ? static_cast<start>(i % kinds) : choose();
      std::vector<candidate> one;
      add(one, kind, begin(kind, false));
      if (!one.empty() && improve(std::move(one[0]))) last_gain = i;
    }
    refiner_.refine(*best_, thorough_leaves, thorough_sweeps);
    return steps_of(best_->tree(), graph_.factor_count, best_->sizes());
  }

 private:
  struct candidate {
    start kind;
    weighed_tree tree;
    double cost;
  };

  // Half of the later starts are of the kind that has done best.
  start choose() {
    if (random_.below(2) == 0) return static_cast<start>(random_.below(kinds));
    const auto least = std::min_element(least_.begin(), least_.end());
    return static_cast<start>(least - least_.begin());
  }

  binary_tree begin(start kind, bool first) {
    bisect_options halves;
    halves.deadline = deadline_;
    if (!first) halves.imbalance = 0.02 + 0.38 * random_.uniform();
    switch (kind) {
      case start::row: return arranged_tree(graph_, halves, random_);
      case start::bisection: return bisected_tree(graph_, halves, random_);
      case start::sweep: return swept_tree(graph_, first ? 0 : 0.03 * std::exp2(4 * random_.uniform()), random_);
      case start::greedy: break;
    }
    greedy_options options;
    options.alpha = 0.1 + 1.3 * random_.uniform();
    options.temperature = random_.below(3) == 0 ? 0 : 0.03 * std::exp2(5 * random_.uniform());
    options.by = random_.below(4) == 0 ? greedy_options::rule::work : greedy_options::rule::growth;
    return greedy_tree(graph_, options, random_);
  }

  void add(std::vector<candidate>& list, start kind, const binary_tree& tree) {
    weighed_tree weighed(graph_, tree);
    if (!weighed.complete()) return;
    const double cost = weighed.cost();
    list.push_back({kind, std::move(weighed), cost});
  }

  // True if the tree, improved, is better than all before it.
  bool improve(candidate c) {
    refiner_.refine(c.tree, quick_leaves, quick_sweeps);
    c.cost = c.tree.cost();
    double& least = least_[static_cast<std::size_t>(c.kind)];
    least = std::min(least, c.cost);
    if (best_ && c.cost >= best_cost_ - 1e-9) return false;
    best_cost_ = c.cost;
    best_ = std::move(c.tree);
    return true;
  }

  const graph graph_;
  random_source random_;
  const clock::time_point deadline_;
  refiner refiner_;
  std::optional<weighed_tree> best_;
  double best_cost_ = 0;
  std::array<double, kinds> least_{1e300, 1e300, 1e300, 1e300};
};

}  // namespace

step_list search(const network& net, const path_options& options) { return large_search(net, options).run(); }

}  // namespace ricci::ordering
