// Products with short sums: which kernel of kernels/panel.cuh, how its axes lie.
#pragma once

#include "gpu/small.hpp"

namespace ricci::cuda {

/// kernels/panel.cuh
struct panel_config {
  arithmetic compute = arithmetic::threads;
  int rows = 64, cols = 64, block = 256, rm = 4, rn = 4, warps_m = 1, warps_n = 1;
  int blocks = 2;                // on a multiprocessor that the compiler leaves registers for
  int slots = 1;                 // tiles of what passes in shared memory
  int unroll = 1;                // of the sum
  std::int64_t turns = 1;        // tiles that a block goes along
  bool keeps_b = false;          // columns of b stay and rows of a pass, not the other way round
  int teams = 1;                 // of a block, which take turns by turns
};

/// By the f64 tensor cores: warps_m x warps_n warps of rm x rn tiles of 8 x 16.
panel_config panel_of_cores(int warps_m, int warps_n, int rm, int rn, int blocks);
/// By threads that have rm x rn elements each.
panel_config panel_of_threads(int rows, int cols, int rm, int rn, int blocks);

/// One f64 matrix of more than 40 a side in each problem, and panels of two teams are faster than any other kernel.
bool in_teams(const step_shape& s);

/// Whether panels are faster than the other kernels, and which. `s` as it is arranged for them.
bool choose_panel(const step_shape& s, const gpu_machine& m, panel_config& out);

/// What panels of single threads take about, in seconds, beside the launch, for a step that is arranged for them.
double panel_seconds(const step_shape& s, const panel_config& c, const gpu_machine& m);

/// The step with the axes of its groups in the order that panels want: columns are neighbours in c, in blocks at least.
step_shape arranged_for_panels(const step_shape& s);

/// Blocks of work.
std::int64_t panel_parts(const step_shape& s, const panel_config& c);

std::string panel_text(const step_shape& s, const panel_config& c, const alignments& at, int& shared_bytes);
std::string to_string(const panel_config& c);

}  // namespace ricci::cuda
