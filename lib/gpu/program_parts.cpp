// Which operations of a program run as one kernel: as many as have elements in common, exchange something, and fit.
#include "gpu/program_parts.hpp"

#include <algorithm>

#include "gpu/step.hpp"
#include "plan/layout.hpp"
#include "plan/multiplied.hpp"

namespace ricci::cuda {

using namespace chains;

namespace {

constexpr std::int64_t longest_label = 64, few_elements = 32;  // within an element; of them
constexpr double most_flops = 4e6, few_flops = 1e8;  // of an element; of all, where elements are few
constexpr double launch = 3e-6;  // seconds

bool uses_slot(const pair_op& op, int slot) {
  const auto is = [&](const operand& x) { return x.where == operand::kind::external && x.id == slot; };
  return is(op.a) || is(op.b) || is(op.c) || std::any_of(op.inputs.begin(), op.inputs.end(), is);
}

/// Different statements that touch the same memory: one is complete before the other begins.
bool must_part(const planning::work& w, const pair_op& x, const pair_op& y) {
  if (x.statement == y.statement) return false;
  return std::any_of(w.source.overlaps.begin(), w.source.overlaps.end(), [&](const overlap& o) {
    return o.verdict != overlap::kind::disjoint && ((uses_slot(x, o.left_slot) && uses_slot(y, o.other_slot)) ||
                                                    (uses_slot(y, o.left_slot) && uses_slot(x, o.other_slot)));
  });
}

bool may_join(const planning::work& w, int first, int next) {
  const auto is_once = [&](int n) { return static_cast<std::size_t>(n) < w.once; };
  if (is_once(first) != is_once(next)) return false;
  for (int n = first; n < next; ++n)
    if (must_part(w, w.ops[static_cast<std::size_t>(n)], w.ops[static_cast<std::size_t>(next)])) return false;
  return true;
}

/// Small elements that have something to exchange.
bool is_worth_it(const planning::work& w, const chain_plan& p, int first, int last) {
  bool exchanges = false;
  for (int n = first; n < last; ++n) {
    const pair_op& op = w.ops[static_cast<std::size_t>(n)];
    exchanges = exchanges || op.what != action::contract ||
                (op.c.where == operand::kind::temporary && !p.outside[static_cast<std::size_t>(op.c.id)]);
    if (op.what != action::contract) continue;
    for (const operand* x : {&op.a, &op.b, &op.c})
      for (const int l : x->labels)
        if (!contains(p.grid, l) && p.extents[static_cast<std::size_t>(l)] > longest_label) return false;
  }
  const double each = p.flops / static_cast<double>(std::max<std::int64_t>(1, p.count));
  return exchanges && each < most_flops && (p.count >= few_elements || p.flops < few_flops);
}

/// What a chain takes about, in seconds: its cycles of a multiprocessor, of which few warps leave many unused. Of 196 chains of two to five
/// operations in four types on an H200 a half took 1.0 to 2.1 times that: where it is close, they stay one kernel.
double estimated_seconds(const chain_plan& p, const gpu_machine& m) {
  constexpr double enough_warps = 24, share = 0.85;
  std::int64_t longest = 1;
  for (const chain_op& x : p.ops)
    if (x.line >= 0) longest = std::max(longest, p.extents[static_cast<std::size_t>(x.line)]);
  const double used = longest > 4 || longest == 1 ? 0.5 : 0.3;  // of the cycles counted: neighbours' words come together
  const double warps = p.config.blocks * p.config.threads / 32.0, clock = 1.7e9;
  const double cycles = used * p.work * static_cast<double>(p.count) / m.multiprocessors * std::max(1.0, enough_warps / warps);
  return std::max(p.bytes / (share * 1e9 * m.bandwidth), cycles / clock);
}

/// What operations take as steps, temporaries in memory: each is looked at once.
class steps {
 public:
  steps(const planning::work& w, const gpu_machine& m) : w_(w), m_(m), known_(w.ops.size(), -1) {
    for (const label_info& l : w.source.labels) extents_.push_back(l.extent);
  }

  /// Seconds of the operations; infinite where there is no such way, or no room for it.
  double seconds(int first, int last) {
    double sum = 0;
    for (int n = first; n < last && sum < never; ++n) sum += seconds(static_cast<std::size_t>(n));
    return sum;
  }

  static constexpr double never = 1e9;

 private:
  double seconds(std::size_t n) {
    const std::int64_t room = most_temporary(m_);
    if (known_[n] >= 0) return known_[n];
    const pair_op& op = w_.ops[n];
    const bool fits = op.c.where != operand::kind::temporary || w_.temporaries[static_cast<std::size_t>(op.c.id)].size <= room / static_cast<std::int64_t>(size_of(op.c.type));
    const bool is_step = op.what == action::contract && op.scale.where == operand::kind::one;
    return known_[n] = is_step && fits ? launch + estimated_seconds(plan_step(shape_of(op, extents_), m_), m_) : never;
  }

