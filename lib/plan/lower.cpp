// One pairwise product on one machine: which axis the lanes run along, what is packed, how it is cut into tiles.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/blocked.hpp"
#include "plan/candidate.hpp"
#include "plan/distinct.hpp"
#include "plan/narrow.hpp"
#include "plan/plan.hpp"
#include "plan/rows.hpp"

namespace ricci::planning {
namespace {

using kernels::lanes;

/// The axes of a step with their groups; labels of extent 1 (block labels, mostly) are left out.
std::vector<step_axis> axes_of(const pair_op& op, const std::vector<std::int64_t>& extents) {
  std::vector<step_axis> axes;
  const auto add = [&](int label) {
    if (extents[label] == 1 || label == op.parts_label) return;
    for (const step_axis& x : axes)
      if (x.label == label) return;
    step_axis x{label, extents[label], extents[label], stride_of(op.a, label), stride_of(op.b, label),
                stride_of(op.c, label), group::batch};
    const bool in_a = has(op.a, label), in_b = has(op.b, label);
    if (!has(op.c, label)) x.role = group::k;
    else if (in_a && !in_b) x.role = group::m;
    else if (in_b && !in_a) x.role = group::n;
    if (label == op.cut_label) x.tile = x.part_extent = op.part, x.part = stride_of(op.c, op.parts_label);
    axes.push_back(x);
  };
  for (int l : op.c.labels) add(l);
  for (int l : op.a.labels) add(l);
  for (int l : op.b.labels) add(l);
  return axes;
}

/// Labels that nest in all operands are one axis.
void join_nested(std::vector<step_axis>& axes) {
  join_axes(axes, [](const step_axis& out, const step_axis& in) {
    return out.role == in.role && in.part == 0 && (out.part != 0 || out.tile == out.extent) && in.tile == in.extent && out.a == in.a * in.extent &&
           out.b == in.b * in.extent && out.c == in.c * in.extent;
  });
}

/// The parts of a sum in pieces of about as many terms as are to be added at once, if whole pieces make a part.
void cut_to_pieces(std::vector<step_axis>& axes, const pair_op& op) {
  if (op.piece == 0) return;
  std::int64_t others = 1;
  for (const step_axis& x : axes)
    if (x.role == group::k && x.part == 0) others *= x.extent;
  const std::int64_t wanted = std::max<std::int64_t>(1, op.piece / others);
  for (step_axis& x : axes) {
    if (x.part == 0) continue;
    for (std::int64_t n = 0; n <= wanted / 2; ++n)
      for (const std::int64_t tile : {wanted + n, wanted - n})
        if (x.tile == x.part_extent && tile < x.tile && x.part_extent % tile == 0) x.tile = tile;
  }
}

bool depends(const operand& x, const std::vector<int>& labels) {
  if (x.where == operand::kind::temporary) return true;
  return std::any_of(labels.begin(), labels.end(), [&](int l) { return has(x, l); });
}

/// Batch labels first, then n, m and last the summed ones; within a group the larger steps in c outside.
void order_axes(plan_step& s) {
  const auto rank = [](group g) { return g == group::batch ? 0 : g == group::n ? 1 : g == group::m ? 2 : 3; };
  std::stable_sort(s.axes.begin(), s.axes.end(), [&](const step_axis& x, const step_axis& y) {
    if (rank(x.role) != rank(y.role)) return rank(x.role) < rank(y.role);
    if (x.role == group::k) return std::abs(x.a) + std::abs(x.b) > std::abs(y.a) + std::abs(y.b);
    return std::abs(x.c) > std::abs(y.c);
  });
}

way way_of(const plan_step& s) {
  return {s.how, s.lanes, s.how == method::direct ? s.lane_label : -1, s.pack_a, s.pack_b, s.buffer_c, s.pack_a && s.keep_a, s.pack_b && s.keep_b};
}

class chooser {
 public:
  chooser(const pair_op& op, const std::vector<std::int64_t>& extents, const std::vector<int>& block_labels,
          const machine& m, const options& o)
      : op_(op), swapped_(op), extents_(extents), block_(block_labels), m_(m), o_(o) {}

