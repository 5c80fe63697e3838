// What tiles of small products take on a multiprocessor, by counting: to choose among configurations, not to promise.
#pragma once

#include <optional>
#include <vector>

#include "gpu/small.hpp"

namespace ricci::cuda {

struct register_tile {
  int rm = 1, rn = 1;
  double cost = 0;  // shared-memory reads and wasted work for each useful multiply-add
};

/// Register tiles of a thread of at most so many elements and so long, best first: reads for each multiply-add, times the share of work
/// that is wasted.
std::vector<register_tile> register_tiles(std::int64_t m, std::int64_t n, int most, int longest = 8);

/// Elements left free after each row of the images of a and b, where wanted, so that the reads of a warp spread over the banks.
void set_pads(const small_shape& s, small_config& c, bool wanted);

/// Several rows beside a common factor, neighbours of b in memory are terms of the sum: threads read them together.
bool is_along_sum(const small_shape& s);

/// Clocks of a multiprocessor for each problem, by single threads or the tensor cores for double precision.
double estimated_clocks(const small_shape& s, const small_config& c, const gpu_machine& m);

/// The same in seconds, for all problems.
double small_seconds(const small_shape& s, const small_config& c, const gpu_machine& m);

/// The configuration that counting finds best, of single threads or the tensor cores for double precision; none if none fits.
std::optional<small_config> choose_by_counting(const small_shape& s, const gpu_machine& m);

}  // namespace ricci::cuda
