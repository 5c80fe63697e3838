// Strides in shared memory, and which of neighbouring threads takes which line, so that few of a warp's accesses meet in a
// bank.
#include <algorithm>
#include <numeric>
#include <set>

#include "gpu/chain.hpp"

namespace ricci::cuda::chains {

bool touches_memory(const chain_plan& p, const chain_pass& pass) {
  return std::any_of(pass.ops.begin(), pass.ops.end(), [&](int n) {
    const chain_op& x = p.ops[static_cast<std::size_t>(n)];
    const auto in = inputs_of(x.op);
    const auto far = [&](const operand& y) { return is_in_memory(p, y) && depends_on_element(p, y); };
    return far(x.op.c) || x.op.what == action::gather || x.op.what == action::scatter || std::any_of(in.begin(), in.end(), [&](const operand* y) { return far(*y); });
  });
}

namespace {

std::int64_t word_of(const chain_plan& p) { return static_cast<std::int64_t>(size_of(compute_type(p.type))); }

std::vector<int> inner_of(const chain_plan& p, const operand& x) {
  std::vector<int> labels;
  for (const int l : x.labels)
    if (!contains(p.grid, l)) labels.push_back(l);
  return labels;
}

/// Where the threads of an access are, as many at a time as there are banks: of each the indices by axis, the element last.
struct thread_places {
  std::size_t banks = 16, axes = 0, tasks = 0;  // axes: with the element
  std::vector<int> index;
};

/// Whether any thread may take any line of the pass.
bool may_deal(const chain_plan& p, const chain_pass& pass) {
  constexpr std::int64_t most_tasks = 2048;
  return p.config.deal && !pass.tensor && product_of(p, pass.fibre) * p.config.elements <= most_tasks && !touches_memory(p, pass);
}

/// Threads own whole lines; of tensor cores, four neighbours have terms of one.
thread_places places_of_threads(const chain_plan& p, const chain_access& a) {
  const chain_pass& pass = *a.pass;
  const chain_op& op = p.ops[static_cast<std::size_t>(a.op)];
  const std::int64_t fibres = product_of(p, pass.fibre), elements = p.config.elements, banks = 128 / word_of(p), quads = pass.tensor ? 4 : 1;
  const std::int64_t tasks = may_deal(p, pass) ? fibres * elements : std::min<std::int64_t>(fibres * elements, 8 * banks / quads);
  // Four neighbours have terms side by side, and values.
  const bool terms = a.reads && !is_elementwise(op) && !contains(a.labels, op.line);
  const int moving = !pass.tensor ? -1 : terms ? op.sum[0] : op.line;
  thread_places to{static_cast<std::size_t>(banks), a.labels.size() + 1, static_cast<std::size_t>(tasks), {}};
  for (std::int64_t thread = 0; thread < (tasks * quads + banks - 1) / banks * banks; ++thread) {
    const std::int64_t task = std::min(thread / quads, tasks - 1);
    const bool fast = pass.element_fastest || pass.by_element;
    std::int64_t f = fast ? task / elements : task % fibres;
    std::vector<int> at(to.axes, 0);
    at.back() = static_cast<int>(fast ? task % elements : task / fibres);
    for (std::size_t d = pass.lanes.size(); d-- > 0;) {
      const std::int64_t extent = p.extents[static_cast<std::size_t>(pass.lanes[d])];
      for (std::size_t x = 0; x < a.labels.size(); ++x)
        if (a.labels[x] == pass.lanes[d]) at[x] = static_cast<int>(f % extent);
      f /= extent;
    }
    for (std::size_t x = 0; x < a.labels.size(); ++x)
      if (a.labels[x] == moving) at[x] = static_cast<int>(std::min(thread % quads, p.extents[static_cast<std::size_t>(moving)] - 1));
    to.index.insert(to.index.end(), at.begin(), at.end());
  }
  return to;
}

/// Cycles beside those without conflicts: as many as different words in the bank that has the most. There are no fewer than one, and
/// they are no longer counted from `enough` on.
double conflicts(const thread_places& t, const std::vector<std::int64_t>& strides, std::int64_t element, double enough) {
  std::int64_t words[32][32], cycles = 0;  // different ones, by bank
  const std::size_t threads = t.index.size() / t.axes, inner = t.axes - 1;
  const double share = static_cast<double>(t.banks) / static_cast<double>(threads);
  for (std::size_t from = 0; from < threads; from += t.banks) {
    int most = 0, hit[32] = {};
    const int* index = &t.index[from * t.axes];
    for (std::size_t n = 0; n < t.banks; ++n, index += t.axes) {
      std::int64_t at = index[inner] * element;
      for (std::size_t x = 0; x < inner; ++x) at += index[x] * strides[x];
      const std::size_t bank = static_cast<std::size_t>(at) & (t.banks - 1);
      std::int64_t* const here = words[bank];
      int& count = hit[bank];
      bool again = false;
      for (int m = count; m-- > 0 && !again;) again = here[m] == at;
      if (!again) here[count] = at, most = std::max(most, ++count);
    }
    cycles += most;
    if (static_cast<double>(cycles) * share >= enough) break;
  }
  return static_cast<double>(cycles) * static_cast<double>(t.banks) / static_cast<double>(threads);
}

std::int64_t place_of(const thread_places& t, std::size_t thread, const std::vector<std::int64_t>& strides, std::int64_t element) {
  const int* const index = &t.index[thread * t.axes];
  std::int64_t at = index[t.axes - 1] * element;
  for (std::size_t x = 0; x + 1 < t.axes; ++x) at += index[x] * strides[x];
  return at;
}

/// The same if lines are dealt out well: no bank can have fewer than it has words.
double dealt_conflicts(const thread_places& t, const std::vector<std::int64_t>& strides, std::int64_t element) {
  const std::size_t threads = t.tasks;
  std::vector<std::size_t> words(t.banks, 0);
  for (std::size_t n = 0; n < threads; ++n) ++words[static_cast<std::size_t>(place_of(t, n, strides, element)) % t.banks];
  const std::size_t least = (threads + t.banks - 1) / t.banks;
  return static_cast<double>(std::max(least, *std::max_element(words.begin(), words.end()))) / static_cast<double>(least);
}

class layout_search {
 public:
  layout_search(const chain_plan& p, const std::vector<std::int64_t>& extents, const std::vector<chain_access>& all) : extents_(extents), rank_(extents.size()) {
    for (const chain_access& a : all) places_.push_back(places_of_threads(p, a)), dealt_.push_back(may_deal(p, *a.pass));
    for (const std::int64_t n : extents) dense_ *= static_cast<double>(n);
    several_ = p.config.elements > 1, banks_ = 128 / word_of(p);
  }

