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

/// Compiles every candidate of every case into the disk cache; part i of n. Needs no GPU.
void compile_candidates(const std::vector<tune_case>& cases, int architecture, int part, int parts, const gpu_machine& m);

/// Checks each candidate against the general kernel, then times it; best first.
std::vector<tune_result> tune(const tune_case& c, const buffer& x, const buffer& y, const buffer& z, double triad);

/// A line of small_table.cpp.
std::string table_line(const tune_case& c, const small_config& best);

}  // namespace ricci::cuda
