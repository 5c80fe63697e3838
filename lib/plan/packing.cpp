// What packing an operand of a step costs: whole registers turned at once, or number by number.
#include "plan/candidate.hpp"

#include <algorithm>
#include <cmath>

#include "plan/rows.hpp"
#include "plan/turned_small.hpp"

namespace ricci::planning {

double candidate::turned_cycles() const {
  const auto size = static_cast<std::int64_t>(size_of(op.b.type));
  if (!m.writes_kernels || m.vector_bytes < 32 || step.lanes != lanes::n || !step.pack_b || op.b.type != compute_type(op.b.type)) return 0;
  const step_axis *run = nullptr, *lane = nullptr;
  std::int64_t matrices = 1, rows = 1;
  for (const step_axis& x : step.axes) {
    if (x.role == group::m) rows *= x.tile;
    if (x.tile < 2 || x.b == 0) continue;
    if (x.b == 1 && x.role == group::k) run = &x;
    else if (x.label == step.lane_label) lane = &x;
    else matrices *= x.tile;
  }
  if (!run || !lane || (rows < 2 && !is_turned_for_one_row(run->tile, size, m.vector_bytes)) || run->tile < run->extent) return 0;
  const bool masks = m.vector_bytes >= 64;
  if ((masks && lane->tile < lane->extent) || !is_turned_small(lane->tile, std::abs(lane->b), run->tile, size, m.vector_bytes)) return 0;
  constexpr double begin = 45;
  if (!masks) {
    const std::int64_t together = size == 16 ? 1 : size == 8 ? 2 : 4;  // rows that come out of a block
    const double each = size == 16 ? 1 : size == 8 ? 3 : 10;
    return static_cast<double>(matrices) * (static_cast<double>(divide_up(lane->tile * size, m.vector_bytes) * divide_up(run->tile, together)) * each + 1) + begin;
  }
  constexpr std::int64_t held = 4;  // registers that are permuted
  const std::int64_t blocks = divide_up(lane->tile * size, m.vector_bytes) * divide_up(run->tile, 4), registers = divide_up(lane->tile * run->tile * size, m.vector_bytes);
  const double each = size == 16 ? 6 : size == 8 ? 10 : 14;
  const double all = static_cast<double>(blocks) * each;
  if (registers > held) return static_cast<double>(matrices) * (all + 4) + begin;
  const std::int64_t together = std::max<std::int64_t>(1, m.vector_bytes / (lane->tile * run->tile * size));  // in a register
  return static_cast<double>(divide_up(matrices, together)) * (std::min(all, static_cast<double>(3 * registers)) + 4) + begin;
}

double candidate::pack_cycles(const operand& x, std::int64_t step_axis::*stride, bool lane_extra, std::int64_t calls) const {
  if (const double turned = stride == &step_axis::b ? turned_cycles() : 0; turned > 0) return static_cast<double>(calls) * turned;
  bool same = false, any = x.where == operand::kind::one;
  for (const step_axis& a : step.axes) {
    if (a.*stride == 1 && a.label == step.lane_label) same = true;
    if (a.*stride == 1 && a.tile >= 2) any = true;
  }
  const double turned = same ? 1 : turning(x, stride), bytes = bytes_of(x, step.axes, stride);
  const double held = m.caches.size() > 1 ? 0.75 * static_cast<double>(m.caches[1].bytes) : bytes;
  const bool far = turned < 1 ? bytes > held : same && has_wide_registers() && bytes > held * static_cast<double>(problems());
  const double memory = far && block_labels.empty() ? bytes / stream_rate(bytes, m) : 0;
  return static_cast<double>(calls) * scattering(x, stride, same) * turned *
             move_cycles(tile_size(stride, lane_extra), same, any, x.type != compute_type(x.type)) + memory;
}

double candidate::collecting(const operand& x, std::int64_t step_axis::*stride, const step_axis& run, const step_axis& lane) const {
  const auto size = static_cast<std::int64_t>(size_of(x.type));
  const std::int64_t width = m.vector_bytes / size;
  if (m.vector_bytes < 64 || size < 4 || stride == &step_axis::c || x.type != compute_type(x.type) || run.role != group::k || run.tile >= width / 2 || lane.*stride != run.tile) return 1;
  std::int64_t rows = lane.tile;
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& y : step.axes)
      if (y.*stride == rows * run.tile && y.tile > 1 && y.role != group::k) rows *= y.tile, grown = true;
  }
  if (rows < width) return 1;
  constexpr double begin = 20;  // cycles for each run of rows
  const double usual = 2 * static_cast<double>(rows * run.tile);
  return std::min(1.0, std::max(0.1, 0.6 * static_cast<double>(run.tile) / static_cast<double>(width)) + begin / usual);
}

