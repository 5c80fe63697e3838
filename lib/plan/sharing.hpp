// Common subexpressions of a program: products of the same factors in several terms, and orders that make them once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <ricci/program/program.hpp>

namespace ricci::planning {

/// What a factor is: equal texts, equal elements (the factors' memory is known and nothing writes to it).
std::string identity_of(const reference& r);

class sharing {
 public:
  sharing() = default;
  explicit sharing(const program& p);

  /// Whether two or more factors of this term are multiplied in another one as well.
  bool is_worth_it(const product& t) const;

  /// For every set of factors (bits): the text that names its product, the labels it keeps, and the part to split off.
  struct order {
    std::vector<std::string> key;
    std::vector<std::vector<int>> kept;
    std::vector<unsigned> split;
  };

  /// The order with the fewest multiplications, where those for a product that n terms hold count 1/n, and those that
  /// were made already nothing. Exact; up to 10 factors.
  order order_of(const product& t, const std::vector<int>& result, const std::function<bool(const std::string&)>& is_made) const;

 private:
  order sets_of(const product& t, const std::vector<int>& result) const;
  double size_of(const std::vector<int>& labels) const;

  std::vector<std::int64_t> extents_;
  std::map<std::string, int> terms_;  // that hold a product of these factors with these labels kept
};

}  // namespace ricci::planning