  chain_layout run() {
    best_.strides.assign(rank_, 1);
    if (rank_ == 0) return best_;
    order_.resize(rank_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    pads_.assign(rank_, 0);
    do pad(0);
    while (rank_ <= 3 && std::next_permutation(order_.begin(), order_.end()));
    if (several_) {
      const chain_layout base = best_;
      for (std::int64_t last = 1; last < banks_; ++last) consider(base.strides, base.size + last);
    }
    return best_;
  }

 private:
  /// Room after the outer axes, outermost first.
  void pad(std::size_t d) {
    if (d + 1 >= rank_) {
      std::vector<std::int64_t> strides(rank_, 1);
      for (std::size_t x = rank_ - 1; x-- > 0;) strides[order_[x]] = strides[order_[x + 1]] * extents_[order_[x + 1]] + pads_[x];
      return consider(strides, strides[order_[0]] * extents_[order_[0]]);
    }
    const std::int64_t most = d == 0 ? 7 : rank_ == 3 ? 4 : rank_ > 4 ? 1 : 2;
    for (pads_[d] = 0; pads_[d] <= most; ++pads_[d]) pad(d + 1);
    pads_[d] = 0;
  }

  void consider(const std::vector<std::int64_t>& strides, std::int64_t size) {
    const double room = 1 + 0.3 * (static_cast<double>(size) / dense_ - 1);
    // Sums that are as large as this, by more than roundings, are not counted to their ends: no access takes less than one.
    const double limit = best_.cost * 0.999, enough = limit / room * (1 + 1e-9);
    double cost = 0;
    for (std::size_t n = 0; n < places_.size(); ++n) {
      const double rest = static_cast<double>(places_.size() - n - 1);
      if (cost + 1 + rest >= enough) return;
      cost += dealt_[n] ? dealt_conflicts(places_[n], strides, size) : conflicts(places_[n], strides, size, enough * (1 + 1e-9) - cost - rest);
      if (cost * room >= limit || cost + rest >= enough) return;
    }
    best_ = {strides, size, cost * room};
  }

  const std::vector<std::int64_t>& extents_;
  std::size_t rank_;
  std::vector<thread_places> places_;
  std::vector<char> dealt_;
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> pads_;
  double dense_ = 1;
  std::int64_t banks_ = 16;
  bool several_ = false;
  chain_layout best_{{}, 1, 1e300};
};

using classes = std::map<std::vector<std::int64_t>, std::vector<chain_access>>;

classes classes_of(const chain_plan& p) {
  classes all;
  for (const auto& [id, accesses] : accesses_of(p)) {
    std::vector<std::int64_t> extents;
    for (const int l : p.temporaries[static_cast<std::size_t>(id)])
      if (!contains(p.grid, l)) extents.push_back(p.extents[static_cast<std::size_t>(l)]);
    auto& of_class = all[extents];
    of_class.insert(of_class.end(), accesses.begin(), accesses.end());
  }
  return all;
}

}  // namespace

std::map<int, std::vector<chain_access>> accesses_of(const chain_plan& p) {
  std::map<int, std::vector<chain_access>> all;
  const auto inside = [&](const operand& x) { return x.where == operand::kind::temporary && !is_in_memory(p, x); };
  for (const chain_pass& pass : p.passes)
    for (const int n : pass.ops) {
      const chain_op& x = p.ops[static_cast<std::size_t>(n)];
      for (const operand* in : inputs_of(x.op))
        if (inside(*in) && in_registers(p, pass, n, *in) < 0) all[in->id].push_back({&pass, inner_of(p, *in), true, n});
      if (x.stored && inside(x.op.c)) all[x.op.c.id].push_back({&pass, inner_of(p, x.op.c), false, n});
    }
  return all;
}

chain_layout choose_layout(const chain_plan& p, const std::vector<std::int64_t>& extents, const std::vector<chain_access>& all) {
  return layout_search(p, extents, all).run();
}

void choose_lanes(chain_plan& p) {
  std::map<std::vector<std::int64_t>, double> costs;
  for (const auto& [extents, all] : classes_of(p)) costs[extents] = choose_layout(p, extents, all).cost;
  for (chain_pass& pass : p.passes) {
    // What is in memory wants its neighbours side by side.
    if (touches_memory(p, pass) || pass.lanes.size() != 2) continue;
    for (const bool turned : {true, false}) {
      if (!turned && (p.config.elements < 3 || pass.element_fastest)) continue;
      if (turned) std::swap(pass.lanes[0], pass.lanes[1]);
      else pass.by_element = true;
      std::map<std::vector<std::int64_t>, double> fresh = costs;
      double gain = 0;
      for (const auto& [extents, all] : classes_of(p)) {
        if (std::none_of(all.begin(), all.end(), [&](const chain_access& a) { return a.pass == &pass; })) continue;
        fresh[extents] = choose_layout(p, extents, all).cost;
        gain += costs[extents] - fresh[extents];
      }
      if (gain > 1e-3) costs = fresh;
      else if (turned) std::swap(pass.lanes[0], pass.lanes[1]);
      else pass.by_element = false;
    }
  }
}

namespace {

/// Banks of all tasks for each access, and places, by which equal words are told.
struct task_banks {
  std::size_t banks = 16, tasks = 0;
  std::vector<std::vector<std::int64_t>> places;  // of an access, by task
};

/// Cycles that half warps of tasks in this order take.
std::size_t cycles_of(const task_banks& b, const std::vector<int>& order) {
  std::size_t cycles = 0;
  for (const auto& places : b.places)
    for (std::size_t from = 0; from < order.size(); from += b.banks) {
      std::vector<std::set<std::int64_t>> words(b.banks);
      std::size_t most = 0;
      for (std::size_t n = from; n < std::min(order.size(), from + b.banks); ++n) {
        if (order[n] < 0) continue;
        const std::int64_t at = places[static_cast<std::size_t>(order[n])];
        auto& here = words[static_cast<std::size_t>(at) % b.banks];
        here.insert(at);
        most = std::max(most, here.size());
      }
      cycles += most;
    }
  return cycles;
}

/// Deals tasks to half warps so that none has two in one bank, for the first two accesses. Tasks are edges between the bank
/// of the one and the bank of the other, and half warps are colours: a graph of two sides needs no more colours than a node
/// has edges. Where two ends of an edge miss different colours, these are exchanged along a path.
class dealer {
 public:
  explicit dealer(const task_banks& b) : b_(b), groups_((b.tasks + b.banks - 1) / b.banks), group_of_(b.tasks, -1), at_(2 * b.banks * groups_, -1) {}