std::int64_t candidate::neighbours_of(const operand& x, std::int64_t step_axis::*stride, const step_axis& run, const step_axis& lane) const {
  const bool is_measured = m.writes_kernels && m.vector_bytes == 32 && step.lanes == lanes::n && !block_labels.empty() && has_sums();
  const auto size = static_cast<std::int64_t>(size_of(x.type));
  if (!is_measured || x.type != compute_type(x.type) || lane.tile * size < m.vector_bytes) return 0;
  std::int64_t length = run.extent;
  for (bool grown = run.tile == run.extent; grown;) {
    grown = false;
    for (const step_axis& y : step.axes)
      if (y.*stride == length && y.tile == y.extent && y.tile > 1 && y.label != lane.label) length *= y.tile, grown = true;
  }
  return length > run.extent ? length : 0;
}

namespace {

/// The share for rows of so many neighbours, turned in blocks of `side` a side; what is left over goes one by one.
double turned_in_blocks(std::int64_t run, std::int64_t lanes, std::int64_t side, std::size_t size) {
  const auto blocks = [&](std::int64_t n) { return static_cast<double>(n / side * side) / static_cast<double>(n); };
  const double turned = size == 4 ? 0.2 : size == 8 ? 0.33 : size == 16 ? 0.7 : 1;
  return std::min(1.0, turned + 1 - blocks(run) * blocks(lanes));
}

}  // namespace

double candidate::turning(const operand& x, std::int64_t step_axis::*stride) const {
  const step_axis *run = nullptr, *lane = nullptr;
  int rows = 0, others = 0;
  for (const step_axis& a : step.axes) {
    if (a.tile < 2 || a.*stride == 0) continue;
    if (a.*stride == 1) run = &a;
    else if (a.label == step.lane_label) lane = &a;
    else ++(a.role == group::batch ? others : rows);
  }
  constexpr std::int64_t short_row = 8;
  if (!run || !lane) return 1;
  if (const double share = collecting(x, stride, *run, *lane); share < 1) return share;
  const bool result = stride == &step_axis::c && others == 0 && has_sums() && m.writes_kernels && x.type == compute_type(x.type);
  const std::size_t size = size_of(x.type);
  if (const std::int64_t length = neighbours_of(x, stride, *run, *lane); length > 0)
    return turned_in_blocks(length, lane->tile, std::min(short_row, m.vector_bytes / static_cast<std::int64_t>(size)), size);
  if (rows > 0 || (run->role != group::k && !result)) return 1;
  if (run->tile <= short_row) return result ? 1 : others == 0 && size <= 4 ? 0.3 : 1;
  if (!m.writes_kernels || lane->tile < short_row) return 1;
  const std::int64_t least = std::min(run->tile, lane->tile);
  if (step.lanes == lanes::k) return least < 2 * short_row ? 1 : size == 4 || (size == 8 && is_alone()) ? 0.3 : size == 8 ? 0.5 : 1;
  if (step.lanes != lanes::n) return 1;
  return turned_in_blocks(run->tile, lane->tile, short_row, size);
}

double candidate::scattering(const operand& x, std::int64_t step_axis::*stride, bool same) const {
  if (same || !block_labels.empty() || !m.writes_kernels || m.caches.size() < 2) return 1;
  const double bytes = bytes_of(x, step.axes, stride), second = static_cast<double>(m.caches[1].bytes);
  if (stride == &step_axis::c && bytes <= second && turning(x, stride) < 1) return !has_wide_registers() ? 1 : bytes <= 0.25 * second ? 1.3 : 2;  // in whole blocks
  if (stride != &step_axis::c) return bytes > second ? 2 : 1;
  return bytes > last_cache(m) ? 6 : bytes <= second ? 2.5 : has_wide_registers() ? 3 : 3.5;
}

}  // namespace ricci::planning
