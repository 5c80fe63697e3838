// Products of problems that lie side by side, copied so that the matrices of each problem lie by themselves.
#include "plan/apart.hpp"

#include <algorithm>

#include "plan/copies.hpp"
#include "plan/layout.hpp"

namespace ricci::planning {
namespace {

/// The label of c, a and b along which one of them has neighbours, or -1.
int side_by_side_in(const pair_op& op) {
  for (int l : op.c.labels)
    if (has(op.a, l) && has(op.b, l) && (stride_of(op.a, l) == 1 || stride_of(op.b, l) == 1 || stride_of(op.c, l) == 1)) return l;
  return -1;
}

/// Labels of x, each problem's together in the order in which they lie.
std::vector<int> problem_first(const operand& x, int problem) {
  std::vector<int> labels = outer_to_inner(x);
  labels.erase(std::find(labels.begin(), labels.end(), problem));
  labels.insert(labels.begin(), problem);
  return labels;
}

}  // namespace

std::optional<apart> problems_apart(const work& w) {
  if (w.ops.size() != 1 || w.may_overlap || !w.temporaries.empty()) return {};
  const pair_op& op = w.ops[0];
  if (op.what != action::contract || op.a.where == operand::kind::one || op.b.where == operand::kind::one || op.cut_label >= 0) return {};
  constexpr std::int64_t least = 8;  // rows, columns and sums of smaller problems are multiplied where they lie
  std::int64_t rows = 1, cols = 1, sums = 1;
  const auto extent = [&](int l) { return w.source.labels[static_cast<std::size_t>(l)].extent; };
  for (int l : op.a.labels)
    if (!has(op.c, l)) sums *= extent(l);
    else if (!has(op.b, l)) rows *= extent(l);
  for (int l : op.b.labels)
    if (has(op.c, l) && !has(op.a, l)) cols *= extent(l);
  const int problem = side_by_side_in(op);
  if (problem < 0 || rows < least || cols < least || sums < least) return {};
  apart out{w, {}};
  out.copied.ops.clear();
  pair_op product = op;
  for (operand* x : {&product.a, &product.b}) {
    if (stride_of(*x, problem) != 1) continue;
    operand t = new_copy(out.copied, *x, problem_first(*x, problem));
    out.copied.ops.push_back(copy_of(*x, t, {0, -1, {}}, op.statement));
    t.conj = x->conj;
    *x = std::move(t);
  }
  if (stride_of(op.c, problem) != 1) {
    out.copied.ops.push_back(std::move(product));
  } else {
    product.c = new_copy(out.copied, op.c, problem_first(op.c, problem)), product.beta = {0, -1, {}};
    pair_op back = copy_of(product.c, op.c, op.beta, op.statement);
    out.copied.ops.push_back(std::move(product));
    out.copied.ops.push_back(std::move(back));
  }
  for (int l : op.c.labels)
    if (l != problem && has(op.a, l) && has(op.b, l)) out.block.push_back(l);
  out.block.push_back(problem);
  constexpr std::size_t most_labels = 8;
  if (out.block.size() > most_labels) return {};
  return out;
}

}  // namespace ricci::planning
