// What an operand that lies unfavourably beyond the second cache costs a product on top of its kernels.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>

#include "plan/candidate.hpp"
#include "plan/rows.hpp"

namespace ricci::planning {

using kernels::lanes;

double candidate::waits_for_a(const shape& s, std::int64_t calls_of_lane, double all_cycles) const {
  if (!m.writes_kernels || s.lanes != lanes::n || step.pack_a || op.a.where == operand::kind::one || m.caches.size() < 2 || s.k < 16) return 0;
  const double bytes = bytes_of(op.a, step.axes, &step_axis::a);
  std::int64_t stride = 0, span = 0, steps_along = 0;  // bytes; of the axis that the kernel goes along
  const lines_touched lines{s.rows, s.cols, s.lane, static_cast<std::int64_t>(size_of(s.type))};
  std::vector<step_axis> sums;
  std::int64_t rows_near = 0;  // bytes of rows that are neighbours
  for (const step_axis& x : step.axes) {
    if (x.role == group::m && x.a == 1 && x.tile >= 16) rows_near = x.tile * static_cast<std::int64_t>(size_of(op.a.type));
    if (x.role != group::k || x.tile < 4) continue;
    step_axis& y = sums.emplace_back(x);
    y.extent = x.tile, y.b = step.pack_b ? 0 : x.b;
  }
  if (!sums.empty()) {
    const step_axis& along = sums[lines.along(sums)];
    stride = std::abs(along.a) * static_cast<std::int64_t>(size_of(op.a.type)), steps_along = along.extent, span = stride * steps_along;
  }
  // Rows of a line or more whose neighbours are results, with sums over other labels around: measured on one core of Zen 3.
  const bool narrow = m.vector_bytes == 32 && m.fetches_blocks;
  if (narrow)
    for (const step_axis& x : step.axes)
      if (x.role == group::k) span = std::max(span, std::abs(x.a) * x.tile * static_cast<std::int64_t>(size_of(op.a.type)));
  const auto second = static_cast<double>(m.caches[1].bytes);
  if (bytes < 0.75 * second) return 0;
  // The rows of a call do not stay until the kernel comes to its next columns. Long runs of sums are followed and come in the
  // meantime, short ones are waited for.
  constexpr std::int64_t widest = 3, short_run = 512;  // vectors; bytes
  const std::int64_t lane = (s.lane * static_cast<std::int64_t>(size_of(s.type)) + m.vector_bytes - 1) / m.vector_bytes;
  const std::int64_t passes = divide_up(s.cols * lane, widest);
  const bool leaves = static_cast<double>(s.rows * s.k) * static_cast<double>(size_of(op.a.type)) > 0.5 * second;
  if (passes > 1 && leaves && stride == static_cast<std::int64_t>(size_of(op.a.type)) && block_labels.empty()) {
    const double read = bytes * static_cast<double>(calls_of_lane * passes) / stream_rate(bytes, m);
    return span < short_run ? read : std::max(0.0, read - all_cycles);
  }
  if (stride < (narrow ? 128 : 256) || static_cast<double>(span) < 0.5 * second) return 0.5 * bytes / stream_rate(bytes, m) * static_cast<double>(calls_of_lane - 1);
  // Lines that the steps of a sum touch push each other out: they are in pages of their own, or all in one set of the second cache,
  // where they do not stay for the next columns either.
  constexpr std::int64_t page = 4096, ways = 16;
  const bool pages = rows_near < short_run && stride % page == 0 && steps_along >= 128;
  const std::int64_t way = std::max<std::int64_t>(m.caches[1].bytes / ways, 64);
  const bool one_set = stride % way == 0 && steps_along >= ways;
  const double line = 64, again = leaves ? static_cast<double>(passes) : 1;
  const double wait = one_set ? 150 * static_cast<double>(passes) : rows_near == 0 ? 30 : pages ? 150 : (narrow && bytes > last_cache(m) ? 40 : 8) * again;
  return wait * bytes / line * static_cast<double>(calls_of_lane);
}

double candidate::waits_for_b() const {
  if (!m.writes_kernels || step.lanes != lanes::n || step.pack_b || !block_labels.empty() || m.caches.size() < 2) return 0;
  const double bytes = bytes_of(op.b, step.axes, &step_axis::b);
  const auto size = static_cast<std::int64_t>(size_of(op.b.type));
  std::int64_t run = 1, nearest = 0, sums = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& x : step.axes)
      if (x.role == group::n && x.tile > 1 && x.b == run) run *= x.tile, grown = true;
  }
  for (const step_axis& x : step.axes)
    if (x.role == group::k && x.tile > 1) {
      sums *= x.tile;
      if (nearest == 0 || std::abs(x.b) < nearest) nearest = std::abs(x.b);
    }
  constexpr std::int64_t page = 4096, short_run = 512, many = 64;
  constexpr double line = 64, wait = 40;
  const bool apart = run * size < short_run && nearest * size >= page && sums >= many;
  return apart && bytes > 0.75 * static_cast<double>(m.caches[1].bytes) ? wait * bytes / line : 0;
}

