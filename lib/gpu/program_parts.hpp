// The kernels of a program: chains of operations, and steps of one.
#pragma once

#include <optional>
#include <vector>

#include "gpu/chain.hpp"
#include "gpu/elementwise.hpp"

namespace ricci::cuda {

struct program_part {
  int first = 0, last = 0;                // operations of the work
  std::optional<chain_plan> chain;        // or
  std::optional<elementwise_plan> tiles;  // or neither: one contraction, by the kernels for steps
};

/// What only scales a tensor leaves it in the tensor's order: in another it would be a transposition.
void keep_orders(planning::work& w);

/// Every operation in one part, in order. Errors: none; what has no kernel has no part with a chain.
std::vector<program_part> parts_of(const planning::work& w, const gpu_machine& m);

}  // namespace ricci::cuda
