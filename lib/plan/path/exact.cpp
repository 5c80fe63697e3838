// The best order of a few factors by dynamic programming over their subsets.
#include "plan/path/exact.hpp"

#include <algorithm>
#include <cmath>

namespace ricci::ordering {
namespace {

constexpr double rounding = 1e-12;

// -1, 0, 1; products above 2^53 carry rounding, which must not hide a tie.
int compare(double a, double b) {
  if (a == b) return 0;
  if (std::abs(a - b) <= rounding * std::max(std::abs(a), std::abs(b))) return 0;
  return a < b ? -1 : 1;
}

}  // namespace

bool better(const order_cost& a, const order_cost& b) {
  if (const int c = compare(a.excess, b.excess)) return c < 0;
  if (const int c = compare(a.flops, b.flops)) return c < 0;
  if (const int c = compare(a.traffic, b.traffic)) return c < 0;
  return compare(a.largest, b.largest) < 0;
}

void subset_solver::begin(int count) {
  count_ = count;
  full_ = (std::uint32_t{1} << count) - 1;
  touched_.assign(full_ + 1, 1.0);
  summed_.assign(full_ + 1, 1.0);
  summed_count_.assign(full_ + 1, 0);
  cost_.resize(full_ + 1);
  split_.assign(full_ + 1, 0);
}

void subset_solver::add_label(std::uint32_t mask, double extent, bool open) {
  touched_[mask] *= extent;
  if (open) return;
  summed_[mask] *= extent;
  ++summed_count_[mask];
}

// Sums over subsets turn "labels with exactly this mask" into "labels with a mask inside this subset": these are the
// summed ones, and all labels but those inside the complement are the touched ones.
void subset_solver::make_tables() {
  for (int bit = 0; bit < count_; ++bit) {
    const std::uint32_t one = std::uint32_t{1} << bit;
    for (std::uint32_t s = 0; s <= full_; ++s) {
      if (!(s & one)) continue;
      touched_[s] *= touched_[s ^ one];
      summed_[s] *= summed_[s ^ one];
      summed_count_[s] += summed_count_[s ^ one];
    }
  }
  const double all = touched_[full_];
  for (std::uint32_t s = 0; s <= full_ / 2; ++s) {
    const double inside = touched_[s], outside = touched_[full_ ^ s];
    touched_[s] = all / outside;
    touched_[full_ ^ s] = all / inside;
  }
  // A label of one factor alone is summed when that factor is first used, not before.
  for (int bit = 0; bit < count_; ++bit) {
    summed_[std::uint32_t{1} << bit] = 1;
    summed_count_[std::uint32_t{1} << bit] = 0;
    cost_[std::uint32_t{1} << bit] = {};
  }
}

// The labels of a step are those of the subset but the ones that were summed inside either part: no set is formed.
void subset_solver::solve_subset(std::uint32_t subset, double limit) {
  const double* const summed = summed_.data();
  const int* const counts = summed_count_.data();
  const order_cost* const costs = cost_.data();
  const double touched = touched_[subset], size = touched / summed[subset];
  const double own_excess = subset != full_ && size > limit * (1 + rounding) ? size : 0;
  const std::uint32_t low = subset & (~subset + 1), rest = subset ^ low;
  order_cost best;
  double enough = 0;  // flops that are more than the best ones, by more than roundings
  std::uint32_t sub = rest, split = 0;
  do {
    sub = (sub - 1) & rest;
    const std::uint32_t first = low | sub, second = subset ^ first;
    const order_cost& a = costs[first];
    const order_cost& b = costs[second];
    order_cost c;
    c.excess = std::max(std::max(own_excess, a.excess), b.excess);
    c.flops = a.flops + b.flops;
    if (split != 0 && c.flops > enough && c.excess >= best.excess) continue;  // the parts alone take more
    const bool sums = counts[subset] > counts[first] + counts[second];
    c.flops += touched / (summed[first] * summed[second]) * (sums ? 2 : 1);
    c.traffic = a.traffic + b.traffic + size;
    c.largest = std::max(std::max(size, a.largest), b.largest);
    if (split == 0 || better(c, best)) best = c, enough = c.flops * (1 + 1e3 * rounding), split = first;
  } while (sub != 0);
  split_[subset] = split;
  cost_[subset] = best;
}

const order_cost& subset_solver::solve(double limit) {
  make_tables();
  for (std::uint32_t s = 1; s <= full_; ++s) {
    if (s & (s - 1)) solve_subset(s, limit);
  }
  return cost_[full_];
}

}  // namespace ricci::ordering
