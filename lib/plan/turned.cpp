// Copies between problems that lie one after the other and problems side by side, done by the products with even or odd
// matrices that read or write what is copied.
#include <algorithm>
#include <limits>
#include <utility>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

// Fibres that are neighbours: numbers between are copied faster. Elements of fibres one after the other: fewer are. Measured.
constexpr std::int64_t few_neighbours = 16, many_neighbours = 32, least_whole = 64;
constexpr std::size_t most_loops = 2;          // that such a kernel takes around the neighbours


class folder {
 public:
  folder(work& w, int lane, const machine& m) : w_(w), lane_(lane), m_(m) {}

  void run() {
    if (!m_.writes_kernels || m_.vector_bytes != 64 || lane_ < 0 || extent(lane_) % 8 != 0) return;
    for (std::size_t i = 0; i < w_.ops.size(); ++i) {
      if (!is_product(w_.ops[i])) continue;
      take_result(w_.ops[i]);
      if (i + 1 < w_.ops.size()) fold_result(i);
      if (w_.ops[i].turned < 0) i -= fold_argument(i);
    }
  }

 private:
  std::int64_t extent(int label) const { return w_.source.labels[static_cast<std::size_t>(label)].extent; }

  static bool is_product(const pair_op& op) {
    return op.what == action::contract && (op.a.parity != 0) != (op.b.parity != 0) && op.scale.where == operand::kind::one && op.c.type == dtype::f64 &&
           op.a.type == dtype::f64 && op.b.type == dtype::f64;
  }
  static operand& argument(pair_op& op) { return op.a.parity != 0 ? op.b : op.a; }

  /// c = b.
  static bool is_copy(const pair_op& op) {
    return op.what == action::contract && op.a.where == operand::kind::one && op.b.where != operand::kind::one &&
           op.scale.where == operand::kind::one && is_one(op.alpha) && is_zero(op.beta) && op.b.type == op.c.type && op.b.labels == op.c.labels;
  }

  /// Made for lanes side by side, and for nothing else: a buffer against overlaps stays.
  bool is_turned_copy(const operand& t) const { return t.where == operand::kind::temporary && w_.temporaries[static_cast<std::size_t>(t.id)].from == temporary::origin::copy; }

  /// Turns it, if it can then run as a product in halves.
  void turn(pair_op& op, pair_op turned) const {
    turned.turned = lane_;
    std::vector<std::int64_t> extents;
    for (const auto& l : w_.source.labels) extents.push_back(l.extent);
    plan_step step;
    step.seconds = std::numeric_limits<double>::infinity();
    if (try_halves(turned, extents, m_, step)) op = std::move(turned);
  }

  int uses(const operand& x) const {
    int count = 0;
    for (const pair_op& op : w_.ops) for_each_operand(op, [&](const operand& y) { count += same_place(x, y); });
    return count;
  }

  /// Whether a written kernel turns x, whose product has y on its other side: many fibres that are neighbours in x element
  /// by element, or lie there one after the other, each without gaps.
  bool turns(const operand& x, const operand& y) const {
    if (x.where != operand::kind::external || x.type != dtype::f64 || stride_of(x, lane_) <= 1 || stride_of(y, lane_) != 1) return false;
    struct loop {
      std::int64_t extent, x, y;
    };
    std::vector<loop> loops;
    std::int64_t own = 1, own_step = 0;  // the label along which the fibres of x run
    for (int l : x.labels) {
      if (l == lane_) continue;
      if (contains(y.labels, l)) loops.push_back({extent(l), stride_of(x, l), stride_of(y, l)});
      else own = extent(l), own_step = stride_of(x, l);
    }
    std::sort(loops.begin(), loops.end(), [](const loop& p, const loop& q) { return p.x < q.x; });
    std::vector<loop> joined;
    for (const loop& l : loops) {
      if (!joined.empty() && l.x == joined.back().x * joined.back().extent && l.y == joined.back().y * joined.back().extent) joined.back().extent *= l.extent;
      else joined.push_back(l);
    }
    if (joined.empty()) return false;
    const loop& first = joined[0];
    const std::size_t around = joined.size() - 1 + (extent(lane_) > 8);
    const bool good = first.extent <= few_neighbours || first.extent >= many_neighbours;
    const bool beside = first.x == 1 && first.y == extent(lane_) && good;
    const bool whole = own_step == 1 && first.x == own && first.extent * own >= least_whole;
    return (beside || whole) && around <= most_loops;
  }

  /// c = product, or c += product.
  void take_result(pair_op& op) {
    const bool known = is_zero(op.beta) || is_one(op.beta);
    if (known && argument(op).where == operand::kind::temporary && turns(op.c, argument(op))) turn(op, op);
  }

  /// t = product; c = t.
  void fold_result(std::size_t i) {
    pair_op& op = w_.ops[i];
    const pair_op& next = w_.ops[i + 1];
    if (!is_copy(next) || !same_place(next.b, op.c) || !is_turned_copy(op.c) || next.b.labels != op.c.labels || !is_zero(op.beta)) return;
    if (uses(op.c) != 2 || argument(op).where != operand::kind::temporary || !turns(next.c, argument(op))) return;
    pair_op turned = op;
    turned.c = next.c;
    turn(op, std::move(turned));
    if (op.turned >= 0) w_.ops.erase(w_.ops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }

  /// t = b; product of t. How many operations before i went.
  std::size_t fold_argument(std::size_t i) {
    pair_op& op = w_.ops[i];
    const operand t = argument(op);
    if (!is_turned_copy(t) || op.c.where != operand::kind::temporary || uses(t) != 2) return 0;
    std::size_t j = i;
    while (j-- > 0) {
      const pair_op& before = w_.ops[j];
      if (is_copy(before) && same_place(before.c, t)) break;
      bool stores = before.c.where == operand::kind::external || before.after.at >= 0;  // perhaps to what is to be read
      for (const pointwise_output& x : before.outputs) stores = stores || x.c.where == operand::kind::external;
      if (stores) return 0;
    }
    if (j > i || w_.ops[j].c.labels != t.labels || !turns(w_.ops[j].b, op.c)) return 0;
    pair_op turned = op;
    argument(turned) = w_.ops[j].b;
    turn(op, std::move(turned));
    if (op.turned < 0) return 0;
    w_.ops.erase(w_.ops.begin() + static_cast<std::ptrdiff_t>(j));
    return 1;
  }

  work& w_;
  const int lane_;
  const machine& m_;
};

}  // namespace

void fold_turns(work& w, int lane, const machine& m) { folder(w, lane, m).run(); }

}  // namespace ricci::planning
