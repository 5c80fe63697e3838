// The order of the axes of a temporary, as its consumer and its makers see it.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace ricci::planning {

inline bool is_temporary(const operand& x, int t) { return x.where == operand::kind::temporary && x.id == t; }

/// Labels of an operand with the largest stride first.
std::vector<int> outer_to_inner(const operand& x);

/// Index of the first operation that reads temporary t, or -1.
int consumer_of(const work& w, int t);

/// Labels of t in the order of its consumer's result; the summed ones stand where the other factor's new label will.
std::vector<int> follow(const operand& t, const pair_op& consumer);

/// Strides of a dense tensor with `labels`, whose axes lie in that order.
std::vector<std::int64_t> strides_in(const std::vector<int>& order, const std::vector<int>& labels, const work& w);

/// Gives temporary t that order wherever it occurs.
void set_order(work& w, int t, const std::vector<int>& order);

}  // namespace ricci::planning
