// Orders of contraction pair by pair: always the pair that looks best now.
#include "plan/path/greedy.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

namespace ricci::ordering {

graph::graph(const network& net, double largest)
    : factor_count(static_cast<int>(net.factors.size())), kept(net.extents.size(), 0), labels(net.factors),
      holders(net.extents.size()), limit(std::log2(std::max(largest, 1.0))) {
  for (std::int64_t e : net.extents) {
    extent.push_back(static_cast<double>(std::max<std::int64_t>(e, 1)));
    weight.push_back(std::log2(extent.back()));
  }
  for (int label : net.result) kept[label] = 1;
  for (int f = 0; f < factor_count; ++f) {
    for (int label : labels[f]) holders[label].push_back(f);
  }
  std::size_t places = 0;
  for (const auto& list : holders) places += list.size();
  hub = std::max(8, static_cast<int>(4 * places / std::max<std::size_t>(holders.size(), 1)));
}

namespace {

constexpr int most_partners = 1000;  // hyperedges have hundreds of members; looking at more does not pay
constexpr double too_large = 1e6;    // added to the score of a result above the limit

// log2(1 + 2^x) without overflow
double log_one_plus(double x) { return x > 50 ? x : std::log2(1 + std::exp2(x)); }

// A monotone picture of 2^out - alpha (2^a + 2^b) that neither overflows nor loses its small values.
double signed_growth(double out, double a, double b, double alpha) {
  const double high = std::max(a, b);
  const double in = alpha > 0 ? std::log2(alpha) + high + std::log2(1 + std::exp2(std::min(a, b) - high)) : -1e9;
  const double large = std::max(out, in), small = std::min(out, in);
  if (large == small) return 0;
  const double difference = log_one_plus(large + std::log2(-std::expm1((small - large) * std::log(2.0))));
  return out > in ? difference : -difference;
}

class greedy_run {
 public:
  greedy_run(const graph& g, const greedy_options& options, random_source& random);
  binary_tree run();

 private:
  struct candidate {
    double score;
    int node, partner;
    bool operator>(const candidate& o) const {
      return std::tie(score, node, partner) > std::tie(o.score, o.node, o.partner);
    }
  };

  double score(int a, int b);
  void offer(int node);       // puts the node's best partner on the heap
  int join(int a, int b);
  void join_the_rest();

  const graph& graph_;
  const greedy_options options_;
  random_source& random_;
  binary_tree tree_;
  std::vector<std::vector<int>> labels_;   // by node, without lone ones
  std::vector<std::vector<int>> holders_;  // by label: live nodes
  std::vector<double> size_;               // by node
  std::vector<char> alive_;
  std::vector<int> label_mark_, node_mark_;
  int stamp_ = 0;
  std::priority_queue<candidate, std::vector<candidate>, std::greater<>> heap_;
};

greedy_run::greedy_run(const graph& g, const greedy_options& options, random_source& random)
    : graph_(g), options_(options), random_(random), holders_(g.holders), label_mark_(g.weight.size(), 0),
      node_mark_(2 * static_cast<std::size_t>(g.factor_count), 0) {
  const auto count = static_cast<std::size_t>(g.factor_count);
  tree_.left.assign(count, -1);
  tree_.right.assign(count, -1);
  alive_.assign(count, 1);
  for (const auto& all : g.labels) {
    double size = 0;
    auto& own = labels_.emplace_back();
    for (int label : all) {
      if (g.lone(label)) continue;
      own.push_back(label);
      size += g.weight[label];
    }
    size_.push_back(size);
  }
}

// The labels of a are marked with the current stamp.
double greedy_run::score(int a, int b) {
  double all = size_[a], out = all;
  for (int label : labels_[b]) {
    const double w = graph_.weight[label];
    if (label_mark_[label] != stamp_) {
      all += w;
      out += w;
    } else if (holders_[label].size() == 2 && !graph_.kept[label]) {
      out -= w;
    }
  }
  double s = options_.by == greedy_options::rule::work ? all + options_.alpha * out
                                                       : signed_growth(out, size_[a], size_[b], options_.alpha);
  if (options_.temperature > 0) s -= options_.temperature * random_.gumbel();
  return out > graph_.limit + 1e-9 ? s + too_large : s;
}

void greedy_run::offer(int node) {
  ++stamp_;
  for (int label : labels_[node]) label_mark_[label] = stamp_;
  node_mark_[node] = stamp_;
  candidate best{0, -1, -1};
  int seen = 0;
  for (int label : labels_[node]) {
    for (int other : holders_[label]) {
      if (node_mark_[other] == stamp_) continue;
      node_mark_[other] = stamp_;
      const candidate c{score(node, other), node, other};
      if (best.node < 0 || best > c) best = c;
      if (++seen == most_partners) break;
    }
    if (seen == most_partners) break;
  }
  if (best.node >= 0) heap_.push(best);
}

int greedy_run::join(int a, int b) {
  const int node = static_cast<int>(tree_.left.size());
  std::vector<int> own;
  double size = 0;
  ++stamp_;
  for (int from : {a, b}) {
    alive_[from] = 0;
    for (int label : labels_[from]) {
      auto& live = holders_[label];
      *std::find(live.begin(), live.end(), from) = live.back();
      live.pop_back();
      if (label_mark_[label] == stamp_) continue;
      label_mark_[label] = stamp_;
      own.push_back(label);
    }
    std::vector<int>().swap(labels_[from]);
  }
  std::erase_if(own, [&](int label) { return holders_[label].empty() && !graph_.kept[label]; });
  for (int label : own) {
    holders_[label].push_back(node);
    size += graph_.weight[label];
  }
  tree_.left.push_back(a);
  tree_.right.push_back(b);
  labels_.push_back(std::move(own));
  size_.push_back(size);
  alive_.push_back(1);
  tree_.root = node;
  return node;
}

// Parts that share no label: the small ones first.
void greedy_run::join_the_rest() {
  using item = std::pair<double, int>;
  std::priority_queue<item, std::vector<item>, std::greater<>> parts;
  for (std::size_t node = 0; node < alive_.size(); ++node) {
    if (alive_[node]) parts.emplace(size_[node], static_cast<int>(node));
  }
  while (parts.size() > 1) {
    const int a = parts.top().second;
    parts.pop();
    const int b = parts.top().second;
    parts.pop();
    const int node = join(a, b);
    parts.emplace(size_[node], node);
  }
}

binary_tree greedy_run::run() {
  for (int f = 0; f < graph_.factor_count; ++f) offer(f);
  while (!heap_.empty()) {
    const candidate c = heap_.top();
    heap_.pop();
    if (!alive_[c.node]) continue;
    // A dead partner: whatever took its place made an offer of its own, so this was the least this node had left.
    offer(alive_[c.partner] ? join(c.node, c.partner) : c.node);
  }
  join_the_rest();
  return std::move(tree_);
}

}  // namespace

binary_tree greedy_tree(const graph& g, const greedy_options& options, random_source& random) {
  return greedy_run(g, options, random).run();
}

}  // namespace ricci::ordering
