// Pointwise operations that run as one: what only they exchange never leaves the first cache.
#include <algorithm>

#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

bool reads(const pair_op& op, const operand& x) {
  const auto input = [&](const operand& y) { return same_place(x, y); };
  return same_place(op.a, x) || same_place(op.b, x) || std::any_of(op.inputs.begin(), op.inputs.end(), input);
}

bool writes(const pair_op& op, const operand& x) {
  return same_place(op.c, x) ||
         std::any_of(op.outputs.begin(), op.outputs.end(), [&](const pointwise_output& o) { return same_place(o.c, x); });
}

/// May `op` run after `other`, which stands behind it?
bool commutes(const pair_op& op, const pair_op& other) {
  if (reads(other, op.c) || writes(other, op.c)) return false;
  return std::none_of(op.inputs.begin(), op.inputs.end(), [&](const operand& x) { return writes(other, x); });
}

/// Does `op` read what `made` makes at other places than those it is computing?
bool reads_turned(const pair_op& op, const pair_op& made) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const operand& x) { return same_place(x, made.c) && x.labels != made.c.labels; });
}

/// The labels, and the one along which c has stride 1.
std::pair<std::vector<int>, int> shape_of(const pair_op& op) {
  std::pair<std::vector<int>, int> out{op.c.labels, -1};
  for (std::size_t d = 0; d < op.c.labels.size(); ++d)
    if (op.c.strides[d] == 1) out.second = op.c.labels[d];
  std::sort(out.first.begin(), out.first.end());
  return out;
}

/// What a group of operations needs; values that only they exchange are no inputs.
struct sizes {
  std::size_t statements = 0, terms = 0, factors = 0;
  std::vector<operand> inputs, outputs;
  void add(const pair_op& op) {
    ++statements, terms += op.terms.size();
    for (const pointwise_term& t : op.terms) factors += t.factors.size();
    for (const operand& x : op.inputs) {
      const bool made = x.where == operand::kind::temporary &&
                        std::any_of(outputs.begin(), outputs.end(), [&](const operand& y) { return same_place(x, y); });
      const auto known = [&](const operand& y) { return same_elements(x, y); };
      if (!made && std::none_of(inputs.begin(), inputs.end(), known)) inputs.push_back(x);
    }
    outputs.push_back(op.c);
  }
  bool fit() const {
    return statements <= kernels::max_pointwise_statements && terms <= kernels::max_pointwise_terms &&
           factors <= kernels::max_pointwise_factors && inputs.size() <= kernels::max_pointwise_inputs;
  }
};

/// One operation of several; `is_read_later` tells which temporaries others need.
template <class F>
pair_op joined(const std::vector<pair_op>& parts, const F& is_read_later) {
  pair_op out = parts.back();
  out.inputs.clear(), out.terms.clear();
  for (const pair_op& part : parts) {
    for (pointwise_term t : part.terms) {
      for (auto& [input, f] : t.factors) {
        const operand& x = part.inputs[static_cast<std::size_t>(input)];
        int at = -1;
        for (std::size_t n = 0; n < out.outputs.size(); ++n)
          if (same_place(out.outputs[n].c, x)) at = static_cast<int>(n);
        if (at >= 0 && x.where == operand::kind::temporary) {
          input = -1 - at;
          continue;
        }
        const auto known = std::find_if(out.inputs.begin(), out.inputs.end(), [&](const operand& y) { return same_elements(x, y); });
        input = static_cast<int>(known - out.inputs.begin());
        if (known == out.inputs.end()) out.inputs.push_back(x);
      }
      out.terms.push_back(std::move(t));
    }
    out.outputs.push_back({part.c, part.beta, static_cast<int>(part.terms.size()), is_read_later(part.c) || !is_zero(part.beta)});  // what is added to is read
  }
  return out;
}

}  // namespace

void group_pointwise(work& w) {
  std::vector<pair_op> out;
  std::vector<pair_op> open;  // operations that wait for more of their kind
  sizes size;
  std::size_t next = 0;
  const auto close = [&] {
    if (open.empty()) return;
    const auto is_read_later = [&](const operand& x) {
      if (x.where != operand::kind::temporary) return true;
      for (std::size_t i = next; i < w.ops.size(); ++i)
        if (reads(w.ops[i], x)) return true;
      return false;
    };
    if (open.size() == 1) out.push_back(std::move(open[0]));
    else out.push_back(joined(open, is_read_later));
    open.clear();
    size = {};
  };
  for (; next < w.ops.size(); ++next) {
    pair_op& op = w.ops[next];
    if (op.what == action::pointwise) {
      sizes more = size;
      more.add(op);
      const bool plain_beta = is_zero(op.beta) || open.empty();
      const bool turned = std::any_of(open.begin(), open.end(), [&](const pair_op& x) { return reads_turned(op, x); });
      if (!open.empty() && (shape_of(op) != shape_of(open[0]) || !more.fit() || !plain_beta || turned)) close();
      size.add(op);
      open.push_back(std::move(op));
      op = open.back();  // still asked what it reads
      continue;
    }
    const bool fits = std::all_of(open.begin(), open.end(), [&](const pair_op& x) { return commutes(x, op); });
    if (!fits) close();
    out.push_back(op);
  }
  close();
  w.ops = std::move(out);
}

}  // namespace ricci::planning