  std::vector<int> run() {
    std::vector<int> left;
    for (int task = 0; task < static_cast<int>(b_.tasks); ++task) {
      const int mine = missing(0, task), other = missing(1, task);
      if (mine < 0 || other < 0) {
        left.push_back(task);
        continue;
      }
      if (at(1, bank(1, task), mine) >= 0) turn(task, mine, other);
      put(task, mine);
    }
    std::vector<int> order(groups_ * b_.banks, -1);
    std::vector<std::size_t> size(groups_, 0);
    const auto add = [&](int task, std::size_t group) { order[group * b_.banks + size[group]++] = task; };
    for (int task = 0; task < static_cast<int>(b_.tasks); ++task)
      if (group_of_[static_cast<std::size_t>(task)] >= 0) add(task, static_cast<std::size_t>(group_of_[static_cast<std::size_t>(task)]));
    for (const int task : left) add(task, static_cast<std::size_t>(std::min_element(size.begin(), size.end()) - size.begin()));
    return order;
  }

 private:
  std::size_t bank(std::size_t side, int task) const {
    // Of one access alone, any other side will do that is as even.
    if (side >= b_.places.size()) return static_cast<std::size_t>(task) % b_.banks;
    return static_cast<std::size_t>(b_.places[side][static_cast<std::size_t>(task)]) % b_.banks;
  }
  int& at(std::size_t side, std::size_t bank, int group) { return at_[(side * b_.banks + bank) * groups_ + static_cast<std::size_t>(group)]; }
  int missing(std::size_t side, int task) {
    for (int group = 0; group < static_cast<int>(groups_); ++group)
      if (at(side, bank(side, task), group) < 0) return group;
    return -1;
  }
  void put(int task, int group) {
    at(0, bank(0, task), group) = at(1, bank(1, task), group) = task;
    group_of_[static_cast<std::size_t>(task)] = group;
  }
  /// The path from the task's second end: afterwards that misses `mine` as well.
  void turn(int task, int mine, int other) {
    std::vector<int> path;
    std::size_t side = 1;
    for (int group = mine, next = at(1, bank(1, task), mine); next >= 0;) {
      path.push_back(next);
      side = 1 - side, group = group == mine ? other : mine;
      next = at(side, bank(side, next), group);
    }
    for (const int x : path) {
      const int group = group_of_[static_cast<std::size_t>(x)];
      at(0, bank(0, x), group) = at(1, bank(1, x), group) = -1;
    }
    for (const int x : path) put(x, group_of_[static_cast<std::size_t>(x)] == mine ? other : mine);
  }

