// How many elements of a tensor a statement touches: windows of a convolution lie over one another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ricci {

/// An axis of a tensor in memory; the stride is in elements.
struct strided_axis {
  std::int64_t extent = 1, stride = 0;
};

/// Elements that differ, of axes in any order: one whose steps fall within what those of smaller steps cover only makes that longer.
/// Exact for windows of any stride and dilation without gaps, else an estimate; never more than the product of the extents.
inline double covered_elements(std::vector<strided_axis> axes) {
  std::sort(axes.begin(), axes.end(), [](const strided_axis& x, const strided_axis& y) { return std::abs(x.stride) < std::abs(y.stride); });
  std::vector<strided_axis> runs;
  double product = 1;
  for (const strided_axis& x : axes) {
    if (x.extent == 1 || x.stride == 0) continue;
    product *= static_cast<double>(x.extent);
    const std::int64_t stride = std::abs(x.stride);
    const auto run = std::find_if(runs.begin(), runs.end(), [&](const strided_axis& y) { return stride % y.stride == 0 && stride <= y.extent * y.stride; });
    if (run == runs.end()) runs.push_back({x.extent, stride});
    else run->extent += (x.extent - 1) * (stride / run->stride);
  }
  double covered = 1;
  for (const strided_axis& x : runs) covered *= static_cast<double>(x.extent);
  return std::min(covered, product);
}

/// The same for anything that has axes: axis_of gives the strided_axis of each. What does not count has extent 1 or stride 0.
template <class Axes, class AxisOf> double distinct_elements(const Axes& axes, const AxisOf& axis_of) {
  double product = 1;
  bool over = false;  // two indices may name one element
  for (auto i = axes.begin(); i != axes.end(); ++i) {
    const strided_axis x = axis_of(*i);
    if (x.extent == 1 || x.stride == 0) continue;
    product *= static_cast<double>(x.extent);
    for (auto j = axes.begin(); j != axes.end() && !over; ++j) {
      const strided_axis y = axis_of(*j);
      over = i != j && y.extent > 1 && std::abs(x.stride) <= std::abs(y.stride) && std::abs(y.stride) < std::abs(x.stride) * x.extent;
    }
  }
  if (!over || product == 0) return product;
  std::vector<strided_axis> all;
  for (const auto& x : axes) all.push_back(axis_of(x));
  return covered_elements(std::move(all));
}

/// What part of the places that indices name are elements that differ; 1 where no two name the same.
template <class Axes, class AxisOf> double distinct_share(const Axes& axes, const AxisOf& axis_of) {
  double all = 1;
  for (const auto& x : axes)
    if (const strided_axis y = axis_of(x); y.stride != 0) all *= static_cast<double>(y.extent);
  return all == 0 ? 1 : distinct_elements(axes, axis_of) / all;
}

}  // namespace ricci
