// Which operands must move, in what order, and whether that pays.
#include "gpu/transposed.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

using labels = std::vector<int>;

/// These labels, outermost first as the operand has them.
labels in_order_of(labels group, const operand& x) {
  std::stable_sort(group.begin(), group.end(), [&](int l, int r) { return std::abs(stride_of(x, l)) > std::abs(stride_of(x, r)); });
  return group;
}

labels joined(const labels& x, const labels& y) {
  labels all = x;
  all.insert(all.end(), y.begin(), y.end());
  return all;
}

class mover {
 public:
  mover(const pair_op& op, const std::vector<std::int64_t>& extents, int first) : op_(op), extents_(extents), first_(first) {
    for (const operand* x : {&op.a, &op.b, &op.c})
      for (const int l : x->labels) {
        if (extent(l) == 1 || std::find(seen_.begin(), seen_.end(), l) != seen_.end()) continue;
        seen_.push_back(l);
        const bool a = has(op.a, l), b = has(op.b, l), c = has(op.c, l);
        if (a && b && c) batch_.push_back(l);
        else if (a && c) m_.push_back(l);
        else if (b && c) n_.push_back(l);
        else if (a && b) k_.push_back(l);
        else one_sided_ = true;  // summed in one factor alone
      }
  }

  /// Nothing is summed, and both factors are there.
  bool is_outer() const { return !one_sided_ && k_.empty() && !m_.empty() && !n_.empty(); }

  /// A factor is copied in the order of the result, if its neighbours lie far apart there and it is small beside it.
  transposed_product in_order(double& moved) const {
    constexpr std::int64_t much = 4, far = 32;
    transposed_product t;
    pair_op product = op_;
    const std::int64_t all = size_of_labels(batch_) * size_of_labels(m_) * size_of_labels(n_);
    for (operand* x : {&product.a, &product.b}) {
      labels own;
      for (const int l : x->labels)
        if (extent(l) > 1) own.push_back(l);
      own = in_order_of(own, op_.c);
      const std::int64_t size = size_of_labels(own);
      if (size * much > all || own.size() < 2 || stride_of(op_.c, own.back()) >= far) continue;
      const int nearest = in_order_of(own, *x).back();
      if (nearest == own.back() || std::abs(stride_of(op_.c, nearest)) < far) continue;
      const operand from = *x;
      *x = packed(from, own, t);
      t.ops.push_back(move(from, *x));
      moved += 2.0 * static_cast<double>(size) * static_cast<double>(size_of(x->type));
    }
    if (!t.ops.empty()) t.ops.push_back(product);
    return t;
  }

  /// A small factor is copied so that its lines and its terms are one axis each, where they are in the other factor and the result.
  transposed_product nested(double& moved) const {
    constexpr std::int64_t much = 16;
    transposed_product t;
    pair_op product = op_;
    for (const auto& [x, lines, others] : {std::tuple{&product.a, &m_, &n_}, {&product.b, &n_, &m_}}) {
      const std::int64_t size = size_of_labels(*lines) * sum(), rest = size_of_labels(*others) * std::min(sum(), size_of_labels(*lines));
      const operand from = *x;
      const labels columns = in_order_of(*lines, op_.c), terms = in_order_of(k_, x == &product.a ? op_.b : op_.a);
      if (size * much > rest || is_matrix(from, columns, terms)) continue;
      *x = packed(from, joined(terms, columns), t);
      t.ops.push_back(move(from, *x));
      moved += 2.0 * static_cast<double>(size) * static_cast<double>(size_of(from.type));
    }
    if (!t.ops.empty()) t.ops.push_back(product);
    return t;
  }

  bool has_problem() const { return !one_sided_ && !m_.empty() && !n_.empty() && !k_.empty(); }
  bool has_batch() const { return !batch_.empty(); }
  std::int64_t rows() const { return size_of_labels(m_); }
  std::int64_t cols() const { return size_of_labels(n_); }
  std::int64_t sum() const { return size_of_labels(k_); }

