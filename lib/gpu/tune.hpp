// Finding the best kernels for many small square products by measuring them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gpu/measure.hpp"
#include "gpu/small_table.hpp"

namespace ricci::cuda {

struct tune_case {
  dtype type = dtype::f64;
  int n = 8;
  bool beta = false;
};

struct tune_result {
  small_config config;
  double seconds = 0, fraction = 0;  // of the triad's bandwidth
  int registers = 0, blocks = 0;
  std::string trouble;               // a wrong result or an error; empty if there is none
};

/// What small_candidates() offers for a case.
std::vector<small_config> candidates_of(const tune_case& c, const gpu_machine& m, bool thorough = false);

/// Compiles a candidate into the disk cache. Needs no GPU.
void compile_candidate(const tune_case& c, const small_config& config, int architecture);

/// Checks each candidate against the general kernel, then times it; best first.
std::vector<tune_result> tune(const tune_case& c, const std::vector<small_config>& candidates, const buffer& x,
                              const buffer& y, const buffer& z, double triad);

/// A line of small_table.cpp.
std::string table_line(const tune_case& c, const small_config& best);

}  // namespace ricci::cuda
