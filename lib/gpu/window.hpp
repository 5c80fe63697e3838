// Sums over windows that overlap: convolutions, stencils, moving sums. Which kernel of kernels/window.cuh, and what it takes.
#pragma once

#include <optional>
#include <vector>

#include "gpu/step.hpp"

namespace ricci::cuda {

/// A free axis of b and a sum along which elements of b meet again: place = free index * free + term * sum, in units of their common step.
struct overlap_of_axes {
  int free = -1, sum = -1;  // of free_axes(), of k
};

/// Such pairs of axes of b, each axis in one of them, the longest steps first.
std::vector<overlap_of_axes> overlaps_in(const step_shape& s);

/// What elements and terms of a direction meet, in order: offsets in b.
struct direction_places {
  std::int64_t each = 1, free_step = 0, terms = 1, sum_step = 0;
  std::vector<std::int64_t> offsets;
  int place(std::int64_t element, std::int64_t term) const;
  /// The element that meets a place with a term; -1 if there is none.
  int element(int place, std::int64_t term) const;
};
direction_places places_of(const step_shape& s, const window_direction& d);

/// An axis as the threads of a grid count it: `pieces` of `each` elements.
struct counted_axis {
  int axis = 0;  // of free_axes()
  std::int64_t each = 1, pieces = 1;
};
/// Neighbours in c innermost, which is first.
std::vector<counted_axis> counted_axes(const step_shape& s, const window_config& c);

/// Where the small factor lies in shared memory: an axis of it, the first the innermost.
struct filter_axis {
  enum class of { own, run, free, sum } what = of::free;
  int axis = 0;              // of free_axes() or of k
  std::int64_t extent = 1;   // padded, or in blocks
  std::int64_t each = 1;     // elements of the axis for each step of this one
  std::int64_t a = 0;        // step in a
  std::int64_t step = 0;     // in shared memory
};
std::vector<filter_axis> filter_axes(const step_shape& s, const window_config& c);
std::int64_t filter_count(const step_shape& s, const window_config& c);

/// Elements of the factor that are read at once, along the axis of `own` or of the run.
int chunk_of(const step_shape& s, const window_config& c);
bool filter_has_run(const step_shape& s, const window_config& c);

/// The step with the windows in b.
step_shape arranged_for_windows(const step_shape& s);

/// The kernels that fit a step that is arranged; none if no elements of b meet again or the other factor is too large.
std::vector<window_config> window_candidates(const step_shape& s, const gpu_machine& m);
/// The fastest of them by estimate.
std::optional<window_config> choose_window(const step_shape& s, const gpu_machine& m);

/// What it takes about, in seconds, beside the launch.
double window_seconds(const step_shape& s, const window_config& c, const gpu_machine& m);

std::int64_t window_threads(const step_shape& s, const window_config& c);
std::string window_text(const step_shape& s, const window_config& c, const alignments& at, int& shared_bytes);
std::string to_string(const window_config& c, const step_shape& s);

}  // namespace ricci::cuda
