// Pointwise operations between products with even or odd matrices along one axis, as one: what they exchange stays in
// registers, and the statements' memory is read while the products compute.
#include <algorithm>
#include <utility>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

// What written kernels take.
constexpr std::int64_t most_rows = 16, most_registers = 32;
constexpr std::int64_t least_turned = 4, least_one_end = 6, least_both_ends = 3;  // rows, measured

bool is_temporary(const operand& x) { return x.where == operand::kind::temporary; }

class joiner {
 public:
  joiner(work& w, int lane, const machine& m) : w_(w), lane_(lane), m_(m) {}

  void run() {
    if (!m_.writes_kernels || m_.vector_bytes != 64 || lane_ < 0 || !w_.shares) return;
    for (std::size_t i = 0; i < w_.ops.size(); ++i) try_join(i);
  }

 private:
  /// A product that may stand at an end.
  struct end {
    std::size_t op = 0;       // its place among the operations
    int at = -1, along = -1;  // which input or output; the operation's label along which it runs
    fibre_product made;
  };

  std::int64_t extent(int label) const { return w_.source.labels[static_cast<std::size_t>(label)].extent; }

  /// c[..., q, ...] = matrix[q, n] b[..., n, ...], everything side by side.
  std::optional<fibre_product> product(const pair_op& op) const {
    if (op.what != action::contract || !is_one(op.alpha) || op.scale.where != operand::kind::one) return {};
    fibre_product out;
    out.matrix = op.a.parity != 0 ? op.a : op.b, out.tensor = op.a.parity != 0 ? op.b : op.a;
    if (out.matrix.parity == 0 || out.matrix.labels.size() != 2 || out.tensor.where == operand::kind::one) return {};
    for (const operand* x : {&std::as_const(out.matrix), &std::as_const(out.tensor), &op.c})
      if (x->type != op.c.type || (x != &out.matrix && stride_of(*x, lane_) != 1)) return {};
    int q = -1, n = -1;
    for (int l : out.matrix.labels) {
      const bool in_b = contains(out.tensor.labels, l), in_c = contains(op.c.labels, l);
      if (in_c && !in_b) q = l;
      if (in_b && !in_c) n = l;
    }
    if (q < 0 || n < 0 || out.tensor.labels.size() != op.c.labels.size()) return {};
    for (int l : op.c.labels)
      if (l != q && !contains(out.tensor.labels, l)) return {};
    out.row = q, out.own = n;
    if (extent(n) < 2 || extent(n) > kernels::max_halves || extent(q) < 2 || extent(q) > kernels::max_halves) return {};
    return out;
  }

  /// A pointwise operation, or a product without a sum as one, whose lanes fill registers.
  std::optional<pair_op> pointwise(const pair_op& given) const {
    pair_op op = given;
    if (op.what == action::contract) {
      const auto fits = [&](const operand& x) {
        return x.where != operand::kind::one && std::is_permutation(x.labels.begin(), x.labels.end(), op.c.labels.begin(), op.c.labels.end());
      };
      if (!fits(op.a) || !fits(op.b) || op.scale.where != operand::kind::one) return {};
      op.what = action::pointwise;
      op.inputs = {op.a, op.b};
      op.terms = {{op.alpha, combine::multiply, {{0, function::identity}, {1, function::identity}}}};
      op.a = op.b = operand{}, op.a.type = op.b.type = op.c.type;
      op.alpha = {1, -1, {}};
    }
    if (op.what != action::pointwise) return {};
    if (op.outputs.empty()) op.outputs.push_back({op.c, op.beta, static_cast<int>(op.terms.size()), true});
    const dtype type = op.c.type;
    const auto width = static_cast<std::int64_t>(64 / size_of(type));
    if ((type != dtype::f64 && type != dtype::f32) || extent(lane_) % width != 0) return {};
    for (const pointwise_output& x : op.outputs)
      if (x.c.type != type || stride_of(x.c, lane_) != 1 || !is_zero(x.beta)) return {};
    for (const operand& x : op.inputs) {
      const std::int64_t s = stride_of(x, lane_);
      if (x.type != type || (s != 0 && s != 1 && type != dtype::f64)) return {};
    }
    for (const pointwise_term& t : op.terms)
      for (const auto& [input, f] : t.factors)
        if (f == function::exp) return {};
    return op;
  }

  int reads(const pair_op& op, const operand& x) const {
    int count = same_place(op.a, x) + same_place(op.b, x) + same_place(op.scale, x) + same_place(op.before.tensor, x) + same_place(op.after.tensor, x);
    for (const operand& y : op.inputs) count += same_place(x, y);
    return count;
  }
  bool writes(const pair_op& op, const operand& x) const {
    return same_place(op.c, x) || same_place(op.after.tensor, x) ||
           std::any_of(op.outputs.begin(), op.outputs.end(), [&](const pointwise_output& o) { return o.stored && same_place(o.c, x); });
  }
  int readers(const operand& x) const {
    int count = 0;
    for (const pair_op& op : w_.ops) count += reads(op, x);
    return count;
  }

