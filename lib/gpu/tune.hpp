// Finding the best kernels for many small products by measuring them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/measure.hpp"
#include "gpu/small_table.hpp"
#include "gpu/tuned.hpp"

namespace ricci::cuda {

struct tune_result {
  small_config config;
  double seconds = 0, fraction = 0;  // of the triad's bandwidth
  int registers = 0, blocks = 0;
  std::string trouble;               // a wrong result or an error; empty if there is none
};

/// What small_candidates() offers for a problem, its present choice first.
std::vector<small_config> candidates_of(const small_problem& c, const gpu_machine& m, bool thorough = false);

/// Compiles a candidate into the disk cache. Needs no GPU.
void compile_candidate(const small_problem& c, const small_config& config, int architecture);

/// Checks each candidate against the general kernel, then times it; best first.
std::vector<tune_result> tune(const small_problem& c, const std::vector<small_config>& candidates, const buffer& x,
                              const buffer& y, const buffer& z, double triad, int rounds = 3);

/// What `ricci tune --backend cuda` does on the current device.
struct tune_order {
  std::vector<small_problem> problems;
  bool thorough = false;
  int rounds = 3;
  std::int64_t bytes = std::int64_t{1} << 30;  // of an operand, at most; less if the GPU's memory is short
  double least_gain = 1.02;                    // what is not better than the present choice by this is not kept
};
struct tune_step {
  small_problem what;
  std::size_t candidates = 0, wrong = 0;
  tuned_entry best;
};

/// Measures; tells of each problem as it is done, and leaves out those that follow if that gives false. Kernels are compiled by all
/// processors into the disk cache.
tuned_table measure_small(const tune_order& o, const std::function<bool(std::size_t done, const tune_step&)>& tell);

/// A line of small_table.cpp.
std::string table_line(const small_problem& c, const small_config& best);

}  // namespace ricci::cuda