  plan_step best() {
    std::swap(swapped_.a, swapped_.b);
    if (try_move()) return chosen();  // a copy along both unit strides: nothing is faster
    for (const pair_op* op : {&op_, &std::as_const(swapped_)}) {
      // What is only moved or added has its one in front, where kernels know it: an infinite part times its imaginary part is NaN.
      if (op->b.where == operand::kind::one && op->a.where != operand::kind::one) continue;
      auto axes = axes_of(*op, extents_);
      if (block_.empty()) join_nested(axes);
      cut_to_pieces(axes, *op);
      if (axes.empty()) try_direct(*op, axes, -1, lanes::n);
      for (const step_axis& x : axes) {
        const bool in_a = has(op->a, x.label), in_b = has(op->b, x.label);
        if (x.role == group::k) {
          if (!in_b || op->b.where == operand::kind::one) continue;
          try_direct(*op, axes, x.label, lanes::k);
          if (is_narrow(op->b)) try_direct(*op, axes, x.label, lanes::k, packing::both);
          if (are_alike(*op)) try_direct(*op, axes, x.label, lanes::k, packing::a);
        } else if (in_a && in_b) {
          if (!turns_to_columns(axes)) try_direct(*op, axes, x.label, lanes::batch);
        } else if (!in_a) {
          try_direct(*op, axes, x.label, lanes::n);
          if (may_pack_b_ || goes_on(axes, x)) try_direct(*op, axes, x.label, lanes::n, packing::b);
        }
      }
      if (std::all_of(axes.begin(), axes.end(), [](const step_axis& x) { return x.role == group::k; }))
        try_direct(*op, axes, -1, lanes::n);
      try_blocked(*op, axes);
    }
    for (const rejected_way& x : tried_)
      if (x.what != way_of(best_)) best_.rejected.push_back(x);
    return chosen();
  }

 private:
  plan_step chosen() {
    if (best_op_) best_.op = *best_op_;
    best_.memory_seconds = memory_cycles(best_.op, best_.axes, m_) / cycles_per_second(m_);
    return std::move(best_);
  }

  void offer(plan_step s, const pair_op& op, double cycles) {
    s.seconds = cycles / cycles_per_second(m_);
    const auto known = std::find_if(tried_.begin(), tried_.end(), [what = way_of(s)](const rejected_way& t) { return t.what == what; });
    if (known == tried_.end()) tried_.push_back({way_of(s), s.seconds});
    else known->seconds = std::min(known->seconds, s.seconds);
    if (s.seconds < least_) least_ = s.seconds, best_ = std::move(s), best_op_ = &op;
  }

  /// 16-bit factors of one type.
  static bool are_alike(const pair_op& op) { return is_narrow(op.b) && is_narrow(op.a) && op.a.type == op.b.type; }

  /// What is packed although its lanes are neighbours: b, whose rows are far apart or become longer; in dot products what is then converted once.
  enum class packing { none, a, b, both };

