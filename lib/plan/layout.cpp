// The order of the axes of every temporary: so that its consumer finds neighbours where it wants them.
#include "plan/layout.hpp"

#include <algorithm>
#include <numeric>

namespace ricci::planning {

std::vector<int> outer_to_inner(const operand& x) {
  std::vector<int> order(x.labels.size());
  std::iota(order.begin(), order.end(), 0);
  if (x.strides.size() == x.labels.size())
    std::stable_sort(order.begin(), order.end(),
                     [&](int p, int q) { return std::abs(x.strides[p]) > std::abs(x.strides[q]); });
  for (int& d : order) d = x.labels[d];
  return order;
}

std::vector<int> follow(const operand& t, const pair_op& consumer) {
  const operand& other = consumer.a.where == t.where && consumer.a.id == t.id ? consumer.b : consumer.a;
  const std::vector<int> result = outer_to_inner(consumer.c);
  std::vector<int> summed;
  for (int l : outer_to_inner(other))
    if (contains(t.labels, l) && !contains(result, l)) summed.push_back(l);
  for (int l : t.labels)
    if (!contains(result, l) && !contains(summed, l)) summed.push_back(l);
  std::vector<int> order;
  bool placed = false;
  for (int l : result) {
    if (contains(t.labels, l)) {
      order.push_back(l);
    } else if (!placed && contains(other.labels, l)) {
      order.insert(order.end(), summed.begin(), summed.end());
      placed = true;
    }
  }
  if (!placed) order.insert(order.begin(), summed.begin(), summed.end());
  return order;
}

int consumer_of(const work& w, int t) {
  for (std::size_t i = 0; i < w.ops.size(); ++i) {
    const pair_op& op = w.ops[i];
    const bool input = std::any_of(op.inputs.begin(), op.inputs.end(), [&](const operand& x) { return is_temporary(x, t); });
    if (is_temporary(op.a, t) || is_temporary(op.b, t) || input) return static_cast<int>(i);
  }
  return -1;
}

std::vector<std::int64_t> strides_in(const std::vector<int>& order, const std::vector<int>& labels, const work& w) {
  std::vector<std::int64_t> strides(labels.size());
  std::int64_t step = 1;
  for (std::size_t d = order.size(); d-- > 0;) {
    strides[static_cast<std::size_t>(std::find(labels.begin(), labels.end(), order[d]) - labels.begin())] = step;
    step *= w.source.labels[static_cast<std::size_t>(order[d])].extent;
  }
  return strides;
}

namespace {

/// Sets the size of a temporary whose axes have this order, and its strides in those of the operations that `each` goes through.
template <class Each>
void set_order_in(work& w, int t, const std::vector<int>& order, const Each& each) {
  temporary& temp = w.temporaries[static_cast<std::size_t>(t)];
  const std::vector<std::int64_t> strides = strides_in(order, temp.labels, w);
  temp.size = 1;
  for (int l : temp.labels) temp.size *= w.source.labels[static_cast<std::size_t>(l)].extent;
  each([&](pair_op& op) {
    for_each_operand(op, [&](operand& x) {
      if (is_temporary(x, t)) x.strides = strides;
    });
  });
}

}  // namespace

void set_order(work& w, int t, const std::vector<int>& order) {
  set_order_in(w, t, order, [&](const auto& visit) { std::for_each(w.ops.begin(), w.ops.end(), visit); });
}

namespace {

/// Of each temporary the first operation that reads it (-1: none), and all that name it.
struct temporary_uses {
  std::vector<int> consumer;
  std::vector<std::vector<std::size_t>> ops;
};

temporary_uses uses_of(const work& w) {
  temporary_uses to{std::vector<int>(w.temporaries.size(), -1), std::vector<std::vector<std::size_t>>(w.temporaries.size())};
  for (std::size_t i = 0; i < w.ops.size(); ++i) {
    const pair_op& op = w.ops[i];
    const auto read = [&](const operand& x) {
      if (x.where == operand::kind::temporary && to.consumer[static_cast<std::size_t>(x.id)] < 0) to.consumer[static_cast<std::size_t>(x.id)] = static_cast<int>(i);
    };
    read(op.a), read(op.b);
    for (const operand& x : op.inputs) read(x);
    for_each_operand(op, [&](const operand& x) {
      if (x.where != operand::kind::temporary) return;
      std::vector<std::size_t>& all = to.ops[static_cast<std::size_t>(x.id)];
      if (all.empty() || all.back() != i) all.push_back(i);
    });
  }
  return to;
}

/// Labels of t in the order of `like`, which has them all or not.
std::vector<int> in_order_of(const operand& like, const std::vector<int>& labels) {
  std::vector<int> order;
  for (int l : outer_to_inner(like))
    if (contains(labels, l)) order.push_back(l);
  for (int l : labels)
    if (!contains(order, l)) order.insert(order.begin(), l);
  return order;
}

}  // namespace

void choose_layouts(work& w, int lane) {
  // From the last consumer back: the result of a consumer has its layout already.
  std::vector<int> sequence(w.temporaries.size());
  std::iota(sequence.begin(), sequence.end(), 0);
  const temporary_uses uses = uses_of(w);
  const auto consumer = [&](int t) { return uses.consumer[static_cast<std::size_t>(t)]; };
  std::stable_sort(sequence.begin(), sequence.end(), [&](int p, int q) { return consumer(p) > consumer(q); });
  for (int t : sequence) {
    const temporary& temp = w.temporaries[t];
    std::vector<int> order = temp.labels;
    if (const int use = consumer(t); use >= 0) {
      const pair_op& op = w.ops[use];
      const operand& x = is_temporary(op.a, t) ? op.a : op.b;
      if (op.what == action::pointwise) order = in_order_of(op.c, temp.labels);
      else if (op.what == action::scatter) order = in_order_of(op.a, temp.labels);
      else if (x.labels == temp.labels) order = follow(x, op);
    }
    if (lane >= 0 && contains(order, lane)) {
      order.erase(std::find(order.begin(), order.end(), lane));
      order.push_back(lane);
    }
    set_order_in(w, t, order, [&](const auto& visit) {
      for (const std::size_t i : uses.ops[static_cast<std::size_t>(t)]) visit(w.ops[i]);
    });
  }
}

}  // namespace ricci::planning