  /// Problems one after the other: operands whose neighbours are those of different problems move.
  transposed_product one_by_one(double& moved) const {
    transposed_product t;
    pair_op product = op_;
    const labels order = in_order_of(batch_, op_.c);
    const auto bring = [&](operand& x, const labels& rows, const labels& cols) {
      if (!is_across(x)) return false;
      x = temporary_for(x, joined(order, rows), cols, t);
      moved += 2.0 * static_cast<double>(t.temporaries.back().size) * static_cast<double>(size_of(x.type));
      return true;
    };
    for (const auto& [x, rows, cols] : {std::tuple{&product.a, &m_, &k_}, {&product.b, &n_, &k_}}) {
      const operand from = *x;
      if (bring(*x, *rows, *cols)) t.ops.push_back(move(from, *x));
    }
    // What is added to 16 bits is not rounded before.
    const bool added = !is_zero(op_.beta);
    if (added) product.c.type = compute_type(op_.c.type);
    if (!bring(product.c, m_, n_)) {
      product.c.type = op_.c.type;
      t.ops.push_back(product);
      return t;
    }
    pair_op last = move(product.c, op_.c);
    last.beta = op_.beta, product.beta = coefficient{0, -1, {}};
    t.ops.push_back(product), t.ops.push_back(last);
    return t;
  }

  /// Whether 16 bytes of a factor of 16 bits never lie in a row as they lie in memory. False where neighbours are those of different problems, or apart.
  bool begins_anywhere(const operand& x, const labels& other) const {
    const labels fast = in_order_of(neighbours_of(x, other), x);
    if (fast.empty() || stride_of(x, fast.back()) != 1) return false;
    const bool whole = nests(x, fast);
    return std::any_of(x.labels.begin(), x.labels.end(), [&](int l) {
      const bool inside = whole ? std::find(fast.begin(), fast.end(), l) != fast.end() : l == fast.back();
      return extent(l) > 1 && !inside && stride_of(x, l) % of_16_bytes != 0;
    });
  }

  /// Those of a and of b are copied into rows that begin at multiples of lines, and the product is that of the copies, in these orders of labels.
  transposed_product padded(bool a, bool b, bool m_as_a, bool n_as_b, bool k_as_a, double& moved) const {
    transposed_product t;
    pair_op product = op_;
    const labels m = in_order_of(m_, m_as_a ? op_.a : op_.c), n = in_order_of(n_, n_as_b ? op_.b : op_.c), k = in_order_of(k_, k_as_a ? op_.a : op_.b);
    const auto bring = [&](operand& x, const labels& lines) {
      const bool along_k = neighbours_of(x, lines) == k_;
      const operand copy = with_rows(x, along_k ? lines : k, along_k ? k : lines, t);
      t.ops.push_back(move(x, copy));
      moved += 4.0 * static_cast<double>(t.temporaries.back().size);
      x = copy;
    };
    if (a) bring(product.a, m);
    if (b) bring(product.b, n);
    t.ops.push_back(product);
    return t;
  }
  bool has_orders(bool a, bool b) const { return (a && m_.size() > 1) || (b && n_.size() > 1) || k_.size() > 1; }
  const labels& lines_of_a() const { return m_; }
  const labels& lines_of_b() const { return n_; }

  /// The way that moves least, if the library can do its product.
  transposed_product best(double& moved) const {
    transposed_product found;
    for (const bool m_as_a : {true, false})
      for (const bool n_as_b : {true, false})
        for (const bool k_as_a : {true, false}) {
          double bytes = 0;
          transposed_product t = made(in_order_of(m_, m_as_a ? op_.a : op_.c), in_order_of(n_, n_as_b ? op_.b : op_.c), in_order_of(k_, k_as_a ? op_.a : op_.b), bytes);
          if (!t.ops.empty() && (found.ops.empty() || bytes < moved)) found = std::move(t), moved = bytes;
        }
    return found;
  }

 private:
  std::int64_t extent(int l) const { return extents_[static_cast<std::size_t>(l)]; }
  std::int64_t size_of_labels(const labels& g) const {
    std::int64_t n = 1;
    for (const int l : g) n *= extent(l);
    return n;
  }

