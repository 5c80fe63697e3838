// Copies of tensors in other orders, as operations of a work, and the products that such copies may make faster.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace ricci::planning {

/// A new temporary with the elements of x, dense, the last label innermost. It keeps nothing of x but labels and type.
operand new_copy(work& w, const operand& x, const std::vector<int>& order);

/// to = from + beta * to, element by element; a conjugate tensor is copied as it is.
pair_op copy_of(operand from, const operand& to, const coefficient& beta, int statement);

/// Gives every temporary the order in which its labels were made.
void lay_as_made(work& w);

/// The product of a work of one, with the smaller factor copied first: each copy in another order, its summed labels and those of the
/// problems as they follow one another in the other factor, so that they nest and are one loop, its other labels as in the result.
/// None where that factor is not small, or the work is no product of two tensors in memory.
std::vector<work> smaller_factor_copied(const work& w);

}  // namespace ricci::planning
