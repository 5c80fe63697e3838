// The best order of a few factors by dynamic programming over their subsets.
#pragma once

#include <cstdint>
#include <vector>

namespace ricci::ordering {

inline constexpr int subset_limit = 16;  // 3^16 / 2 splits are a few tenths of a second

/// What an order costs; compared flops first, then traffic, then the largest intermediate.
struct order_cost {
  double excess = 0;   // size of the largest intermediate above the limit, 0 if none is
  double flops = 0;
  double traffic = 0;  // sum of the sizes of all results
  double largest = 0;
};

/// True if a is better than b; equal up to rounding is equal, so that the next key decides.
bool better(const order_cost& a, const order_cost& b);

/// Factors are the bits of a subset. Scratch is kept between problems.
class subset_solver {
 public:
  /// Begins a problem of `count` factors (1..subset_limit).
  void begin(int count);
  /// A label of this extent (>= 1) in the factors of `mask`; open if it stays after all of them are multiplied.
  void add_label(std::uint32_t mask, double extent, bool open);
  /// Finds the best order; intermediates above `limit` elements are avoided where they can be.
  const order_cost& solve(double limit);
  /// The first of the two parts that the best order of this subset (two or more factors) multiplies last.
  std::uint32_t first_part(std::uint32_t subset) const { return split_[subset]; }

 private:
  void make_tables();
  void solve_subset(std::uint32_t subset, double limit);

  int count_ = 0;
  std::uint32_t full_ = 0;
  // By subset. While labels are added: the product over the labels with exactly this mask.
  std::vector<double> touched_;      // product of the extents of all labels of the subset
  std::vector<double> summed_;       // product of those that are summed inside the subset
  std::vector<int> summed_count_;    // number of those
  std::vector<order_cost> cost_;
  std::vector<std::uint32_t> split_;
};

}  // namespace ricci::ordering
