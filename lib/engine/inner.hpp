// The axes inside a tile, as a kernel and as memory sees them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "codegen/codegen.hpp"
#include "kernels/kernels.hpp"
#include "plan/plan.hpp"
#include "plan/turned_small.hpp"

namespace ricci {

using kernels::axis;

/// An axis inside a tile: strides as the kernel sees them, and those of the operands in memory for packing.
struct inner_axis {
  axis eff;
  axis raw;
  bool is_lane = false;
  group role = group::m;
};

/// Merges axes whose strides nest in all three operands; the lane axis only grows outwards.
inline std::vector<inner_axis> fused(std::vector<inner_axis> axes) {
  for (bool merged = true; merged;) {
    merged = false;
    for (std::size_t p = 0; p < axes.size() && !merged; ++p)
      for (std::size_t q = 0; q < axes.size() && !merged; ++q) {
        const axis &in = axes[p].eff, &out = axes[q].eff;
        if (p == q || axes[q].is_lane) continue;
        if (out.a != in.a * in.extent || out.b != in.b * in.extent || out.c != in.c * in.extent) continue;
        axes[p].eff.extent *= out.extent;
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(q));
        merged = true;
      }
  }
  return axes;
}

inline constexpr std::int64_t first_cache = 32 << 10;  // bytes, of most processors

/// Which axis becomes the rows or the columns of a kernel's tile: the one of the smallest steps among those that are long
/// enough; if none is, the longest. Not one that leaves the first cache again and again, for each element of another.
struct tile_axis {
  std::int64_t enough;
  bool by_result = false;  // steps in c count, not those in the factors
  std::int64_t sweep = 0;  // elements of c that the first cache holds; 0: any

  std::int64_t step(const axis& x) const { return by_result && x.c != 0 ? std::abs(x.c) : std::abs(x.a) + std::abs(x.b); }

  bool is_better(const axis& x, const axis& y) const {
    const bool near = step(x) < step(y);
    if (sweep > 0 && near && std::abs(x.c) < std::abs(y.c) && x.extent > 1 && y.extent * std::abs(y.c) > sweep) return true;
    if (sweep > 0 && !near && std::abs(y.c) < std::abs(x.c) && y.extent > 1 && x.extent * std::abs(x.c) > sweep) return false;
    const std::int64_t length = std::min(x.extent, enough), other = std::min(y.extent, enough);
    return length > other || (length == other && near);
  }

  /// Its number among those that `fits` says may be it; their count if there is none.
  template <class Fits> std::size_t among(const std::vector<axis>& axes, const Fits& fits) const {
    std::size_t best = axes.size();
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (fits(axes[i]) && (best == axes.size() || is_better(axes[i], axes[best]))) best = i;
    return best;
  }
};

/// Whether b, of elements of `size` bytes that stay as they are, is small matrices that a written kernel turns while they are packed.
inline bool turns_b(const std::vector<inner_axis>& axes, std::int64_t size, int vector_bytes) {
  const auto lane = std::find_if(axes.begin(), axes.end(), [](const inner_axis& x) { return x.is_lane; });
  if (lane == axes.end() || codegen::best_target() == codegen::target::none) return false;
  return std::any_of(axes.begin(), axes.end(), [](const inner_axis& x) { return x.role == group::m && x.raw.extent > 1; }) &&
         std::any_of(axes.begin(), axes.end(), [&](const inner_axis& x) {
           return x.raw.b == 1 && x.role == group::k && planning::is_turned_small(lane->raw.extent, std::abs(lane->raw.b), x.raw.extent, size, vector_bytes);
         });
}

/// Elements from one packed row of lanes to the next, where rows begin at vectors although they end before them, 0: they are dense. Not if
/// they are one row with the next in c, or far too short. What is turned comes in whole vectors or parts of one. Rows a multiple of eight
/// lines apart would share an eighth of the sets of a cache or less: the columns of a tile would push each other out.
inline std::int64_t row_pitch(const std::vector<inner_axis>& axes, std::int64_t size, int vector_bytes, bool turned) {
  const auto lane = std::find_if(axes.begin(), axes.end(), [](const inner_axis& x) { return x.is_lane; });
  if (lane == axes.end()) return 0;
  const std::int64_t row = lane->raw.extent;
  std::int64_t width = vector_bytes / size;
  while (turned && vector_bytes >= 64 && width >= 2 * row) width /= 2;  // others have no masks
  constexpr std::int64_t shared = 512;  // bytes
  const std::int64_t whole = (row + width - 1) / width * width, most = turned ? 3 * row : 4 * row / 3;
  const std::int64_t pitch = whole * size % shared == 0 ? whole + width : whole;
  const bool nests = std::any_of(axes.begin(), axes.end(), [&](const inner_axis& x) { return x.role == group::n && x.raw.c == row; });
  return nests || pitch > most ? 0 : pitch;
}

/// A list of (extent, source stride, destination stride), fused, for a move kernel; false if it is too long.
inline bool make_move(std::vector<inner_axis> axes, kernels::move_args& out) {
  for (inner_axis& x : axes) x.eff.a = 0, x.is_lane = false;
  axes = fused(std::move(axes));
  if (axes.size() > kernels::max_loops) return false;
  out.axis_count = static_cast<int>(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) out.axes[i] = axes[i].eff;
  return true;
}

}  // namespace ricci
