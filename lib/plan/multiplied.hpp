// Small factors that a large tensor meets one after the other, multiplied with one another first.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace ricci::planning {

/// Pairs of factors, or of what the steps before gave: those are numbered behind the factors.
using contraction_steps = std::vector<std::pair<int, int>>;

/// What an order of contraction is over.
struct contraction {
  std::vector<std::vector<int>> factors;  // their labels
  std::vector<int> result;                // its labels
  std::vector<bool> small;                // factors that may be multiplied out
};

/// Which products of small factors are thought of; as they stand, those of a CPU.
struct multiplied_limits {
  double most = 512;         // elements of what may be multiplied out, and of what comes of it
  double least_uses = 16;    // the large part, before or behind, is so many times as large as what is multiplied out, which is made once for all of it
  double most_madds = 2.5;   // multiply-adds of the one product for each of the several: they fill the lanes better, and pass on nothing
};

struct multiplied_order {
  contraction_steps steps;
  std::size_t made = 0;  // of the first steps: small factors with one another
};

/// Of an order, the one in which small factors that meet a large part one after the other meet each other first: one product
/// of more columns and more sums instead of several of few. Where it is not to be thought of, `made` is 0.
multiplied_order multiplied_out(const contraction_steps& steps, const contraction& of, const std::vector<std::int64_t>& extents, const multiplied_limits& limits = {});

/// Puts these operations, which multiply small factors with one another, before all others. What the others take of theirs
/// lies as those want it: what is summed outside, neighbours as in the large tensors.
void make_once(work& w, const std::vector<std::size_t>& which);

}  // namespace ricci::planning