  bool is_across(const operand& x) const {
    int nearest = -1;
    for (const int l : x.labels)
      if (extent(l) > 1 && (nearest < 0 || std::abs(stride_of(x, l)) < std::abs(stride_of(x, nearest)))) nearest = l;
    return std::find(batch_.begin(), batch_.end(), nearest) != batch_.end();
  }

  /// Whether a group is one axis in this order.
  bool nests(const operand& x, const labels& g) const {
    for (std::size_t d = 1; d < g.size(); ++d)
      if (stride_of(x, g[d - 1]) != stride_of(x, g[d]) * extent(g[d])) return false;
    return true;
  }
  bool is_matrix(const operand& x, const labels& first, const labels& second) const {
    return nests(x, first) && nests(x, second) && (stride_of(x, first.back()) == 1 || stride_of(x, second.back()) == 1);
  }

  /// A packed copy, with the operand's neighbours as neighbours if that is possible.
  operand temporary_for(const operand& x, const labels& first, const labels& second, transposed_product& to) const {
    return packed(x, stride_of(x, first.back()) == 1 ? joined(second, first) : joined(first, second), to);
  }
  operand packed(const operand& x, const labels& order, transposed_product& to) const {
    operand t;
    t.where = operand::kind::temporary;
    t.id = first_ + static_cast<int>(to.temporaries.size());
    t.type = x.type, t.labels = order, t.strides.assign(order.size(), 1);
    t.name = x.name + "'";
    for (std::size_t d = order.size() - 1; d-- > 0;) t.strides[d] = t.strides[d + 1] * extent(order[d + 1]);
    temporary room;
    room.type = x.type, room.labels = order, room.size = t.strides[0] * extent(order[0]);
    to.temporaries.push_back(room);
    return t;
  }
  static constexpr std::int64_t of_16_bytes = 8, of_line = 64;  // elements of 16 bits

  /// The group that a factor's neighbours are in: its lines, or the sum; empty: that of the problems.
  labels neighbours_of(const operand& x, const labels& lines) const {
    int nearest = -1;
    for (const int l : x.labels)
      if (extent(l) > 1 && (nearest < 0 || std::abs(stride_of(x, l)) < std::abs(stride_of(x, nearest)))) nearest = l;
    for (const labels* group : {&lines, &k_})
      if (std::find(group->begin(), group->end(), nearest) != group->end()) return *group;
    return {};
  }

  /// A copy whose rows begin at multiples of lines of memory, or of 16 bytes where that would be much more of it.
  operand with_rows(const operand& x, const labels& slow, const labels& fast, transposed_product& to) const {
    operand t = temporary_for(x, joined(in_order_of(batch_, x), slow), fast, to);
    const auto whole = [](std::int64_t n, std::int64_t of) { return (n + of - 1) / of * of; };
    const std::int64_t row = size_of_labels(fast), line = whole(row, of_line), room = 8 * line <= 9 * row ? line : whole(row, of_16_bytes);
    t.labels = joined(joined(in_order_of(batch_, x), slow), fast);
    std::int64_t next = 1;
    for (std::size_t d = t.labels.size(); d-- > 0;) {
      if (d + 1 == t.labels.size() - fast.size()) next = room;
      t.strides[d] = next, next *= extent(t.labels[d]);
    }
    to.temporaries.back().labels = t.labels, to.temporaries.back().size = next;
    return t;
  }

  static pair_op move(const operand& from, const operand& to) {
    pair_op p;
    p.b = from, p.c = to;
    p.a.type = compute_type(to.type);
    return p;
  }

