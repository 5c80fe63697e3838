// The order of contraction: which two factors of a network are multiplied first, and what that costs.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ricci {

/// result[...] = sum over all labels that result lacks of factors[0][...] * factors[1][...] * ...
/// Labels are numbers below extents.size(), each at most once in a factor and in the result. A label may be in any
/// number of factors, in one alone, or in several and the result.
struct network {
  std::vector<std::vector<int>> factors;
  std::vector<int> result;
  std::vector<std::int64_t> extents;  // by label
  bool operator==(const network&) const = default;
};

/// An order of contraction. Positions 0..n-1 are the factors, position n+t is the result of step t.
/// A step sums every label that neither the result nor anything still to come has.
/// Numbers too large for a double (a hopeless network) are infinite.
struct path {
  std::vector<std::pair<int, int>> steps;  // n-1 of them; none for one factor or no factor
  double flops = 0;    // sum over the steps of the product of the extents involved, twice that if something is summed
  double largest = 0;  // elements of the largest result of a step, the last one included
  bool operator==(const path&) const = default;
};

struct path_options {
  int exact_limit = 10;      // up to so many factors (at most 16) the order is the best there is
  double seconds = 1.0;      // most time for the search beyond that; small networks end long before
  std::uint64_t seed = 0;    // the same seed gives the same path as long as the time is not used up
  double largest = std::numeric_limits<double>::infinity();  // elements an intermediate may have, where it can be had
};

/// The order that multiplies the factors of net.
/// Up to exact_limit factors: fewest flops, among these the least sum of the sizes of intermediates, among these the
/// smallest largest one. Beyond: a good order (greedy and bisecting starts, then improved piecewise).
/// Cost      n factors: 3^n / 2 small steps up to exact_limit (10 factors: under a millisecond), else up to `seconds`
///           and one greedy pass, which takes seconds at a hundred thousand factors.
/// Errors    errc::bad_label (out of range, repeated, or in the result alone), errc::bad_extent (negative).
path find_path(const network& net, const path_options& options = {});

/// The flops of a given order, as path::flops counts them.
/// Errors    those of find_path, and errc::bad_argument if the steps are no order of contraction of net.
double path_flops(const network& net, const std::vector<std::pair<int, int>>& steps);

}  // namespace ricci
