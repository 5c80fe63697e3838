// Contractions of views whose windows overlap: what lies behind the view is copied, without its repetitions, so that neighbours in memory
// are channels, which tiles read in whole words.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "gpu/step.hpp"
#include "gpu/transposed.hpp"
#include "plan/layout.hpp"

namespace ricci::cuda {
namespace {

using labels = std::vector<int>;

/// Labels of an operand whose windows overlap: together one axis of what lies behind it.
struct shared_axis {
  labels all;
  std::int64_t step = 1, extent = 1;
  int label = -1;  // its own
};

class inside {
 public:
  inside(const pair_op& op, const std::vector<std::int64_t>& extents, int first) : op_(op), extents_(extents), first_(first) {}

  /// The windowed factor is op.a or op.b; nothing if it has no windows or no channels.
  transposed_product move(bool is_a) {
    const operand &x = is_a ? op_.a : op_.b, &y = is_a ? op_.b : op_.a;
    std::vector<shared_axis> axes = shared_axes(x);
    if (axes.empty()) return {};
    for (const int l : x.labels)
      if (stride_of(x, l) < 0) return {};
    const auto is_shared = [&](int l) { return std::any_of(axes.begin(), axes.end(), [&](const shared_axis& s) { return contains(s.all, l); }); };
    labels others;
    for (const int l : x.labels)
      if (!is_shared(l) && extent(l) > 1 && stride_of(x, l) != 0 && !contains(others, l)) others.push_back(l);
    int channel = largest(others, [&](int l) { return !has(op_.c, l); });
    if (channel < 0) channel = largest(others, [&](int l) { return !has(y, l); });
    if (channel < 0 || stride_of(x, channel) == 1) return {};
    pair_op product = op_;
    operand &moved_x = is_a ? product.a : product.b, &moved_y = is_a ? product.b : product.a;
    moved_x = copy_of_windows(x, others, channel, axes);
    const int inner = has(y, channel) ? channel : largest(y.labels, [&](int l) { return !has(x, l); });
    const bool repeats = std::any_of(y.labels.begin(), y.labels.end(), [&](int l) { return stride_of(y, l) == 0; });
    if (inner >= 0 && stride_of(y, inner) != 1 && extent(inner) > 1 && !repeats) moved_y = copy_of(y, inner);
    made_.ops.push_back(product);
    return made_;
  }

 private:
  std::int64_t extent(int l) const { return l < static_cast<int>(extents_.size()) ? extents_[static_cast<std::size_t>(l)] : made_.labels[static_cast<std::size_t>(l) - extents_.size()].extent; }

  template <class May>
  int largest(const labels& all, const May& may) const {
    constexpr std::int64_t few = 8;
    int found = -1;
    for (const int l : all)
      if (may(l) && extent(l) >= few && (found < 0 || extent(l) > extent(found))) found = l;
    return found;
  }

  std::vector<shared_axis> shared_axes(const operand& x) const {
    std::vector<shared_axis> axes;
    labels taken;
    for (const int l : x.labels)
      for (const int r : x.labels) {
        if (l == r || contains(taken, l) || contains(taken, r) || stride_of(x, l) < stride_of(x, r) || !meet_again(stride_of(x, l), extent(l), stride_of(x, r), extent(r))) continue;
        shared_axis s{{l, r}, std::gcd(stride_of(x, l), stride_of(x, r)), 1};
        for (const int m : s.all) s.extent += stride_of(x, m) / s.step * (extent(m) - 1);
        taken.push_back(l), taken.push_back(r);
        axes.push_back(s);
      }
    return axes;
  }

  /// A packed copy in this order of labels.
  operand packed(const operand& x, const labels& order) {
    operand t;
    t.where = operand::kind::temporary;
    t.id = first_ + static_cast<int>(made_.temporaries.size());
    t.type = x.type, t.labels = order, t.strides.assign(order.size(), 1), t.name = x.name + "'";
    for (std::size_t d = order.size() - 1; d-- > 0;) t.strides[d] = t.strides[d + 1] * extent(order[d + 1]);
    temporary room;
    room.type = x.type, room.labels = order, room.size = t.strides[0] * extent(order[0]);
    made_.temporaries.push_back(room);
    return t;
  }

  void add_move(const operand& from, const operand& to) {
    pair_op p;
    p.b = from, p.c = to;
    p.b.conj = false;
    p.a.type = compute_type(to.type);
    made_.ops.push_back(p);
  }

  operand copy_of(const operand& x, int inner) {
    labels order;
    for (const int l : x.labels)
      if (l != inner && !contains(order, l)) order.push_back(l);
    std::stable_sort(order.begin(), order.end(), [&](int l, int r) { return std::abs(stride_of(x, l)) > std::abs(stride_of(x, r)); });
    order.push_back(inner);
    operand t = packed(x, order);
    add_move(x, t);
    t.conj = x.conj;
    return t;
  }

  operand copy_of_windows(const operand& x, labels others, int channel, std::vector<shared_axis>& axes) {
    operand behind = x;
    behind.labels.clear(), behind.strides.clear();
    for (const int l : others) behind.labels.push_back(l), behind.strides.push_back(stride_of(x, l));
    for (shared_axis& s : axes) {
      s.label = static_cast<int>(extents_.size() + made_.labels.size());
      made_.labels.push_back({"window " + std::to_string(made_.labels.size() + 1), s.extent});
      behind.labels.push_back(s.label), behind.strides.push_back(s.step);
    }
    const operand dense = copy_of(behind, channel);
    operand t = dense;
    t.labels.clear(), t.strides.clear();
    for (const int l : x.labels)
      if (stride_of(x, l) == 0) t.labels.push_back(l), t.strides.push_back(0);
    for (const int l : others) t.labels.push_back(l), t.strides.push_back(stride_of(dense, l));
    for (const shared_axis& s : axes)
      for (const int l : s.all) t.labels.push_back(l), t.strides.push_back(stride_of(x, l) / s.step * stride_of(dense, s.label));
    return t;
  }

  const pair_op& op_;
  const std::vector<std::int64_t>& extents_;
  int first_;
  transposed_product made_;
};

double seconds_of(const pair_op& op, const std::vector<std::int64_t>& extents, const gpu_machine& m) { return estimated_seconds(plan_step(shape_of(op, extents), m), m); }

}  // namespace

transposed_product by_moving_windows(const pair_op& op, const std::vector<std::int64_t>& extents, const gpu_machine& m, int first_temporary) {
  if (op.what != action::contract || op.a.where == operand::kind::one || op.b.where == operand::kind::one || op.scale.where != operand::kind::one) return {};
  constexpr double launch = 3e-6, margin = 1.15;
  constexpr std::int64_t room = std::int64_t{4} << 30;
  double least = -1;
  transposed_product best;
  for (const bool is_a : {true, false}) {
    transposed_product t = inside(op, extents, first_temporary).move(is_a);
    std::int64_t bytes = 0;
    for (const temporary& x : t.temporaries) bytes += x.size * static_cast<std::int64_t>(size_of(x.type));
    if (t.ops.empty() || bytes > room) continue;
    if (least < 0) least = seconds_of(op, extents, m);
    std::vector<std::int64_t> all = extents;
    for (const label_info& l : t.labels) all.push_back(l.extent);
    double seconds = 0;
    for (const pair_op& part : t.ops) seconds += launch + seconds_of(part, all, m);
    if (margin * seconds < least) least = margin * seconds, best = std::move(t);
  }
  return best;
}

}  // namespace ricci::cuda
