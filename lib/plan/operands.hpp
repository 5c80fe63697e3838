// References of a program as operands of its work: labels of extent 1 away, tables gathered, functions applied; and which
// statements are one pointwise operation.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "plan/plan.hpp"
#include "plan/sharing.hpp"

namespace ricci::planning {

/// Emits what it takes to have a factor as an operand.
class operand_maker {
 protected:
  std::int64_t extent(int label) const { return out_.source.labels[label].extent; }

  /// The reference as an operand, without labels of extent 1.
  operand operand_of(const reference& r) const {
    operand x;
    x.where = r.local >= 0 ? operand::kind::temporary : operand::kind::external;
    x.id = r.local >= 0 ? local_[r.local] : r.slot;
    x.type = r.local >= 0 ? compute_type(r.type) : r.type;
    x.conj = r.conj && is_complex(r.type);
    x.name = r.name;
    x.parity = r.local >= 0 ? 0 : r.parity;
    x.memory = r.local >= 0 ? -1 : r.memory;
    x.within_line = r.local < 0 && r.within_line;
    for (const auto& axis : r.axes) {
      if (extent(axis.label) == 1) continue;
      x.labels.push_back(axis.label);
      if (r.local < 0) x.strides.push_back(axis.stride);
    }
    return x;
  }

  operand new_temporary(dtype type, std::vector<int> labels, temporary::origin from = temporary::origin::computed) {
    operand x;
    x.where = operand::kind::temporary;
    x.id = static_cast<int>(out_.temporaries.size());
    x.type = type;
    x.name = "t" + std::to_string(x.id);
    x.labels = labels;
    temporary t;
    t.type = type;
    t.labels = std::move(labels);
    t.from = from;
    out_.temporaries.push_back(std::move(t));
    return x;
  }

  operand one(dtype type) const {
    operand x;
    x.type = type;
    return x;
  }

  void emit(operand a, operand b, operand c, coefficient alpha, coefficient beta) {
    out_.ops.push_back({std::move(a), std::move(b), std::move(c), alpha, std::move(beta), statement_});
  }

  bool is_empty(const product& t) const {
    for (const reference& f : t.factors)
      for (int l : labels_of(f))
        if (extent(l) == 0) return true;
    return false;
  }

  overlap::kind verdict(const reference& left, const reference& other) const {
    if (left.local >= 0 || other.local >= 0) return overlap::kind::disjoint;
    const auto found = verdict_.find({left.slot, other.slot});
    return found == verdict_.end() ? overlap::kind::disjoint : found->second;
  }

  bool sums(const statement& s, const product& t) const {
    const std::vector<int> left = labels_of(s.left);
    for (const reference& f : t.factors)
      for (int l : labels_of(f))
        if (extent(l) > 1 && !contains(left, l)) return true;
    return false;
  }

  /// The labels of a reference that move, tables included.
  std::vector<int> moving_labels(const reference& r) const {
    std::vector<int> labels = labels_of(r);
    std::erase_if(labels, [&](int l) { return extent(l) == 1; });
    return labels;
  }

  std::vector<std::int64_t> strides_along(const std::vector<int>& labels, const std::vector<reference_axis>& axes) const {
    std::vector<std::int64_t> strides(labels.size(), 0);
    for (const auto& axis : axes)
      for (std::size_t d = 0; d < labels.size(); ++d)
        if (labels[d] == axis.label) strides[d] += axis.stride;
    return strides;
  }

  /// The table of a looked-up reference, and the reference itself, over the same labels. Entries are moved by their size.
  std::pair<operand, operand> table_and_tensor(const reference& r) const {
    const lookup& x = r.lookups[0];
    operand table, tensor;
    table.where = tensor.where = operand::kind::external;
    table.id = x.slot, tensor.id = r.slot;
    table.type = x.wide ? dtype::f64 : dtype::f32, tensor.type = r.type;
    table.name = x.name, tensor.name = r.name;
    table.labels = tensor.labels = moving_labels(r);
    table.strides = strides_along(table.labels, x.axes), tensor.strides = strides_along(table.labels, r.axes);
    return {table, tensor};
  }

  void gather(const reference& r, const operand& to) {
    const auto [table, tensor] = table_and_tensor(r);
    emit(table, tensor, to, {1, -1, {}}, {0, -1, {}});
    out_.ops.back().what = action::gather;
    out_.ops.back().table_stride = r.lookups[0].stride;
  }

  /// A factor as an operand; what is looked up is gathered, once for equal factors.
  operand read(const reference& r) {
    if (r.lookups.empty()) return operand_of(r);
    const std::string key = identity_of(r);
    operand x;
    if (const auto known = made_.find(key); known != made_.end()) {
      x = known->second;
    } else {
      x = new_temporary(r.type, moving_labels(r));
      gather(r, x);
      if (shares_) made_[key] = x;
    }
    x.conj = r.conj && is_complex(r.type);
    return x;
  }