  const planning::work& w_;
  const gpu_machine& m_;
  std::vector<std::int64_t> extents_;
  std::vector<double> known_;
};

/// Long lines, and sums that each want all of a tensor, are better off as steps, with temporaries in memory.
bool is_better_in_steps(steps& others, const chain_plan& p, int first, int last, const gpu_machine& m) {
  return !measured_config(p, m) && others.seconds(first, last) < 1.1 * estimated_seconds(p, m);
}

std::optional<chain_plan> chain_of(const planning::work& w, steps& others, int first, int last, const gpu_machine& m) {
  const bool contraction = last - first == 1 && w.ops[static_cast<std::size_t>(first)].what == action::contract;
  if (contraction) return std::nullopt;
  auto p = plan_chain(w, first, last, m);
  if (p && last - first > 1 && (!is_worth_it(w, *p, first, last) || is_better_in_steps(others, *p, first, last, m))) return std::nullopt;
  return p;
}

/// What a program takes about, in seconds; infinite where a configuration of it was measured, or nothing is known.
double estimated_seconds(const planning::work& w, const gpu_machine& m) {
  double sum = 0;
  steps others(w, m);
  for (const program_part& x : parts_of(w, m)) {
    if (x.tiles || (x.chain && measured_config(*x.chain, m))) return steps::never;
    sum += x.chain ? launch + estimated_seconds(*x.chain, m) : others.seconds(x.first, x.last);
  }
  return sum;
}

bool has_all(const operand& x, const std::vector<int>& labels) {
  return std::all_of(labels.begin(), labels.end(), [&](int l) { return contains(x.labels, l); });
}

}  // namespace

void keep_orders(planning::work& w) {
  for (std::size_t n = 0; n < w.ops.size(); ++n) {
    const pair_op op = w.ops[n];  // as it is by now: its factors may have a new order
    if (op.what != action::contract || op.c.where != operand::kind::temporary || reads_result(op.beta)) continue;
    const std::vector<int>& made = w.temporaries[static_cast<std::size_t>(op.c.id)].labels;
    for (const operand* x : {&op.a, &op.b}) {
      const operand& other = x == &op.a ? op.b : op.a;
      const bool same = x->labels.size() == op.c.labels.size() && has_all(*x, op.c.labels) && has_all(op.c, x->labels);
      if (!same || !has_all(op.c, other.labels) || other.labels.size() == x->labels.size()) continue;
      std::vector<int> order;  // the temporary's own labels, where this operation may know them by others
      for (const int l : planning::outer_to_inner(*x)) order.push_back(made[static_cast<std::size_t>(std::find(op.c.labels.begin(), op.c.labels.end(), l) - op.c.labels.begin())]);
      planning::set_order(w, op.c.id, order);
      break;
    }
  }
}

planning::work ordered_work(const program& source, const options& o, const gpu_machine& m) {
  const planning::multiplied_limits limits{double{1 << 20}, 4, 8};
  const auto made = [&](const planning::multiplied_limits* multiplies) {
    planning::work w = planning::make_work(source, o, 0, false, multiplies);
    planning::choose_layouts(w, -1);
    keep_orders(w);
    return w;
  };
  planning::work usual = made(nullptr), other = made(&limits);
  if (other.once == 0) return usual;
  // Tiles of complex doubles take longer than they are estimated to, products of floats beside 16 bits much (measured on an H200).
  const dtype t = source.statements[0].left.type;
  if (size_of(t) == 2) return usual;
  const double of_usual = estimated_seconds(usual, m), of_other = estimated_seconds(other, m), share = t == dtype::c128 ? 0.6 : 0.9;
  return of_usual < steps::never && of_other < share * of_usual ? other : usual;
}

std::vector<program_part> parts_of(const planning::work& w, const gpu_machine& m) {
  if (auto tiles = plan_elementwise(w, m)) return {{0, 1, std::nullopt, std::move(tiles)}};
  std::vector<program_part> parts;
  const int count = static_cast<int>(w.ops.size());
  steps others(w, m);
  for (int first = 0; first < count;) {
    int last = first + 1;
    while (!w.may_overlap && last < count && may_join(w, first, last)) ++last;
    std::optional<chain_plan> chain;
    for (; last > first; --last)
      if ((chain = chain_of(w, others, first, last, m)) || last == first + 1) break;
    parts.push_back({first, last, std::move(chain), std::nullopt});
    first = last;
  }
  return parts;
}

}  // namespace ricci::cuda