  transposed_product made(const labels& m, const labels& n, const labels& k, double& moved) const {
    transposed_product t;
    pair_op product = op_;
    const auto bring = [&](operand& x, const labels& first, const labels& second) {
      if (is_matrix(x, first, second)) return;
      const operand copy = temporary_for(x, first, second, t);
      t.ops.push_back(move(x, copy));
      moved += 2.0 * static_cast<double>(t.temporaries.back().size) * static_cast<double>(size_of(x.type));
      x = copy;
    };
    bring(product.a, m, k), bring(product.b, k, n);
    std::optional<pair_op> last;
    if (!is_matrix(op_.c, m, n)) {
      if (size_of(op_.c.type) == 2 && !is_zero(op_.beta)) return {};  // the product would be rounded before c is added
      product.c = temporary_for(op_.c, m, n, t);
      moved += (is_zero(op_.beta) ? 2.0 : 3.0) * static_cast<double>(t.temporaries.back().size) *
               static_cast<double>(size_of(op_.c.type));
      last = move(product.c, op_.c);
      last->beta = op_.beta;
      product.beta = coefficient{0, -1, {}};
    }
    t.ops.push_back(product);
    if (last) t.ops.push_back(*last);
    const blas_call call = blas_call_of(shape_of(product, extents_));
    if (t.ops.size() == 1 || !call.used || count_of(call.calls) != 1) t = {};
    return t;
  }

  const pair_op& op_;
  const std::vector<std::int64_t>& extents_;
  int first_;
  labels seen_, batch_, m_, n_, k_;
  bool one_sided_ = false;
};

/// GFLOP/s of the library's large products, measured on an H200.
double library_rate(dtype t, const gpu_machine& m) {
  switch (t) {
    case dtype::f64:
    case dtype::c128: return 0.88 * m.tensor_f64;
    case dtype::f32: return 0.75 * m.peak_f32;
    case dtype::c64: return 0.80 * m.peak_f32;
    default: return 0.50 * m.tensor_16;
  }
}

/// Whether there is room for the copies.
bool has_room(const transposed_product& t, const gpu_machine& m) {
  std::int64_t bytes = 0;
  for (const temporary& x : t.temporaries) bytes += x.size * static_cast<std::int64_t>(size_of(x.type));
  return bytes <= most_temporary(m);
}

/// For the library: one product of matrices.
transposed_product for_library(const pair_op& op, const mover& way, const step_shape& s, const gpu_machine& m) {
  if (m.blas == blas_use::never || way.has_batch() || op.a.type != op.b.type || op.b.type != op.c.type) return {};
  constexpr std::int64_t least = 64;
  if (std::min({way.rows(), way.cols(), way.sum()}) < (m.blas == blas_use::always ? 2 : least)) return {};
  // The library's products of 16 bits are slow where rows do not begin at multiples of 16 bytes, or sums do not end there.
  if (size_of(op.c.type) == 2 && m.blas != blas_use::always && (way.rows() % 8 != 0 || way.cols() % 8 != 0 || way.sum() % 8 != 0)) return {};
  if (blas_call_of(s).used) return {};
  double moved = 0;
  transposed_product t = way.best(moved);
  if (t.ops.empty() || m.blas == blas_use::always) return t;
  if (!has_room(t, m)) return {};
  const double flops = flops_of(s), bytes = counted_bytes_of(s), per_second = m.bandwidth * 1e9;
  const double product = std::max(flops / (library_rate(op.c.type, m) * 1e9), bytes / (0.7 * per_second));
  const double other = product + moved / (0.7 * per_second) + 4e-6 * static_cast<double>(t.ops.size());
  return 1.15 * other < estimated_seconds(plan_step(s, m), m) ? t : transposed_product{};
}

/// For own kernels: what lies across problems moves, if that and the product take less than the product alone.
transposed_product for_problems(const mover& way, const step_shape& s, const std::vector<std::int64_t>& extents, const gpu_machine& m) {
  if (!way.has_batch() || m.blas == blas_use::always) return {};
  double moved = 0;
  transposed_product t = way.one_by_one(moved);
  if (t.ops.size() == 1 || !has_room(t, m)) return {};
  double seconds = moved / (0.6e9 * m.bandwidth);
  for (const pair_op& part : t.ops) seconds += 3e-6 + (part.a.where == operand::kind::one ? 0 : estimated_seconds(plan_step(shape_of(part, extents), m), m));
  return 1.15 * seconds < estimated_seconds(plan_step(s, m), m) ? t : transposed_product{};
}

