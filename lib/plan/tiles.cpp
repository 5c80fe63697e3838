// The tiles of a candidate: what they hold, and where they are cut for caches, rows and threads.
#include "plan/candidate.hpp"

#include <algorithm>
#include <cmath>

#include "plan/rows.hpp"

namespace ricci::planning {

std::int64_t candidate::tile_size(std::int64_t step_axis::*stride, bool with_lane_only_in_c) const {
  std::int64_t n = 1;
  for (const step_axis& x : step.axes)
    if (x.*stride != 0 || (x.label == step.lane_label && with_lane_only_in_c)) n *= x.tile;
  return n;
}

std::int64_t candidate::packed_bytes() const {
  const auto size = static_cast<std::int64_t>(size_of(compute_type(op.c.type)));
  std::int64_t n = 0;
  if (step.pack_a) n += tile_size(&step_axis::a, step.lanes != lanes::n);
  if (step.pack_b) n += tile_size(&step_axis::b, true);
  if (step.buffer_c) n += tile_size(&step_axis::c, false);
  return n * size;
}

bool candidate::has_sums() const {
  return std::any_of(step.axes.begin(), step.axes.end(), [](const step_axis& x) { return x.role == group::k; });
}

std::int64_t candidate::least_tile(const step_axis& x, const tile_limits& l) const {
  const std::int64_t n = x.label == step.lane_label ? l.lanes : x.role == group::k ? 32 : x.role == group::batch ? 1 : 8;
  return l.whole_lines && (!has_sums() || reads_packed_once()) && block_labels.empty() ? std::max(n, packed_line(step, op, x)) : n;
}

bool candidate::reads_packed_once() const {
  constexpr std::int64_t rows = 2;  // with more, what is computed hides where it comes from
  std::int64_t a = 1, b = 1;
  for (const step_axis& x : step.axes) {
    if (x.a == 0) a *= x.extent;
    if (x.b == 0) b *= x.extent;
  }
  return !step.buffer_c && (!step.pack_a || a <= rows) && (!step.pack_b || b <= rows);
}

bool candidate::has_much(const step_axis& x) const {
  constexpr std::int64_t least_part = 8;  // one in so many bytes
  const auto size = static_cast<std::int64_t>(size_of(compute_type(op.c.type)));
  std::int64_t n = 0;
  if (step.pack_a && x.a != 0) n += tile_size(&step_axis::a, step.lanes != lanes::n);
  if (step.pack_b && (x.b != 0 || x.label == step.lane_label)) n += tile_size(&step_axis::b, true);
  if (step.buffer_c && x.c != 0) n += tile_size(&step_axis::c, false);
  return n * size * least_part > packed_bytes();
}

bool candidate::halve_longest(const tile_limits& l, std::int64_t far) {
  const bool all = packed_bytes() > far || !has_sums(), once = !all && reads_packed_once();
  const bool cuts_sums = all && block_labels.empty() && std::any_of(step.axes.begin(), step.axes.end(), [&](const step_axis& x) {
    return x.role == group::k && x.part == 0 && x.tile > least_tile(x, l) && has_much(x);
  });
  step_axis* best = nullptr;
  double worth = 0;
  for (step_axis& x : step.axes) {
    const bool is_lane = x.label == step.lane_label;
    const bool is_packed = is_lane || (step.pack_a && x.a != 0) || (step.pack_b && x.b != 0) || (step.buffer_c && x.c != 0);
    if (!is_packed || x.part != 0 || x.tile <= least_tile(x, l) || (!all && x.role != group::batch && !(once && x.role != group::k))) continue;
    if (cuts_sums && x.role != group::batch && !has_much(x)) continue;
    const bool first = x.role == group::batch && !is_lane && has_sums();
    const double span = static_cast<double>(x.tile) * (first ? 1e6 : x.role == group::k ? 0.01 : 1);
    if (span > worth) worth = span, best = &x;
  }
  if (!best) return false;
  const std::int64_t pieces = divide_up(best->extent, best->tile) * 2;
  std::int64_t tile = divide_up(best->extent, pieces);
  if (best->label == step.lane_label) tile = divide_up(tile, l.width) * l.width;
  else if (!has_sums() || once) tile = std::max(tile, std::min(least_tile(*best, l), best->tile - 1));
  best->tile = std::min(tile, best->tile - 1);
  return true;
}

void candidate::fit_tiles() {
  if (!step.pack_a && !step.pack_b && !step.buffer_c) return;
  const std::int64_t far = m.caches.size() < 2 ? 131072 : m.caches[1].bytes / 2;
  const std::int64_t first = m.caches.empty() ? 24576 : m.caches[0].bytes * 3 / 4;
  // Without sums all is read once: what is long enough for the hardware to follow matters more than the first cache. Measured.
  // What is read once shares the first cache with what it is made of and what comes of it.
  // Matrices that are turned one by one, too.
  const bool one_by_one = turned_cycles() > 0 &&
                          std::any_of(step.axes.begin(), step.axes.end(), [](const step_axis& x) { return x.role == group::batch && x.b != 0 && x.tile > 1; });
  const std::int64_t near = one_by_one ? first / 6 : has_sums() && reads_packed_once() ? first / 3 : has_sums() || !block_labels.empty() ? first : std::max(first, far / 4);
  constexpr std::int64_t row_bytes = 4096;
  const auto size = static_cast<std::int64_t>(size_of(compute_type(op.c.type)));
  const std::int64_t width = m.vector_bytes / size;
  const tile_limits steps[] = {{width, std::max(4 * width, row_bytes / size), true}, {width, 4 * width, true}, {width, 4 * width, false}};
  bool halved = true;
  while (halved && packed_bytes() > near)
    halved = std::any_of(std::begin(steps), std::end(steps), [&](const tile_limits& l) { return halve_longest(l, far); });
}

void candidate::follow_rows_of_b() {
  step_axis* k = nullptr;
  const bool side_by_side = step.lanes == lanes::batch;
  for (step_axis& x : step.axes) {
    if (x.role == group::m || x.role == (side_by_side ? group::n : group::batch) || x.tile != x.extent) return;
    if (x.role == group::k) {
      if (k) return;
      k = &x;
    }
  }
  const auto far = [&](const step_axis& x) { return std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type)) >= 2048; };
  if (step.lanes == lanes::k || step.pack_a || step.pack_b || step.buffer_c || !k || !far(*k) || k->part != 0 || !block_labels.empty()) return;
  if (share_of_b() < 1) return;  // where windows lie over one another, rows come from a cache
  if (m.caches.size() < 2 || bytes_of(op.b, step.axes, &step_axis::b) < 0.5 * static_cast<double>(m.caches[1].bytes) || compute_type(op.c.type) != op.c.type) return;
  k->tile = std::min<std::int64_t>(k->tile, 8);
  along_rows_of_b = true;
}