  void try_direct(const pair_op& op, const std::vector<step_axis>& axes, int lane, lanes mode, packing packs = packing::none) {
    candidate c{m_, o_, block_, op, {}, false};
    plan_step& s = c.step;
    s.axes = axes;
    s.lanes = mode;
    s.lane_label = lane;
    const std::int64_t a = stride_of(op.a, lane), b = stride_of(op.b, lane), cc = stride_of(op.c, lane);
    // Kernels written for AVX-512 convert 16-bit numbers on the way, and dot products those that lie along the lanes.
    const bool converts = m_.writes_kernels && m_.isa == "AVX-512" && mode == lanes::n && lane >= 0;
    const bool only_sums = mode == lanes::k && op.a.where == operand::kind::one;
    const bool more_a = packs == packing::a || packs == packing::both, more_b = packs == packing::b || packs == packing::both;
    const bool in_float = compute_type(op.c.type) == dtype::f32;
    const bool dots_b = mode == lanes::k && in_float && is_narrow(op.b) && b == 1 && !more_b && (a == 1 || !is_narrow(op.a));
    const bool dots_a = dots_b && are_alike(op) && a == 1 && !more_a;
    s.pack_a = (is_narrow(op.a) && !dots_a && !(converts && rows_are_short(axes))) || (lane >= 0 && mode != lanes::n && a != 1 && !only_sums);
    s.pack_b = (is_narrow(op.b) && !converts && !dots_b) || (lane >= 0 && b != 1) || more_b;
    s.buffer_c = (is_narrow(op.c) && !converts) || (lane >= 0 && mode != lanes::k && cc != 1);
    s.keep_a = s.pack_a && !block_.empty() && !depends(op.a, block_);
    s.keep_b = s.pack_b && !block_.empty() && !depends(op.b, block_);
    c.fit_tiles();
    c.follow_rows();
    c.follow_rows_of_b();
    c.follow_rows_of_c();
    c.limit_lanes();
    s.in_pieces = std::any_of(s.axes.begin(), s.axes.end(), [](const step_axis& x) { return x.tile < x.part_extent; });
    c.cut_to_pieces();
    if (is_narrow(op.c) && std::any_of(s.axes.begin(), s.axes.end(), [](const step_axis& x) { return x.role == group::k && x.tile != x.extent; }))
      s.buffer_c = true;  // partial sums stay in float
    keep_whole(s, op);
    order_axes(s);
    const double before = c.cycles();
    may_pack_b_ = packs == packing::none && m_.writes_kernels && (c.rows_far_apart() || c.among_others() > 1);
    c.cut_for_threads(before);
    offer(std::move(s), op, before);
  }

  /// Long sums across problems, of a filter's elements for example: either factor may be b, but a tile of a written kernel takes columns
  /// of two axes and rows of one (nest_maker in codegen/nest.cpp).
  bool turns_to_columns(const std::vector<step_axis>& axes) const {
    constexpr std::int64_t most = 64, long_sum = 64;
    std::int64_t rows = 1, columns = 1, sums = 1, row_axes = 0;
    for (const step_axis& x : axes) {
      if (x.role == group::m) rows *= x.extent, ++row_axes;
      if (x.role == group::n) columns *= x.extent;
      if (x.role == group::k) sums *= x.extent;
    }
    return m_.writes_kernels && block_.empty() && row_axes > 1 && columns == 1 && rows <= most && sums >= long_sum &&
           op_.a.where != operand::kind::one && op_.b.where != operand::kind::one;
  }

  /// The lanes of b are parts of a register, and in c another label goes on where they end, so that they are one run of a packed b. It is
  /// smaller than the result, so that packing is the lesser part.
  bool goes_on(const std::vector<step_axis>& axes, const step_axis& lane) const {
    std::int64_t rows = 1, sums = 1;
    for (const step_axis& x : axes) {
      if (x.b == 0) rows *= x.extent;
      if (x.role == group::k && x.b != 0) sums *= x.extent;
    }
    if (rows < sums || lane.b != 1 || lane.c != 1 || lane.extent * static_cast<std::int64_t>(size_of(compute_type(op_.c.type))) % m_.vector_bytes == 0) return false;
    return std::any_of(axes.begin(), axes.end(), [&](const step_axis& x) {
      return x.role == group::n && x.part == 0 && x.c == lane.extent && x.b != lane.extent && x.b != 0;
    });
  }