  /// A factor with its function applied.
  operand applied(const reference& r) {
    const operand x = read(r);
    if (r.apply == function::identity) return x;
    const operand y = new_temporary(compute_type(r.type), x.labels);
    emit_pointwise({x}, {{{}, combine::multiply, {{0, r.apply}}}}, y, {0, -1, {}});
    return y;
  }

  /// min(x, y) or max(x, y) over the labels of both.
  operand extremum_of(const product& t) {
    const std::vector<operand> inputs{read(t.factors[0]), read(t.factors[1])};
    std::vector<int> labels = inputs[0].labels;
    for (int l : inputs[1].labels)
      if (!contains(labels, l)) labels.push_back(l);
    const operand y = new_temporary(compute_type(inputs[0].type), labels);
    emit_pointwise(inputs, {{{}, t.how, {{0, t.factors[0].apply}, {1, t.factors[1].apply}}}}, y, {0, -1, {}});
    return y;
  }

  void emit_pointwise(std::vector<operand> inputs, std::vector<pointwise_term> terms, const operand& c, coefficient beta) {
    const dtype type = compute_type(c.type);
    emit(one(type), one(type), c, {1, -1, {}}, std::move(beta));
    pair_op& op = out_.ops.back();
    op.what = action::pointwise;
    op.inputs = std::move(inputs), op.terms = std::move(terms);
  }

  /// All of the program: one statement without a sum over tensors in memory, which is more than a copy or an outer product.
  bool is_elementwise(const statement& s, const std::vector<const product*>& terms) const {
    if (out_.source.statements.size() > 1 || out_.may_overlap || s.left.local >= 0 || !s.left.lookups.empty()) return false;
    std::size_t factors = 0;
    for (const product* t : terms) {
      if (sums(s, *t)) return false;
      factors += t->factors.size();
      for (const reference& f : t->factors)
        if (!f.lookups.empty() || (on_cpu_ ? is_complex(f.type) != is_complex(s.left.type) : f.type != s.left.type)) return false;
    }
    if (terms.size() > most_statement_terms || factors > most_statement_factors) return false;
    return terms.size() > 1 || (terms.size() == 1 && (terms[0]->factors.size() > 2 || (on_cpu_ ? is_scaled(s, *terms[0]) : is_wide(s.left) && is_product_of_whole(s, *terms[0]))));
  }

  /// Not conjugate, and with neighbours where the left side has them, or the same element.
  static bool lies_alike(const reference& left, const reference& f) {
    bool alike = !f.conj;
    for (const auto& x : left.axes)
      if (x.stride == 1)
        for (const auto& y : f.axes) alike = alike && (y.label != x.label || y.stride == 1);
    return alike;
  }

  static bool is_wide(const reference& r) { return compute_type(r.type) == r.type; }

  /// A tensor times a coefficient, or times a second one where both have all labels or the one that has them lies otherwise, or a complex one
  /// that lies otherwise and is added. Kernels of moves add else what has no coefficient, and those of products convert 16 bits as they read.
  bool is_scaled(const statement& s, const product& t) const {
    if (!is_wide(s.left) || !std::all_of(t.factors.begin(), t.factors.end(), is_wide)) return false;
    if (t.factors.size() > 1) {
      const auto turns = [&](const reference& f) { return is_whole(s, f) && !lies_alike(s.left, f); };
      return is_product_of_whole(s, t) || (t.factors.size() == 2 && std::any_of(t.factors.begin(), t.factors.end(), turns));
    }
    if (t.scalar >= 0 || t.negate != (s.op == update::subtract)) return true;
    const auto turns = [&](const reference& f) { return !lies_alike(s.left, f) && (s.op != update::assign || f.conj); };
    return is_complex(s.left.type) && std::any_of(t.factors.begin(), t.factors.end(), turns);
  }

  bool is_whole(const statement& s, const reference& f) const { return moving_labels(f).size() == moving_labels(s.left).size(); }
  bool is_product_of_whole(const statement& s, const product& t) const { return t.factors.size() == 2 && is_whole(s, t.factors[0]) && is_whole(s, t.factors[1]); }

  work out_;
  bool on_cpu_ = false;
  std::vector<int> local_;                 // temporary of each local
  int statement_ = 0;
  bool shares_ = false;                    // no tensor is written that is read
  std::map<std::string, operand> made_;    // by what they hold
  std::map<std::pair<int, int>, overlap::kind> verdict_;
};

}  // namespace ricci::planning
