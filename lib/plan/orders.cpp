// The order of the axes of temporaries between products that run one after the other, each in one piece: as it costs least.
#include <algorithm>
#include <limits>

#include "plan/layout.hpp"

namespace ricci::planning {
namespace {

constexpr double least_share = 0.01;  // of all seconds: steps below it keep the order that they have

class orderer {
 public:
  orderer(work& w, const machine& m, const options& o) : work_(w), machine_(m), options_(o) {
    for (const label_info& l : w.source.labels) extents_.push_back(l.extent);
  }

  void run() {
    std::vector<double> seconds;
    double total = 0;
    for (const pair_op& op : work_.ops) seconds.push_back(seconds_of(op)), total += seconds.back();
    // From the last operation back: the order of its result is known.
    for (std::size_t i = work_.ops.size(); i-- > 0;) {
      const int a = maker_of(work_.ops[i].a), b = maker_of(work_.ops[i].b);
      const double mine = seconds[i] + (a < 0 ? 0 : seconds[static_cast<std::size_t>(a)]) + (b < 0 ? 0 : seconds[static_cast<std::size_t>(b)]);
      if (mine > least_share * total) choose(i);
      else follow_result(i);
    }
  }

 private:
  double seconds_of(const pair_op& op) const { return lower(op, extents_, {}, machine_, options_).seconds; }

  /// Index of the operation that makes x, if it is a temporary that it alone writes; else -1.
  int maker_of(const operand& x) const {
    int found = -1;
    if (x.where != operand::kind::temporary) return -1;
    for (std::size_t i = 0; i < work_.ops.size(); ++i)
      if (is_temporary(work_.ops[i].c, x.id)) {
        if (found >= 0) return -1;
        found = static_cast<int>(i);
      }
    return found;
  }

  /// Whether operation i is the first to read x, under the labels that it was made with.
  bool is_mine(const operand& x, std::size_t i) const {
    return x.where == operand::kind::temporary && consumer_of(work_, x.id) == static_cast<int>(i) &&
           x.labels == work_.temporaries[static_cast<std::size_t>(x.id)].labels;
  }

  void follow_result(std::size_t i) {
    for (operand pair_op::*side : {&pair_op::a, &pair_op::b})
      if (const operand x = work_.ops[i].*side; is_mine(x, i)) set_order(work_, x.id, follow(x, work_.ops[i]));
  }

  /// Orders in which x may lie: as matrices are, with rows and columns in the order of the result, or as chains want it.
  std::vector<std::vector<int>> orders_of(const operand& x, const operand& other, const pair_op& op, std::size_t i) const {
    if (!is_mine(x, i)) return {outer_to_inner(x)};
    std::vector<int> own, batch, inner_batch, sums;
    const std::vector<int> result = outer_to_inner(op.c);
    for (int l : result)
      if (has(x, l)) (has(other, l) ? batch : own).push_back(l);
    // Batch labels that are the neighbours of the result stay neighbours.
    for (auto l = result.rbegin(); l != result.rend() && contains(batch, *l); ++l) inner_batch.insert(inner_batch.begin(), *l);
    batch.resize(batch.size() - inner_batch.size());
    for (int l : outer_to_inner(other))
      if (has(x, l) && !contains(result, l)) sums.push_back(l);
    for (int l : x.labels)
      if (!contains(result, l) && !contains(sums, l)) sums.push_back(l);
    // Sums that one factor of what makes x has, next to one another.
    std::vector<int> sorted = sums;
    if (const int maker = maker_of(x); maker >= 0 && is_mine(other, i)) {
      const operand& first = work_.ops[static_cast<std::size_t>(maker)].a;
      std::stable_partition(sorted.begin(), sorted.end(), [&](int l) { return has(first, l); });
    }
    std::vector<std::vector<int>> out{follow(x, op)};
    const auto add = [&](const std::vector<int>& p, const std::vector<int>& q) {
      std::vector<int> order = batch;
      for (const std::vector<int>& part : {p, q, inner_batch}) order.insert(order.end(), part.begin(), part.end());
      if (std::find(out.begin(), out.end(), order) == out.end()) out.push_back(std::move(order));
    };
    for (const std::vector<int>* s : {&sums, &sorted}) add(own, *s), add(*s, own);
    return out;
  }

  /// Of what makes x, if x lies in that order and its own factors follow.
  double seconds_to_make(const operand& x, const std::vector<std::int64_t>& strides) const {
    const int maker = maker_of(x);
    if (maker < 0) return 0;
    pair_op op = work_.ops[static_cast<std::size_t>(maker)];
    if (op.what != action::contract) return 0;
    op.c.strides = strides;
    for (operand pair_op::*side : {&pair_op::a, &pair_op::b})
      if (operand& y = op.*side; is_mine(y, static_cast<std::size_t>(maker))) y.strides = strides_in(follow(y, op), y.labels, work_);
    return seconds_of(op);
  }

  void choose(std::size_t i) {
    pair_op op = work_.ops[i];
    const bool a_is_mine = is_mine(op.a, i), b_is_mine = is_mine(op.b, i);
    if (op.what != action::contract || (!a_is_mine && !b_is_mine)) return;
    const auto as = orders_of(op.a, op.b, op, i), bs = orders_of(op.b, op.a, op, i);
    const auto made = [&](const operand& x, bool is_mine, const std::vector<int>& order) {
      return is_mine ? seconds_to_make(x, strides_in(order, x.labels, work_)) : 0;
    };
    std::vector<double> makes_b;
    for (const std::vector<int>& b : bs) makes_b.push_back(made(op.b, b_is_mine, b));
    double least = std::numeric_limits<double>::infinity();
    const std::vector<int>*best_a = &as[0], *best_b = &bs[0];
    for (const std::vector<int>& a : as) {
      if (a_is_mine) op.a.strides = strides_in(a, op.a.labels, work_);
      const double makes_a = made(op.a, a_is_mine, a);
      for (std::size_t n = 0; n < bs.size(); ++n) {
        if (b_is_mine) op.b.strides = strides_in(bs[n], op.b.labels, work_);
        const double seconds = makes_a + makes_b[n] + seconds_of(op);
        if (seconds < 0.999 * least) least = seconds, best_a = &a, best_b = &bs[n];
      }
    }
    if (a_is_mine) set_order(work_, op.a.id, *best_a);
    if (b_is_mine) set_order(work_, op.b.id, *best_b);
  }

  work& work_;
  const machine& machine_;
  const options& options_;
  std::vector<std::int64_t> extents_;
};

}  // namespace

void order_products(work& w, const machine& m, const options& o) { orderer(w, m, o).run(); }

}  // namespace ricci::planning