  /// Products that give an input of operation i and nothing else.
  std::vector<end> before(const pair_op& op, std::size_t i) const {
    std::vector<end> out;
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const operand& x = op.inputs[k];
      if (!is_temporary(x) || readers(x) != 1) continue;
      std::vector<std::size_t> writers;
      for (std::size_t j = 0; j < w_.ops.size(); ++j)
        if (writes(w_.ops[j], x)) writers.push_back(j);
      if (writers.size() != 1 || writers[0] >= i) continue;
      const pair_op& made = w_.ops[writers[0]];
      const auto found = product(made);
      if (!found || !is_zero(made.beta) || made.c.labels != x.labels || made.c.strides != x.strides) continue;
      bool stays = true;
      for (std::size_t j = writers[0] + 1; j < i; ++j) stays = stays && !writes(w_.ops[j], found->tensor);
      if (!stays || extent(found->own) + 2 > most_registers - extent(found->row)) continue;
      end e{writers[0], static_cast<int>(k), found->row, *found};
      e.made.at = e.at, e.made.along = e.along;
      out.push_back(e);
    }
    return out;
  }

  /// Products that read an output of operation i which nothing else does.
  std::vector<end> after(const pair_op& op, std::size_t i) const {
    std::vector<end> out;
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
      const operand& x = op.outputs[k].c;
      const bool again = std::any_of(op.terms.begin(), op.terms.end(), [&](const pointwise_term& t) {
        return std::any_of(t.factors.begin(), t.factors.end(), [&](const auto& f) { return f.first == -1 - static_cast<int>(k); });
      });
      if (!is_temporary(x) || !op.outputs[k].stored || again || readers(x) != 1) continue;
      std::size_t j = i + 1;
      bool free = true;
      while (j < w_.ops.size() && reads(w_.ops[j], x) == 0) ++j;
      if (j == w_.ops.size()) continue;
      const pair_op& reader = w_.ops[j];
      auto found = product(reader);
      if (!found || !same_place(found->tensor, x) || !(is_zero(reader.beta) || is_one(reader.beta))) continue;
      for (std::size_t b = i + 1; b < j; ++b)
        free = free && !writes(w_.ops[b], x) && !writes(w_.ops[b], reader.c) && reads(w_.ops[b], reader.c) == 0;
      int along = -1;
      for (std::size_t d = 0; d < x.labels.size() && free; ++d) {
        if (found->tensor.labels[d] == found->own) along = x.labels[d];
        else free = found->tensor.labels[d] == x.labels[d];
      }
      if (!free || along < 0 || found->tensor.strides != x.strides || reads(op, reader.c) > 0) continue;
      std::swap(found->row, found->own);
      found->tensor = reader.c, found->beta = reader.beta;
      end e{j, static_cast<int>(k), along, *found};
      e.made.at = e.at, e.made.along = along;
      out.push_back(e);
    }
    return out;
  }

  /// Whether the statements' rows may run along a label, and it pays: inputs that have to be turned go over the stack.
  bool runs_along(const pair_op& op, int label) const {
    if (extent(label) < 2 || extent(label) > most_rows) return false;
    const auto turned = std::count_if(op.inputs.begin(), op.inputs.end(), [&](const operand& x) { return stride_of(x, lane_) > 1; });
    if (turned > 1 && extent(label) < least_turned) return false;
    return std::all_of(op.inputs.begin(), op.inputs.end(), [&](const operand& x) {
      const std::int64_t s = stride_of(x, lane_);
      return s == 0 || s == 1 || stride_of(x, label) == 1;
    });
  }

  void try_join(std::size_t i) {
    auto op = pointwise(w_.ops[i]);
    if (!op) return;
    const end* first = nullptr;
    const end* second = nullptr;
    const std::vector<end> left = before(*op, i), right = after(*op, i);
    for (const end& x : left)
      if (!first && runs_along(*op, x.along)) first = &x;
    for (const end& y : right)
      if (!second && runs_along(*op, y.along) && (!first || first->along == y.along)) second = &y;
    for (const end& x : left)
      for (const end& y : right)
        if ((!first || !second) && x.along == y.along && runs_along(*op, x.along)) first = &x, second = &y;
    if (!first && !second) return;
    const std::int64_t rows = extent(first ? first->along : second->along);
    if (rows < (first && second ? least_both_ends : least_one_end)) return;
    std::vector<std::size_t> gone;
    if (first) {
      op->before = first->made;
      op->inputs[static_cast<std::size_t>(first->at)].where = operand::kind::one;
      gone.push_back(first->op);
    }
    if (second) {
      op->after = second->made;
      op->outputs[static_cast<std::size_t>(second->at)].stored = false;
      gone.push_back(second->op);
    }
    const bool kept = std::any_of(op->outputs.begin(), op->outputs.end(), [&](const pointwise_output& x) { return x.stored && same_place(x.c, op->c); });
    if (!kept) op->c.where = operand::kind::one;
    w_.ops[i] = std::move(*op);
    std::sort(gone.rbegin(), gone.rend());
    for (std::size_t n : gone) w_.ops.erase(w_.ops.begin() + static_cast<std::ptrdiff_t>(n));
  }

  work& w_;
  const int lane_;
  const machine& m_;
};

}  // namespace

bool joins_fibres(const program& p, const machine& m) {
  if (!m.writes_kernels || m.vector_bytes != 64 || p.statements.size() < 2) return false;
  for (const statement& s : p.statements)
    for (const product& t : s.terms)
      for (const reference& f : t.factors)
        if (f.parity != 0) return true;
  return false;
}

bool has_joined(const plan& p) {
  for (const segment& s : p.segments)
    for (const plan_step& x : s.steps)
      if (x.op.before.at >= 0 && x.op.after.at >= 0) return true;
  return false;
}

void join_fibres(work& w, int lane, const machine& m) { joiner(w, lane, m).run(); }

}  // namespace ricci::planning
