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

/// The operations of a program in the order that is estimated to be fastest: as few operations as there can be, or small factors with one
/// another first, so that the large tensors meet one product of long sides. Temporaries have their layouts.
planning::work ordered_work(const program& source, const options& o, const gpu_machine& m);

/// What only scales a tensor leaves it in the tensor's order: in another it would be a transposition.
void keep_orders(planning::work& w);

/// Every operation in one part, in order. Errors: none; what has no kernel has no part with a chain.
std::vector<program_part> parts_of(const planning::work& w, const gpu_machine& m);

}  // namespace ricci::cuda