/// For own kernels: a product without a sum, its small factors in the order of the result; not if a second launch would take longer.
transposed_product for_outer(const mover& way, const step_shape& s, const gpu_machine& m) {
  constexpr double least = 10e-6;  // seconds
  const double bound = counted_bytes_of(s) / (1e9 * m.bandwidth);
  if (m.blas == blas_use::always || !m.shares || bound < least) return {};
  double moved = 0;
  transposed_product t = way.in_order(moved);
  return !t.ops.empty() && has_room(t, m) ? t : transposed_product{};
}

/// For own kernels: a small factor whose labels do not nest is copied, if the product of matrices and the copy take less than what there was.
transposed_product for_matrices(const mover& way, const step_shape& s, const std::vector<std::int64_t>& extents, const gpu_machine& m) {
  constexpr double launch = 4e-6;
  constexpr std::int64_t least_side = 48;  // shorter ones gain nothing (measured on an H200)
  if (m.blas == blas_use::always || way.has_batch() || std::min({way.rows(), way.cols(), way.sum()}) < least_side) return {};
  double moved = 0;
  transposed_product t = way.nested(moved);
  if (t.ops.empty() || !has_room(t, m)) return {};
  const double seconds = moved / (0.6e9 * m.bandwidth) + launch * static_cast<double>(t.ops.size() - 1) + estimated_seconds(plan_step(shape_of(t.ops.back(), extents), m), m);
  return 1.15 * seconds < estimated_seconds(plan_step(s, m), m) ? t : transposed_product{};
}

/// For own kernels: factors of 16 bits whose rows begin anywhere, which come number by number, are copied into rows that do not.
transposed_product for_rows(const pair_op& op, const mover& way, const step_shape& s, const std::vector<std::int64_t>& extents, const gpu_machine& m) {
  constexpr double least_flops = 5e8, launch = 4e-6;
  constexpr std::int64_t short_side = 48, short_sum = 96;  // what copies save is little then (measured on an H200)
  if (m.blas == blas_use::always || std::min(way.rows(), way.cols()) <= short_side || way.sum() <= short_sum || size_of(op.a.type) != 2 || op.a.type != op.b.type || flops_of(s) < least_flops) return {};
  const bool of_a = way.begins_anywhere(op.a, way.lines_of_a()), of_b = way.begins_anywhere(op.b, way.lines_of_b());
  if (!of_a && !of_b) return {};
  transposed_product best;
  double least = estimated_seconds(plan_step(s, m), m) / 1.15;
  for (const auto& [a, b] : {std::pair{true, true}, {true, false}, {false, true}}) {
    if ((a && !of_a) || (b && !of_b)) continue;
    for (int order = 0; order < (way.has_orders(a, b) ? 8 : 1); ++order) {
      double moved = 0;
      transposed_product t = way.padded(a, b, order & 1, order & 2, order & 4, moved);
      const double seconds = moved / (0.75e9 * m.bandwidth) + launch * static_cast<double>(t.ops.size() - 1) + estimated_seconds(plan_step(shape_of(t.ops.back(), extents), m), m);
      if (seconds < least && has_room(t, m)) least = seconds, best = std::move(t);
    }
  }
  return best;
}

}  // namespace

transposed_product by_transposition(const pair_op& op, const std::vector<std::int64_t>& extents, const gpu_machine& m, int first_temporary) {
  if (op.what != action::contract || op.a.where == operand::kind::one || op.b.where == operand::kind::one || op.scale.where != operand::kind::one) return {};
  const mover way(op, extents, first_temporary);
  const step_shape s = shape_of(op, extents);
  if (way.is_outer()) return for_outer(way, s, m);
  if (!way.has_problem()) return {};
  transposed_product t = way.has_batch() ? for_problems(way, s, extents, m) : for_library(op, way, s, m);
  if (t.ops.empty()) t = for_rows(op, way, s, extents, m);
  return t.ops.empty() ? for_matrices(way, s, extents, m) : t;
}

}  // namespace ricci::cuda
