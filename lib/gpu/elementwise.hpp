// A statement without a sum over tensors that lie in any order: one kernel, which works tile by tile.
//
// A tile has neighbours of the result and of every tensor. What lies as the result does is read as threads count its elements; the
// others are read in their own order and turned in shared memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gpu/cache.hpp"
#include "plan/plan.hpp"

namespace ricci::cuda {

/// A label, or several that nest in every tensor, by the innermost; a tile has `piece` of its values.
struct tile_axis {
  int label = 0;
  std::int64_t extent = 1, piece = 1;
};

struct elementwise_plan {
  pair_op op;
  std::vector<tile_axis> axes;  // the nearest of the result first
  std::vector<std::vector<std::int64_t>> turned;  // by input: strides in shared memory by axis; empty: read as the result lies
  std::int64_t room = 0;        // elements of a turned one there, gaps included
  int rooms = 0;                // that many have room at a time
  int threads = 256;
  int swapped[2] = {-1, -1};    // axes in which a tensor is read both ways: tiles (x, y) and (y, x) follow one another; -1: none
  double flops = 0, bytes = 0, bound_seconds = 0;
};

/// A plan for all of the work, if that is one such statement whose tensors have one type and do not all lie alike, or are complex; or a
/// transposition that is better off in tiles than by threads or in squares (turning_of).
std::optional<elementwise_plan> plan_elementwise(const planning::work& w, const gpu_machine& m);

/// Whether it moves one tensor, without arithmetic that counts.
bool is_transposition(const elementwise_plan& p);

kernel_request request_of(const elementwise_plan& p);

/// Tensors that the kernel gets pointers of, the result last, and coefficients that it gets, both in the order of its arguments.
std::vector<operand> pointers_of(const elementwise_plan& p);
std::vector<coefficient> scalars_of(const elementwise_plan& p);

/// Tiles along an axis.
std::int64_t pieces_of(const tile_axis& a);

/// Tiles, with those that are left out where two axes are swapped, and elements of one.
std::int64_t tiles_of(const elementwise_plan& p);
std::int64_t elements_of(const elementwise_plan& p);

/// Blocks: one for each tile, while so many can be launched.
unsigned grid_of(const elementwise_plan& p);

/// Whether threads read their elements of all tensors that are not turned when a tile begins; of many, each where it is added.
bool holds_all(const elementwise_plan& p);

/// The axes that a tensor has, as indices, the nearest first.
std::vector<std::size_t> nearest_axes(const elementwise_plan& p, const operand& x);

std::string to_string(const elementwise_plan& p);

}  // namespace ricci::cuda
