// One cut of a set of factors in two, by local moves.
#include "plan/path/cut.hpp"

#include <algorithm>
#include <numeric>

namespace ricci::ordering {
namespace {

constexpr int most_passes = 10;
constexpr double gain_worth = 1e-9;

}  // namespace

cutter::cutter(const graph& g, random_source& random) : graph_(g), random_(random), local_(g.weight.size(), -1) {}

void cutter::load(const std::vector<int>& factors, const std::vector<int>* rank) {
  count_ = static_cast<int>(factors.size());
  nets_.resize(std::max(nets_.size(), factors.size()));
  std::vector<int> seen;
  std::size_t used = 0;
  weight_.clear();
  for (auto& pulls : pulls_) pulls.clear();
  for (int v = 0; v < count_; ++v) {
    nets_[v].clear();
    for (int label : graph_.labels[factors[v]]) {
      if (graph_.holders[label].size() < 2) continue;
      if (local_[label] < 0) {
        local_[label] = static_cast<int>(used++);
        if (pins_.size() < used) pins_.emplace_back();
        pins_[used - 1].clear();
        weight_.push_back(graph_.weight[label]);
        for (auto& pulls : pulls_) pulls.push_back(0);
        for (int f : graph_.holders[label]) {
          if (rank && (*rank)[f] != (*rank)[factors[v]]) pulls_[(*rank)[f] > (*rank)[factors[v]] ? 1 : 0].back() = 1;
        }
      }
      nets_[v].push_back(local_[label]);
      pins_[local_[label]].push_back(v);
    }
  }
  for (auto* list : {&side_, &locked_}) list->assign(count_, 0);
  gain_.assign(count_, 0);
  version_.assign(count_, 0);
}

void cutter::unload(const std::vector<int>& factors) {
  for (int f : factors) {
    for (int label : graph_.labels[f]) local_[label] = -1;
  }
}

// All vertices, those near the starts first.
std::vector<int> cutter::walk_from(const std::vector<int>& starts) const {
  std::vector<int> queue(starts);
  std::vector<char> met(static_cast<std::size_t>(count_), 0);
  for (int v : starts) met[v] = 1;
  int next = 0;
  for (std::size_t i = 0; static_cast<int>(i) < count_; ++i) {
    if (i == queue.size()) {  // another connected part
      while (met[next]) ++next;
      met[next] = 1;
      queue.push_back(next);
    }
    for (int net : nets_[queue[i]]) {
      if (static_cast<int>(pins_[net].size()) > graph_.hub) continue;
      for (int v : pins_[net]) {
        if (met[v]) continue;
        met[v] = 1;
        queue.push_back(v);
      }
    }
  }
  return queue;
}

std::vector<int> cutter::pulled_to(int side) const {
  std::vector<int> list;
  for (int v = 0; v < count_; ++v) {
    const auto& own = nets_[v];
    if (std::any_of(own.begin(), own.end(), [&](int net) {
          return pulls_[side][net] && static_cast<int>(pins_[net].size()) <= graph_.hub;
        })) {
      list.push_back(v);
    }
  }
  return list;
}

// Side 1 becomes what is nearest to what pulls there, or farthest from what pulls to side 0; where nothing pulls,
// what is nearest to a vertex at the edge: one that is far from a random one.
void cutter::grow(int wanted) {
  std::vector<int> order = pulled_to(1);
  if (!order.empty()) {
    order = walk_from(order);
  } else if (order = pulled_to(0); !order.empty()) {
    order = walk_from(order);
    std::reverse(order.begin(), order.end());
  } else {
    order = walk_from({walk_from({random_.below(count_)}).back()});
  }
  std::fill(side_.begin(), side_.end(), 0);
  for (int i = 0; i < wanted; ++i) side_[order[i]] = 1;
}

// Counts and gains from the sides; returns the weight of the cut.
double cutter::weigh() {
  for (int s : {0, 1}) on_[s].assign(pulls_[s].begin(), pulls_[s].end());
  size_[0] = size_[1] = 0;
  for (int v = 0; v < count_; ++v) {
    ++size_[static_cast<int>(side_[v])];
    for (int net : nets_[v]) ++on_[static_cast<int>(side_[v])][net];
  }
  double cut = 0;
  for (std::size_t net = 0; net < weight_.size(); ++net) {
    if (on_[0][net] && on_[1][net]) cut += weight_[net];
  }
  for (int v = 0; v < count_; ++v) {
    const int from = side_[v], to = 1 - from;
    gain_[v] = 0;
    for (int net : nets_[v]) {
      if (on_[from][net] == 1 && on_[to][net]) gain_[v] += weight_[net];
      if (on_[to][net] == 0 && on_[from][net] > 1) gain_[v] -= weight_[net];
    }
  }
  return cut;
}

void cutter::raise(int vertex, double by, bool queue) {
  gain_[vertex] += by;
  if (!queue || locked_[vertex]) return;
  auto& heap = heap_[static_cast<int>(side_[vertex])];
  heap.push_back({gain_[vertex], static_cast<int>(random_.next() >> 40), vertex, ++version_[vertex]});
  std::push_heap(heap.begin(), heap.end());
}

void cutter::move(int vertex, bool queue) {
  const int from = side_[vertex], to = 1 - from;
  const auto raise_one_on = [&](int side, int net, double by) {
    for (int v : pins_[net]) {
      if (v != vertex && side_[v] == side) return raise(v, by, queue);
    }
  };
  side_[vertex] = static_cast<char>(to);
  --size_[from];
  ++size_[to];
  for (int net : nets_[vertex]) {
    const double w = weight_[net];
    if (on_[to][net] == 0) {
      for (int v : pins_[net]) {
        if (v != vertex) raise(v, w, queue);
      }
    } else if (on_[to][net] == 1) {
      raise_one_on(to, net, -w);
    }
    --on_[from][net];
    ++on_[to][net];
    if (on_[from][net] == 0) {
      for (int v : pins_[net]) {
        if (v != vertex) raise(v, -w, queue);
      }
    } else if (on_[from][net] == 1) {
      raise_one_on(from, net, w);
    }
  }
  gain_[vertex] = -gain_[vertex];
}

// The unlocked vertex of best gain whose side can spare it, or -1.
int cutter::take(int least) {
  for (auto& heap : heap_) {
    while (!heap.empty() && (locked_[heap[0].vertex] || version_[heap[0].vertex] != heap[0].version)) {
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
    }
  }
  const bool can[2] = {!heap_[0].empty() && size_[0] > least, !heap_[1].empty() && size_[1] > least};
  if (!can[0] && !can[1]) return -1;
  const int side = !can[0] || (can[1] && heap_[0][0] < heap_[1][0]) ? 1 : 0;
  return heap_[side][0].vertex;
}

// One pass: every vertex moves at most once; what was gained at the best moment stays.
bool cutter::improve(int least) {
  std::fill(locked_.begin(), locked_.end(), 0);
  for (auto& heap : heap_) heap.clear();
  for (int v = 0; v < count_; ++v) raise(v, 0, true);
  std::vector<int> moved;
  double gained = 0, best = 0;
  std::size_t keep = 0;
  const std::size_t patience = 60 + static_cast<std::size_t>(count_) / 8;
  while (moved.size() - keep < patience) {
    const int v = take(least);
    if (v < 0) break;
    locked_[v] = 1;
    gained += gain_[v];
    move(v, true);
    moved.push_back(v);
    if (gained > best + gain_worth) {
      best = gained;
      keep = moved.size();
    }
  }
  while (moved.size() > keep) {
    move(moved.back(), false);
    moved.pop_back();
  }
  return best > gain_worth;
}

int cutter::cut(std::vector<int>& factors, const bisect_options& options, const std::vector<int>* rank) {
  load(factors, rank);
  const int least = std::clamp(static_cast<int>((0.5 - options.imbalance) * count_), 1, count_ / 2);
  std::vector<char> best_side;
  double best = 0;
  const auto late = [&] { return std::chrono::steady_clock::now() > options.deadline; };
  for (int i = 0; i < std::max(options.tries, 1) && (i == 0 || !late()); ++i) {
    grow(least + random_.below(count_ - 2 * least + 1));
    weigh();
    for (int pass = 0; pass < most_passes && !late() && improve(least); ++pass) {
    }
    const double cut = weigh();
    if (!best_side.empty() && cut >= best) continue;
    best = cut;
    best_side = side_;
  }
  unload(factors);
  std::vector<int> sorted;
  for (char side : {0, 1}) {
    for (int v = 0; v < count_; ++v) {
      if (best_side[v] == side) sorted.push_back(factors[v]);
    }
  }
  factors = std::move(sorted);
  return static_cast<int>(std::count(best_side.begin(), best_side.end(), 0));
}

}  // namespace ricci::ordering