  /// Offers a copy, if the step is one. True: its unit strides agree.
  bool try_move() {
    const operand& from = op_.a.where == operand::kind::one ? op_.b : op_.a;
    const operand& unit = op_.a.where == operand::kind::one ? op_.a : op_.b;
    const bool plain = op_.alpha == coefficient{1, -1, {}} && unit.where == operand::kind::one && !from.conj &&
                       from.where != operand::kind::one;
    if (!plain || from.labels.size() != op_.c.labels.size()) return false;
    const pair_op& op = &unit == &op_.a ? op_ : swapped_;
    const auto axes = axes_of(op, extents_);
    if (axes.size() > kernels::max_loops) return false;
    candidate c{m_, o_, block_, op, {}, false};
    c.step.how = method::move;
    c.step.axes = axes;
    std::int64_t count = 1;
    bool same = axes.empty(), any_b = false, any_c = false;
    for (const step_axis& x : axes) {
      if (x.role == group::k || x.b == 0) return false;
      count *= x.extent;
      same = same || (x.b == 1 && x.c == 1);
      any_b = any_b || x.b == 1, any_c = any_c || x.c == 1;
    }
    const int turns = register_that_turns(axes, op);
    const double cycles = turns > 0 ? turn_cycles(count, size_of(op.c.type), turns) : move_cycles(count, same, any_b && any_c, op.b.type != op.c.type);
    c.cut_for_threads(cycles);
    order_axes(c.step);
    offer(std::move(c.step), op, cycles);
    return same;
  }

  /// A copy in a block from problems one after the other to some side by side or back, for which a kernel is written: bytes of
  /// its registers; else 0.
  int register_that_turns(const std::vector<step_axis>& axes, const pair_op& op) const {
    const std::size_t size = size_of(op.c.type);
    if (!m_.writes_kernels || block_.empty() || op.b.type != op.c.type || (size != 4 && size != 8) || !is_zero(op.beta)) return 0;
    // How many neighbours there are in one operand with equal steps in the other.
    const auto run = [&](std::int64_t step_axis::*near, std::int64_t step_axis::*far) {
      std::int64_t count = 1, step = 0;
      for (bool grown = true; grown;) {
        grown = false;
        for (const step_axis& x : axes)
          if (x.extent > 1 && x.*near == count && (count == 1 ? x.*far != 1 : x.*far == step * count)) {
            if (count == 1) step = x.*far;
            count *= x.extent, grown = true;
          }
      }
      return count;
    };
    const std::int64_t x = run(&step_axis::c, &step_axis::b), y = run(&step_axis::b, &step_axis::c);
    if (y < 16 / static_cast<std::int64_t>(size) || std::min(x, y) > most_side_by_side) return 0;
    for (int bytes = m_.vector_bytes; bytes >= 32; bytes /= 2)
      if (x * static_cast<std::int64_t>(size) >= bytes) return bytes;
    return 0;
  }

  /// Indices of an operand that name the same element.
  static bool has_windows(const std::vector<step_axis>& axes, std::int64_t step_axis::*stride) {
    return distinct_share(axes, [&](const step_axis& x) { return strided_axis{x.extent, x.*stride}; }) < 1;
  }

  void try_blocked(const pair_op& op, const std::vector<step_axis>& axes) {
    if (!block_.empty()) return;
    auto s = blocked_step(op, axes, m_);
    if (!s) return;
    // What windows repeat is packed from a near cache: where it is close, blocks are faster (a Xeon, gradients of filters).
    constexpr double of_windows = 0.97;
    if (has_windows(axes, &step_axis::a) || has_windows(axes, &step_axis::b)) s->seconds *= of_windows;
    order_axes(*s);
    offer(std::move(*s), op, s->seconds * cycles_per_second(m_));
  }

  const pair_op& op_;
  pair_op swapped_;
  const std::vector<std::int64_t>& extents_;
  const std::vector<int>& block_;
  const machine& m_;
  const options& o_;
  plan_step best_;
  bool may_pack_b_ = false;  // where b lies unfavourably in the way that was tried last
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<rejected_way> tried_;
  const pair_op* best_op_ = nullptr;  // as it was given, or with its factors in turn
};

}  // namespace

plan_step lower(const pair_op& op, const std::vector<std::int64_t>& extents, const std::vector<int>& block_labels,
                const machine& m, const options& o) {
  if (op.what != action::contract) return lower_other(op, extents, m);
  if (op.turned >= 0) {
    plan_step only;
    only.seconds = std::numeric_limits<double>::infinity();
    try_halves(op, extents, m, only);
    return only;
  }
  plan_step best = chooser(op, extents, block_labels, m, o).best();
  try_halves(op, extents, m, best);
  return best;
}

}  // namespace ricci::planning
