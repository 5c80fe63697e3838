// Which operations of a program run as one kernel: as many as have elements in common, exchange something, and fit.
#include "gpu/program_parts.hpp"

#include <algorithm>

namespace ricci::cuda {

using namespace chains;

namespace {

constexpr std::int64_t longest_label = 64, few_elements = 32;  // within an element; of them
constexpr double most_flops = 4e6, few_flops = 1e8;  // of an element; of all, where elements are few

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

std::optional<chain_plan> chain_of(const planning::work& w, int first, int last, const gpu_machine& m) {
  const bool contraction = last - first == 1 && w.ops[static_cast<std::size_t>(first)].what == action::contract;
  if (contraction) return std::nullopt;
  auto p = plan_chain(w, first, last, m);
  if (p && last - first > 1 && !is_worth_it(w, *p, first, last)) return std::nullopt;
  return p;
}

}  // namespace

std::vector<program_part> parts_of(const planning::work& w, const gpu_machine& m) {
  if (auto tiles = plan_elementwise(w, m)) return {{0, 1, std::nullopt, std::move(tiles)}};
  std::vector<program_part> parts;
  const int count = static_cast<int>(w.ops.size());
  for (int first = 0; first < count;) {
    int last = first + 1;
    while (!w.may_overlap && last < count && may_join(w, first, last)) ++last;
    std::optional<chain_plan> chain;
    for (; last > first; --last)
      if ((chain = chain_of(w, first, last, m)) || last == first + 1) break;
    parts.push_back({first, last, std::move(chain), std::nullopt});
    first = last;
  }
  return parts;
}

}  // namespace ricci::cuda
