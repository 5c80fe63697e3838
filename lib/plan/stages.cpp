// What runs together in blocks: labels that all operations share, and runs of operations that share some.
#include <algorithm>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

constexpr std::size_t most_operations = 64;  // of a program that is worth the time to look

bool uses(const pair_op& op, int temporary) {
  bool found = false;
  for_each_operand(op, [&](const operand& x) { found = found || (x.where == operand::kind::temporary && x.id == temporary); });
  return found;
}

/// Labels on one axis of a temporary where operations [first, last) make it and on another where they read it: a block of
/// such a label would read what later blocks make.
std::vector<int> turned_labels(const work& w, std::size_t first, std::size_t last) {
  std::vector<bool> made(w.temporaries.size(), false);
  std::vector<int> turned;
  const auto is_made = [&](const operand& x) { return x.where == operand::kind::temporary && made[static_cast<std::size_t>(x.id)]; };
  for (std::size_t i = first; i < last; ++i)
    if (const operand& c = w.ops[i].c; c.where == operand::kind::temporary) made[static_cast<std::size_t>(c.id)] = true;
  for (std::size_t i = first; i < last; ++i)
    for_each_operand(w.ops[i], [&](const operand& x) {
      if (!is_made(x)) return;
      const std::vector<int>& born = w.temporaries[static_cast<std::size_t>(x.id)].labels;
      for (std::size_t d = 0; d < born.size(); ++d)
        if (born[d] != x.labels[d]) turned.insert(turned.end(), {born[d], x.labels[d]});
    });
  return turned;
}

/// Operations [first, last), with temporaries that others use as tensors in memory: `slots` has their slots, or -1.
/// Strides are set where `strides` has them.
work piece(const work& w, std::size_t first, std::size_t last, const std::vector<int>& slots,
           const std::vector<std::vector<std::int64_t>>& strides) {
  work out = w;
  if (last > w.once) out.once = 0;
  out.turned = turned_labels(w, first, last);
  out.ops.assign(w.ops.begin() + static_cast<std::ptrdiff_t>(first), w.ops.begin() + static_cast<std::ptrdiff_t>(last));
  for (pair_op& op : out.ops)
    for_each_operand(op, [&](operand& x) {
      if (x.where != operand::kind::temporary || slots[static_cast<std::size_t>(x.id)] < 0) return;
      x.where = operand::kind::external;
      x.strides = strides[static_cast<std::size_t>(x.id)];
      x.id = slots[static_cast<std::size_t>(x.id)];
    });
  // What overlaps with a reference of another piece is done before or after.
  const auto is_here = [&](int slot) {
    bool here = false;
    for (const pair_op& op : out.ops)
      for_each_operand(op, [&](const operand& x) { here = here || (x.where == operand::kind::external && x.id == slot); });
    return here;
  };
  std::erase_if(out.source.overlaps, [&](const overlap& x) { return !is_here(x.left_slot) || !is_here(x.other_slot); });
  const auto may = [](const overlap& x) { return x.verdict == overlap::kind::may; };
  out.may_overlap = std::any_of(out.source.overlaps.begin(), out.source.overlaps.end(), may);
  out.shares = std::all_of(out.source.overlaps.begin(), out.source.overlaps.end(),
                           [](const overlap& x) { return x.verdict == overlap::kind::disjoint; });
  return out;
}

/// Temporaries that operations of [first, last) and others use: 1 for each, else -1.
std::vector<int> crossing(const work& w, std::size_t first, std::size_t last) {
  std::vector<int> out(w.temporaries.size(), -1);
  for (std::size_t t = 0; t < out.size(); ++t) {
    bool in = false, elsewhere = false;
    for (std::size_t i = 0; i < w.ops.size(); ++i)
      if (uses(w.ops[i], static_cast<int>(t))) (i >= first && i < last ? in : elsewhere) = true;
    if (in && elsewhere) out[t] = 1;
  }
  return out;
}

/// Two labels, blocks and lanes of problems that lie side by side in one tensor and one after the other in another; or none.
std::vector<int> lanes_in_part(const work& w, const pair_op& op) {
  if (op.a.where == operand::kind::one || op.b.where == operand::kind::one) return {};
  for (const int lane : op.c.labels)
    for (const int block : op.c.labels) {
      const std::int64_t extent = w.source.labels[static_cast<std::size_t>(lane)].extent;
      if (lane == block || extent == 1) continue;
      bool beside = false, in_order = false;
      for_each_operand(op, [&](const operand& x) {
        if (x.where != operand::kind::external || x.strides.empty() || !contains(x.labels, lane) || !contains(x.labels, block)) return;
        const std::int64_t step = stride_of(x, lane);
        const bool nested = stride_of(x, block) == step * extent;
        beside = beside || (step == 1 && !nested), in_order = in_order || (step != 1 && nested);
      });
      if (beside && in_order) return {block, lane};
    }
  return {};
}