void candidate::follow_rows_of_c() {
  if (step.lanes != lanes::n || step.pack_a || step.buffer_c || !block_labels.empty() || m.caches.size() < 2) return;
  constexpr std::int64_t most_sums = 256, widest = 3;  // vectors of columns that a kernel does at once
  std::int64_t sums = 1, columns = 1, all = 1, row_axes = 0, longest = 1;
  for (step_axis& x : step.axes) {
    if ((x.tile != x.extent && (x.role != group::n || x.label == step.lane_label)) || x.part != 0) return;
    if (x.role == group::k) sums *= x.extent;
    if (x.role == group::n) columns *= x.tile;
    if (x.role == group::m) ++row_axes, longest = std::max(longest, x.extent);
    if (x.c != 0) all *= x.extent;
  }
  const auto second = static_cast<double>(m.caches[1].bytes), size = static_cast<double>(size_of(op.c.type));
  const std::int64_t row = row_of(step.axes, group::n) * static_cast<std::int64_t>(size_of(op.c.type));
  if (sums > most_sums || row <= widest * m.vector_bytes) return;
  if (row < long_row && (row_axes > 1 || static_cast<double>(longest * (sums + columns)) * size < 0.5 * second)) return;
  if (static_cast<double>(all) * size < 0.5 * second || static_cast<double>(sums * columns) * size > 0.5 * second) return;
  for (step_axis& x : step.axes)
    if (x.role == group::m) x.tile = std::min(x.tile, rows_at_once);
}

void candidate::follow_rows() {
  constexpr double enough = 8192;  // bytes of a call
  double elements = 1;
  step_axis* outer = nullptr;
  for (step_axis& x : step.axes) {
    if (x.role == group::k) return;
    elements *= static_cast<double>(x.extent);
    if (x.label != step.lane_label && (!outer || std::abs(x.c) > std::abs(outer->c))) outer = &x;
  }
  const double bytes = elements * static_cast<double>(size_of(op.c.type));
  if (step.lanes != lanes::batch || !outer || !block_labels.empty() || m.caches.empty() || bytes < static_cast<double>(m.caches[0].bytes)) return;
  const double inner = bytes / static_cast<double>(outer->extent);
  outer->tile = std::min(outer->tile, std::max<std::int64_t>(8, std::llround(enough / inner)));
}

