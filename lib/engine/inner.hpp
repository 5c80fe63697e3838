// The axes inside a tile, as a kernel and as memory sees them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "plan/plan.hpp"

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
