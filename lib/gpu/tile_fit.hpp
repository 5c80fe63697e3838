// Tiles that fit the sides of a product: which, and what tiles take by an estimate of its own.
#pragma once

#include <limits>

#include "gpu/step.hpp"

namespace ricci::cuda {

/// How slices are copied and results stored: along k, neighbours at once; the last of a line may be fewer.
struct tile_copies {
  bool a_along_k, b_along_k;
  int vec_a, vec_b, vec_c;
  bool cut_a, cut_b;
};
tile_copies copies_of(const step_shape& s, const tile_config& config, const alignments& at);

/// What lines along the sum stay in shared memory; elements between runs there.
struct tile_slices {
  bool a_stays, b_stays;
  int pad_a, pad_b;
};
tile_slices slices_of(const step_shape& s, const tile_config& c, const tile_copies& copies);
/// Shared memory of a block: its stages, or the results on their way.
int tile_shared_bytes(const step_shape& s, const tile_config& c, const tile_copies& copies);

/// Tiles whose rows and columns are a part of the sides, so that little of them lies outside; sums in one part. None for types whose
/// estimate is not known.
std::vector<tile_config> fitted_tiles(const step_shape& s, const tile_copies& copies);

/// What tiles take about, in seconds, beside the launch, if their type has an estimate; or more than `limit`, if it is more.
double fitted_seconds(const step_shape& s, const tile_config& c, const tile_copies& copies, const gpu_machine& m, double limit = std::numeric_limits<double>::infinity());

/// What the vendor's library takes about for a call, likewise; infinite for other types.
double library_seconds(const step_shape& s, const blas_call& c);

/// A tile that fits, if it is estimated to be faster than the usual one; else that.
tile_config fit_tile(const step_shape& s, const tile_config& usual, const gpu_machine& m, bool in_parts);

/// What the best tile takes about, in seconds, where that is known well; else infinite.
double best_tile_seconds(const step_shape& s, const gpu_machine& m, bool in_parts);

/// Tiles are estimated to be faster than the vendor's library.
bool passes_library(const step_shape& s, const blas_call& c, const gpu_machine& m, bool in_parts);

}  // namespace ricci::cuda
