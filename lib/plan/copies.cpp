// Copies of tensors in other orders, as operations of a work, and the products that such copies may make faster.
#include "plan/copies.hpp"

#include <algorithm>

#include "plan/layout.hpp"

namespace ricci::planning {

operand new_copy(work& w, const operand& x, const std::vector<int>& order) {
  operand t;
  t.where = operand::kind::temporary;
  t.id = static_cast<int>(w.temporaries.size());
  t.type = compute_type(x.type);
  t.name = "t" + std::to_string(t.id);
  t.labels = order, t.strides = strides_in(order, order, w);
  temporary& made = w.temporaries.emplace_back();
  made.type = t.type, made.labels = order, made.size = 1, made.from = temporary::origin::copy;
  for (int l : order) made.size *= w.source.labels[static_cast<std::size_t>(l)].extent;
  return t;
}

pair_op copy_of(operand from, const operand& to, const coefficient& beta, int statement) {
  operand one;
  one.type = compute_type(to.type), from.conj = false;
  return {one, std::move(from), to, {1, -1, {}}, beta, statement};
}

void lay_as_made(work& w) {
  for (std::size_t t = 0; t < w.temporaries.size(); ++t) set_order(w, static_cast<int>(t), w.temporaries[t].labels);
}

std::vector<work> smaller_factor_copied(const work& w) {
  if (w.ops.size() != 1 || w.may_overlap || !w.temporaries.empty()) return {};
  const pair_op& op = w.ops[0];
  if (op.what != action::contract || op.a.where != operand::kind::external || op.b.where != operand::kind::external || op.cut_label >= 0 || op.a.parity != 0 || op.b.parity != 0) return {};
  const auto elements = [&](const operand& x) {
    double n = 1;
    for (int l : x.labels) n *= static_cast<double>(w.source.labels[static_cast<std::size_t>(l)].extent);
    return n;
  };
  const bool second = elements(op.b) < elements(op.a);
  const operand &small = second ? op.b : op.a, &large = second ? op.a : op.b;
  constexpr double least = 4;  // times as many elements as the copy has
  if (elements(large) + elements(op.c) < least * elements(small)) return {};
  std::vector<int> sums, problems, others;
  for (int l : outer_to_inner(large))
    if (has(small, l)) (has(op.c, l) ? problems : sums).push_back(l);
  for (int l : outer_to_inner(op.c))
    if (has(small, l) && !has(large, l)) others.push_back(l);
  std::vector<std::vector<int>> orders{outer_to_inner(small)};
  std::vector<work> all;
  for (const auto& parts : {std::vector{&problems, &others, &sums}, {&problems, &sums, &others}, {&sums, &others, &problems}, {&others, &sums, &problems}}) {
    std::vector<int> order;
    for (const std::vector<int>* part : parts) order.insert(order.end(), part->begin(), part->end());
    if (order.size() != small.labels.size() || std::find(orders.begin(), orders.end(), order) != orders.end()) continue;
    work& copied = all.emplace_back(w);
    pair_op& product = copied.ops[0];
    operand t = new_copy(copied, small, order);
    pair_op copy = copy_of(small, t, {0, -1, {}}, op.statement);
    t.conj = small.conj;
    (second ? product.b : product.a) = std::move(t);
    copied.ops.insert(copied.ops.begin(), std::move(copy));
    orders.push_back(std::move(order));
  }
  return all;
}

}  // namespace ricci::planning