  const task_banks& b_;
  std::size_t groups_;
  std::vector<int> group_of_, at_;
};

}  // namespace

std::int64_t deal_tasks(chain_plan& p) {
  constexpr double least_gain = 0.04;
  std::map<const chain_pass*, task_banks> banks;
  for (const auto& [extents, all] : classes_of(p)) {
    const chain_layout layout = choose_layout(p, extents, all);
    for (const chain_access& a : all) {
      if (!may_deal(p, *a.pass)) continue;
      const thread_places t = places_of_threads(p, a);
      task_banks& b = banks[a.pass];
      b.banks = t.banks, b.tasks = static_cast<std::size_t>(product_of(p, a.pass->fibre) * p.config.elements);
      std::vector<std::int64_t> places(b.tasks);
      for (std::size_t n = 0; n < b.tasks; ++n) places[n] = place_of(t, n, layout.strides, layout.size);
      if (std::find(b.places.begin(), b.places.end(), places) == b.places.end()) b.places.push_back(std::move(places));
    }
  }
  std::vector<const chain_pass*> made;
  for (chain_pass& pass : p.passes) {
    const auto found = banks.find(&pass);
    if (found == banks.end()) continue;
    std::vector<int> usual(found->second.tasks);
    std::iota(usual.begin(), usual.end(), 0);
    const std::vector<int> order = dealer(found->second).run();
    if (static_cast<double>(cycles_of(found->second, order)) > (1 - least_gain) * static_cast<double>(cycles_of(found->second, usual))) continue;
    pass.order = order;
    const auto same = std::find_if(made.begin(), made.end(), [&](const chain_pass* x) { return x->order == order; });
    pass.order_at = same == made.end() ? p.order_count : (*same)->order_at;
    if (same == made.end()) made.push_back(&pass), p.order_count += static_cast<std::int64_t>(order.size() + 7) / 8 * 8;
  }
  return p.order_count * 2 / word_of(p);
}

}  // namespace ricci::cuda::chains