double candidate::jumps_in_a() const {
  if (!m.writes_kernels || step.lanes != lanes::n || step.pack_a || !block_labels.empty() || m.caches.size() < 2) return 0;
  const auto size = static_cast<std::int64_t>(size_of(op.a.type));
  const step_axis *const row = row_axis(), *around = nullptr;
  const double bytes = bytes_of(op.a, step.axes, &step_axis::a);
  std::int64_t run = 1;  // neighbours that the kernel reads one after the other
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& x : step.axes)
      if (x.tile > 1 && x.a == run && (&x == row || x.role == group::k)) run *= x.tile, grown = true;
  }
  const std::int64_t used = std::clamp<std::int64_t>(run * size, 16, 64);  // bytes of a line
  for (const step_axis& x : step.axes)
    if (x.role == group::m && &x != row && x.tile > 1 && (!around || std::abs(x.c) < std::abs(around->c))) around = &x;
  constexpr std::int64_t page = 4096;
  constexpr double wait = 30;
  if (!around || used == 64 || std::abs(around->a) * size < page || bytes < 0.75 * static_cast<double>(m.caches[1].bytes)) return 0;
  return wait * bytes / static_cast<double>(used);
}

double candidate::skips_in_a() const {
  if (!m.writes_kernels || step.lanes != lanes::n || step.pack_a || !block_labels.empty() || m.caches.size() < 2) return 0;
  const auto size = static_cast<std::int64_t>(size_of(op.a.type));
  constexpr std::int64_t line = 64;
  constexpr double wait = 5;
  double problems = 1, elements = 1;
  bool together = false;
  std::int64_t nearest = line / size;  // step in a within a problem
  for (const step_axis& x : step.axes) {
    if (x.a == 0 || x.extent == 1) continue;
    if (x.role == group::batch && x.a == 1) problems = static_cast<double>(x.extent), together = true;
    else elements *= static_cast<double>(x.extent), nearest = std::min(nearest, std::abs(x.a));
  }
  if (!together || nearest < line / size || elements * line < 0.75 * static_cast<double>(m.caches[1].bytes)) return 0;
  return wait * elements * problems;
}

double candidate::waits_side_by_side() const {
  if (step.lanes != lanes::batch || step.pack_a || step.pack_b || !block_labels.empty() || m.caches.size() < 2) return 0;
  double rows = 1, cols = 1, sums = 1, problems = 1;
  std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
  for (const step_axis& x : step.axes) {
    (x.role == group::m ? rows : x.role == group::n ? cols : x.role == group::k ? sums : problems) *= static_cast<double>(x.extent);
    if (x.role == group::batch) continue;
    for (const std::int64_t stride : {x.a, x.b})
      if (stride != 0) nearest = std::min(nearest, std::abs(stride));
  }
  if (rows < 4 || cols < 4 || sums < 4) return 0;
  const std::int64_t size = static_cast<std::int64_t>(size_of(op.c.type)), apart = nearest * size;
  constexpr std::int64_t line = 64, page = 4096;
  const std::int64_t sets = std::clamp<std::int64_t>((apart & -apart) / line, 1, page / line);  // of that many, one is used
  const auto first = static_cast<double>(m.caches[0].bytes), second = static_cast<double>(m.caches[1].bytes);
  const double again = static_cast<double>(std::min(apart, line) * sets) * (rows * sums + sums * cols);
  if (again <= first) return 0;
  // Complex products compute for longer, and hide what comes from the second cache.
  const bool complex = is_complex(op.c.type);
  const double within = complex ? 0.1 : 0.3, beyond = std::min(1.0, within + 0.5 * (1 - within) * std::log2(std::max(1.0, again / second)));
  const double each = apart < line ? 0.5 : 1.5 * std::pow(static_cast<double>(std::min(apart, page / 2)) / line, 0.38) * (sets < page / line ? 1 : 3);
  const double loads = (complex ? 1.1 : 0.6) * rows * cols * sums * problems * static_cast<double>(size) / static_cast<double>(m.vector_bytes);
  return each * beyond * loads;
}

double candidate::waits_for_memory() const {
  if (!m.writes_kernels || (!step.pack_a && !step.pack_b) || !block_labels.empty()) return 0;
  double total = 0;
  for (const auto& [x, stride, share] : {std::tuple{&op.a, &step_axis::a, step.pack_a ? 1.0 : 0.0}, {&op.b, &step_axis::b, step.pack_b ? 1.0 : 0.0}, {&op.c, &step_axis::c, 0.3}}) {
    const double bytes = x->where == operand::kind::external ? bytes_of(*x, step.axes, stride) : 0;
    if (bytes > last_cache(m)) total += share * bytes / stream_rate(bytes, m);
  }
  return total;
}

}  // namespace ricci::planning