void candidate::limit_lanes() {
  if (!m.writes_kernels || step.lanes != lanes::n || !block_labels.empty()) return;
  constexpr std::int64_t most_registers = 1024;  // measured; more than 4096 are not written
  const std::int64_t most = most_registers * std::max<std::int64_t>(1, m.vector_bytes / static_cast<std::int64_t>(size_of(compute_type(op.c.type))));
  for (step_axis& x : step.axes)
    if (x.label == step.lane_label && x.tile > most && share_of_b() < 1) x.tile = most;
}

namespace {

constexpr double least_shared = 24000, least_piece = 10000;  // cycles: of a step, of a piece of it

/// A sum of one temporary, as of the parts of a cut sum: pieces of another width would add in another order.
bool adds_parts(const pair_op& op) { return op.a.where == operand::kind::one && op.b.where == operand::kind::temporary && op.b.labels.size() > op.c.labels.size(); }

}  // namespace

void candidate::cut_for_threads(double cycles) {
  const int threads = o.threads > 0 ? std::min(o.threads, m.cores) : m.cores;
  cycles = std::max(cycles, memory_cycles(op, step.axes, m));
  if (threads < 2 || !block_labels.empty() || cycles < least_shared || op.cut_label >= 0 || adds_parts(op)) return;
  std::int64_t pieces = 1;
  for (const step_axis& x : step.axes)
    if (x.role != group::k) pieces *= divide_up(x.extent, x.tile);
  const auto wanted = static_cast<std::int64_t>(std::min(cycles / least_piece, along_rows_of_b ? threads : threads * 4.0));
  if (pieces >= wanted) return;
  const std::int64_t cuts = divide_up(wanted, pieces);
  step_axis* best = nullptr;
  double least = 0;
  for (step_axis& x : step.axes) {
    if (x.role == group::k || x.c == 0 || x.tile < 2 || (x.label == step.lane_label && x.tile < 64)) continue;
    // Whole batches first, the lanes last: their pieces are pieces of rows. But what lacks the axis is read for every piece.
    const auto worth = [&](const step_axis& y) { return y.label == step.lane_label ? 0 : y.role == group::batch ? 2 : 1; };
    const double again = bytes_again(x, cuts);
    const bool lane = x.label == step.lane_label, was_lane = best && best->label == step.lane_label;
    const double mine = again * (lane ? 2 : 1), other = least * (was_lane ? 2 : 1);
    const bool level = best && mine < 1.25 * other + 4096 && other < 1.25 * mine + 4096;
    const bool better = !best || (level ? worth(x) > worth(*best) || (worth(x) == worth(*best) && x.tile * std::abs(x.c) > best->tile * std::abs(best->c)) : mine < other);
    if (better) best = &x, least = again;
  }
  if (!best) return;
  best->tile = std::min(best->tile, piece_of(*best, cuts));
}

double candidate::bytes_again(const step_axis& x, std::int64_t cuts) const {
  const std::int64_t tile = piece_of(x, cuts);
  double bytes = 0;
  if (x.a == 0) bytes += bytes_of(op.a, step.axes, &step_axis::a);
  if (x.b == 0) bytes += bytes_of(op.b, step.axes, &step_axis::b);
  // Pieces that share lines of c send them to and fro.
  constexpr std::int64_t line = 64;
  const bool shared = std::abs(x.c) * tile * static_cast<std::int64_t>(size_of(op.c.type)) < 2 * line;
  // Those of a copy that share lines of what it reads turn narrower squares, too.
  if (step.how == method::move && std::abs(x.b) * tile * static_cast<std::int64_t>(size_of(op.b.type)) < line) bytes += bytes_of(op.b, step.axes, &step_axis::b);
  return bytes * static_cast<double>(divide_up(x.tile, tile) - 1) + (shared ? 8 * result_bytes() : 0);
}

std::int64_t candidate::piece_of(const step_axis& x, std::int64_t cuts) const {
  const std::int64_t tile = divide_up(x.tile, std::min(x.tile, cuts)), width = m.vector_bytes / static_cast<std::int64_t>(size_of(compute_type(op.c.type)));
  const std::int64_t whole = x.label != step.lane_label ? 1 : x.tile < 512 ? std::max<std::int64_t>(1, 3 * width) : 64;
  return divide_up(tile, whole) * whole;
}

}  // namespace ricci::planning
