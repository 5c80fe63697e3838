// A product that is multiplied by a tensor element by element, as one step: the sums meet the tensor in registers.
#include <algorithm>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {



/// The strides of x in the order of y's labels are y's.
bool lies_as(const operand& x, const operand& y, const work& w) {
  if (x.labels.size() != y.labels.size() || x.type != y.type) return false;
  for (std::size_t d = 0; d < y.labels.size(); ++d) {
    const auto at = std::find(x.labels.begin(), x.labels.end(), y.labels[d]);
    if (at == x.labels.end()) return false;
    const bool moves = w.source.labels[static_cast<std::size_t>(y.labels[d])].extent > 1;
    if (moves && x.strides[static_cast<std::size_t>(at - x.labels.begin())] != y.strides[d]) return false;
  }
  return true;
}

int readers(const operand& x, const work& w) {
  int count = 0;
  for (const pair_op& op : w.ops)
    for_each_operand(op, [&](const operand& y) { count += same_place(x, y); });
  return count - 1;  // one of them writes it
}

}  // namespace

std::optional<pair_op> scaled(const pair_op& first, const pair_op& second, const work& w, const machine& m) {
  using enum operand::kind;
  const operand& t = first.c;
  if (!m.writes_kernels || !w.shares || first.what != action::contract || second.what != action::contract) return {};
  if (t.where != temporary || !is_zero(first.beta) || !is_one(first.alpha) || !is_one(second.alpha)) return {};
  if (first.a.where == one || first.b.where == one || is_complex(t.type) || readers(t, w) != 1) return {};
  const bool is_a = same_place(second.a, t);
  if (!is_a && !same_place(second.b, t)) return {};
  const operand& by = is_a ? second.b : second.a;
  if (by.where == one || same_place(by, second.c) || !lies_as(by, second.c, w)) return {};
  const operand& read = is_a ? second.a : second.b;
  if (read.labels != t.labels || !std::is_permutation(t.labels.begin(), t.labels.end(), second.c.labels.begin(), second.c.labels.end())) return {};
  pair_op both = first;
  both.c = second.c;
  both.beta = second.beta;
  both.scale = by;
  return both;
}

bool runs_scaled(const plan_step& s) {
  const bool whole = std::all_of(s.axes.begin(), s.axes.end(), [](const step_axis& x) { return x.tile == x.extent; });
  return s.how == method::direct && s.lanes != kernels::lanes::k && s.lane_label >= 0 && whole && !s.buffer_c &&
         (!s.pack_a || s.keep_a) && (!s.pack_b || s.keep_b);
}

}  // namespace ricci::planning
