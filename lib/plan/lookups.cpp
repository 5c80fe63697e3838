// A gather or a scatter-add that is all there is: one step over its table, without blocks and temporaries.
#include "plan/lookups.hpp"

#include <algorithm>

#include "plan/cost.hpp"

namespace ricci::planning {
namespace {

bool is_copy_to(const pair_op& op, const operand& from) {
  return op.what == action::contract && op.a.where == operand::kind::one && op.scale.where == operand::kind::one && op.cut_label < 0 && same_place(op.b, from);
}

/// All labels of y are labels of x.
bool covers(const operand& x, const operand& y) {
  return std::all_of(y.labels.begin(), y.labels.end(), [&](int l) { return has(x, l); });
}

/// What is gathered is stored, or what is conjugated is added: two operations as one.
std::optional<pair_op> joined(const pair_op& first, const pair_op& second) {
  const bool passes = first.c.where == operand::kind::temporary && is_zero(first.beta);
  if (first.what == action::gather && passes && is_copy_to(second, first.c) && covers(second.c, first.c) && first.b.type == second.c.type) {
    pair_op op = first;
    op.c = second.c, op.alpha = second.alpha, op.beta = second.beta;
    op.b.conj = second.b.conj;
    return op;
  }
  if (second.what == action::scatter && passes && is_copy_to(first, first.b) && same_place(second.b, first.c) && is_one(second.alpha) && covers(first.c, first.b) &&
      first.b.type == second.c.type) {
    pair_op op = second;
    op.b = first.b, op.alpha = first.alpha;
    return op;
  }
  return {};
}

std::optional<pair_op> lookup_of(const work& w) {
  if (w.may_overlap) return {};
  std::optional<pair_op> op;
  if (w.ops.size() == 1 && w.ops[0].what == action::scatter) op = w.ops[0];
  if (w.ops.size() == 2 && (w.shares || w.ops[0].what == action::gather)) op = joined(w.ops[0], w.ops[1]);  // a gather may add to the left side itself
  if (op && is_lookup_alone(*op)) return op;
  return {};
}

}  // namespace

bool is_lookup_alone(const pair_op& op) {
  const auto is_external = [](const operand& x) { return x.where == operand::kind::external; };
  const bool converts = op.what == action::gather && compute_type(op.c.type) != op.c.type && !(is_one(op.alpha) && is_zero(op.beta));
  return (op.what == action::gather || op.what == action::scatter) && is_external(op.a) && is_external(op.b) && is_external(op.c) && op.b.type == op.c.type && !converts;
}

std::optional<plan_step> lower_lookup(const work& w, const std::vector<std::int64_t>& extents, double bytes, const machine& m) {
  const std::optional<pair_op> op = lookup_of(w);
  if (!op) return {};
  plan_step s;
  s.op = *op;
  const bool gathers = op->what == action::gather;
  s.how = gathers ? method::gather : method::scatter;
  double count = 1;
  for (std::size_t l = 0; l < extents.size(); ++l) {
    const int label = static_cast<int>(l);
    if (extents[l] == 1 || !(has(op->a, label) || has(op->b, label) || has(op->c, label))) continue;
    s.axes.push_back({label, extents[l], extents[l], stride_of(op->a, label), stride_of(op->b, label), stride_of(op->c, label), group::batch});
    count *= static_cast<double>(extents[l]);
  }
  const auto dense = [&](const step_axis& x) { return std::abs(gathers ? x.c : x.b); };
  std::stable_sort(s.axes.begin(), s.axes.end(), [&](const step_axis& x, const step_axis& y) { return dense(x) > dense(y); });
  if (!gathers || !is_one(op->alpha) || !is_zero(op->beta)) s.flops = count * (is_complex(op->c.type) ? 4 : 1);
  s.seconds = (count * (gathers ? 1 : 1.5) + other_call_cycles) / cycles_per_second(m);
  if (bytes > last_cache(m)) s.memory_seconds = bytes / (m.memory_bandwidth * 1e9);
  return s;
}

}  // namespace ricci::planning