/// Labels of a tensor between stages, outermost first: what its makers block over, then as they were.
std::vector<int> layout_of(const temporary& t, const std::vector<int>& common) {
  std::vector<int> order;
  for (int l : common)
    if (contains(t.labels, l)) order.push_back(l);
  for (int l : t.labels)
    if (!contains(order, l)) order.push_back(l);
  return order;
}

}  // namespace

std::vector<int> common_labels(const work& w) {
  constexpr std::size_t most = 8;
  if (w.ops.empty() || w.may_overlap) return {};
  const bool alone = w.ops.size() == 1 && w.ops[0].what == action::contract;
  const bool parts = std::any_of(w.ops.begin(), w.ops.end(), [](const pair_op& op) { return op.cut_label >= 0; });
  if (parts) return {};
  if (alone) return lanes_in_part(w, w.ops[0]);
  std::vector<int> common;
  for (int l : w.ops.front().c.labels) {
    if (common.size() == most) break;
    bool everywhere = !contains(w.turned, l);
    for (const pair_op& op : w.ops) {
      everywhere = everywhere && contains(op.c.labels, l);
      for_each_operand(op, [&](const operand& x) {
        if (x.where != operand::kind::temporary) return;
        const auto& born = w.temporaries[x.id].labels;
        for (std::size_t d = 0; d < born.size(); ++d)
          everywhere = everywhere && (born[d] == l) == (x.labels[d] == l);
      });
    }
    if (everywhere) common.push_back(l);
  }
  return common;
}

staged stages_of(const work& w) {
  if ((w.ops.size() < 3 && w.once == 0) || w.ops.size() > most_operations) return {};
  const auto common_of = [&](std::size_t first, std::size_t last) {
    const std::vector<int> slots = crossing(w, first, last);
    const std::vector<std::vector<std::int64_t>> none(slots.size());
    return common_labels(piece(w, first, last, slots, none));
  };
  const auto longest = [&](const std::vector<int>& labels) {
    int best = -1;
    std::int64_t most = 1;
    for (int l : labels)
      if (const std::int64_t n = w.source.labels[static_cast<std::size_t>(l)].extent; n > most) best = l, most = n;
    return best;
  };
  const auto extent = [&](int l) { return l < 0 ? 0 : w.source.labels[static_cast<std::size_t>(l)].extent; };
  // From the first operation on, as long as the longest label of its start runs through.
  int lead = longest(common_of(0, 2));
  if (w.once == 0 && extent(longest(common_labels(w))) >= std::max<std::int64_t>(extent(lead), 2)) return {};
  std::vector<std::size_t> cuts{0};
  if (w.once > 0) cuts.push_back(w.once);
  bool worth_it = w.once > 0;
  for (std::size_t i = w.once; i + 1 < w.ops.size(); ++i) {
    const std::vector<int> common = common_of(cuts.back(), i + 2);
    if (i == cuts.back()) lead = longest(common);
    if (lead >= 0 && contains(common, lead)) worth_it = true;
    else cuts.push_back(i + 1);
  }
  cuts.push_back(w.ops.size());
  if (!worth_it || cuts.size() < 3) return {};

  staged out;
  std::vector<int> slots(w.temporaries.size(), -1);
  std::vector<std::vector<std::int64_t>> strides(w.temporaries.size());
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    const std::vector<int> mine = crossing(w, cuts[c], cuts[c + 1]);
    const std::vector<int> common = cuts[c + 1] == w.once ? std::vector<int>{} : common_of(cuts[c], cuts[c + 1]);
    for (std::size_t t = 0; t < slots.size(); ++t) {
      if (mine[t] < 0 || slots[t] >= 0) continue;
      slots[t] = w.source.slot_count + static_cast<int>(out.between.size());
      const temporary& x = w.temporaries[t];
      strides[t].assign(x.labels.size(), 0);
      std::int64_t step = 1;
      const std::vector<int> order = layout_of(x, common);
      for (std::size_t d = order.size(); d-- > 0;) {
        const auto axis = std::find(x.labels.begin(), x.labels.end(), order[d]) - x.labels.begin();
        strides[t][static_cast<std::size_t>(axis)] = step;
        step *= w.source.labels[static_cast<std::size_t>(order[d])].extent;
      }
      out.between.push_back(step * static_cast<std::int64_t>(size_of(x.type)));
    }
  }
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) out.works.push_back(piece(w, cuts[c], cuts[c + 1], slots, strides));
  return out;
}

}  // namespace ricci::planning
