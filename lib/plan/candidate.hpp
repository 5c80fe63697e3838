// One way to run a pairwise product: its tiles, cut for caches, rows and threads, and what it costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include "plan/cost.hpp"
#include "plan/plan.hpp"
#include "plan/rows.hpp"

namespace ricci::planning {

using kernels::lanes;

inline std::int64_t divide_up(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

struct candidate {
  const machine& m;
  const options& o;
  const std::vector<int>& block_labels;
  const pair_op& op;
  plan_step step;                // without its operation, which is copied when the step is chosen
  bool along_rows_of_b = false;  // see follow_rows_of_b

  step_axis& axis(int label) {
    return *std::find_if(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.label == label; });
  }

  std::int64_t tile_size(std::int64_t step_axis::*stride, bool with_lane_only_in_c) const {
    std::int64_t n = 1;
    for (const step_axis& x : step.axes)
      if (x.*stride != 0 || (x.label == step.lane_label && with_lane_only_in_c)) n *= x.tile;
    return n;
  }

  std::int64_t packed_bytes() const {
    const auto size = static_cast<std::int64_t>(size_of(compute_type(op.c.type)));
    std::int64_t n = 0;
    if (step.pack_a) n += tile_size(&step_axis::a, step.lanes != lanes::n);
    if (step.pack_b) n += tile_size(&step_axis::b, true);
    if (step.buffer_c) n += tile_size(&step_axis::c, false);
    return n * size;
  }

  /// Halves tiles until what is packed fits: batch labels down to L1, the others to half of L2.
  void fit_tiles() {
    if (!step.pack_a && !step.pack_b && !step.buffer_c) return;
    const std::int64_t near = m.caches.empty() ? 24576 : m.caches[0].bytes * 3 / 4;
    const std::int64_t far = m.caches.size() < 2 ? 131072 : m.caches[1].bytes / 2;
    const std::int64_t width = m.vector_bytes / static_cast<std::int64_t>(size_of(compute_type(op.c.type)));
    while (packed_bytes() > near) {
      const bool over = packed_bytes() > far;
      step_axis* best = nullptr;
      double worth = 0;
      for (step_axis& x : step.axes) {
        const bool is_lane = x.label == step.lane_label;
        const std::int64_t least = is_lane ? 4 * width : x.role == group::k ? 32 : x.role == group::batch ? 1 : 8;
        if (x.part != 0 || x.tile <= least || (!over && x.role != group::batch)) continue;
        const double span = static_cast<double>(x.tile) * (x.role == group::batch && !is_lane ? 1e6 : 1) *
                            (x.role == group::k ? 0.01 : 1);
        if (span > worth) worth = span, best = &x;
      }
      if (!best) break;
      const std::int64_t pieces = divide_up(best->extent, best->tile) * 2;
      std::int64_t tile = divide_up(best->extent, pieces);
      if (best->label == step.lane_label) tile = divide_up(tile, width) * width;
      best->tile = std::min(tile, best->tile - 1);
    }
  }

  /// A vector times a large matrix goes along its rows, some at a time: the kernel would walk down columns.
  void follow_rows_of_b() {
    step_axis* k = nullptr;
    double bytes = static_cast<double>(size_of(op.b.type));
    for (step_axis& x : step.axes) {
      bytes *= static_cast<double>(x.extent);
      if (x.role == group::m || x.role == group::batch || x.tile != x.extent) return;
      if (x.role == group::k) {
        if (k) return;
        k = &x;
      }
    }
    const auto far = [&](const step_axis& x) { return std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type)) >= 2048; };
    if (step.lanes != lanes::n || step.pack_b || step.buffer_c || !k || !far(*k) || k->part != 0 || !block_labels.empty()) return;
    if (m.caches.size() < 2 || bytes < 0.5 * static_cast<double>(m.caches[1].bytes) || compute_type(op.c.type) != op.c.type) return;
    k->tile = std::min<std::int64_t>(k->tile, 8);
    along_rows_of_b = true;
  }

  /// A result beyond the second cache is written along its rows, some at a time: the kernel does the rows of some columns
  /// before it goes to the next ones, and would bring all rows again. b, which every group of rows reads again, stays in the
  /// second cache. Measured.
  void follow_rows_of_c() {
    if (step.lanes != lanes::n || step.pack_a || step.buffer_c || !block_labels.empty() || m.caches.size() < 2) return;
    constexpr std::int64_t rows = 24, most_sums = 256, widest = 3, least_row = 2048;  // vectors of columns that a kernel does at once; bytes
    std::int64_t sums = 1, columns = 1, all = 1, row_axes = 0, longest = 1;
    for (step_axis& x : step.axes) {
      if (x.tile != x.extent || x.part != 0) return;
      if (x.role == group::k) sums *= x.extent;
      if (x.role == group::n) columns *= x.extent;
      if (x.role == group::m) ++row_axes, longest = std::max(longest, x.extent);
      if (x.c != 0) all *= x.extent;
    }
    const auto second = static_cast<double>(m.caches[1].bytes), size = static_cast<double>(size_of(op.c.type));
    const std::int64_t row = row_of(step.axes, group::n) * static_cast<std::int64_t>(size_of(op.c.type));
    if (sums > most_sums || row <= widest * m.vector_bytes) return;
    if (row < least_row && (row_axes > 1 || static_cast<double>(longest * (sums + columns)) * size < 0.5 * second)) return;
    if (static_cast<double>(all) * size < 0.5 * second || static_cast<double>(sums * columns) * size > 0.5 * second) return;
    for (step_axis& x : step.axes)
      if (x.role == group::m) x.tile = std::min(x.tile, rows);
  }

  /// Products element by element go along the rows of large tensors: a kernel walks down the columns of its tile.
  void follow_rows() {
    double elements = 1;
    step_axis* outer = nullptr;
    for (step_axis& x : step.axes) {
      if (x.role == group::k) return;
      elements *= static_cast<double>(x.extent);
      if (x.label != step.lane_label && (!outer || std::abs(x.c) > std::abs(outer->c))) outer = &x;
    }
    const double bytes = elements * static_cast<double>(size_of(op.c.type));
    if (step.lanes != lanes::batch || !outer || !block_labels.empty() || m.caches.empty() || bytes < static_cast<double>(m.caches[0].bytes)) return;
    outer->tile = std::min<std::int64_t>(outer->tile, 8);
  }

  /// Cuts an outer axis so that every thread has several pieces.
  void cut_for_threads(double cycles) {
    const int threads = o.threads > 0 ? std::min(o.threads, m.cores) : m.cores;
    if (threads < 2 || !block_labels.empty() || cycles < 60000 || op.cut_label >= 0) return;
    std::int64_t pieces = 1;
    for (const step_axis& x : step.axes)
      if (x.role != group::k) pieces *= divide_up(x.extent, x.tile);
    const auto wanted = static_cast<std::int64_t>(std::min(cycles / 20000, along_rows_of_b ? threads : threads * 4.0));
    if (pieces >= wanted) return;
    step_axis* best = nullptr;
    for (step_axis& x : step.axes) {
      if (x.role == group::k || x.c == 0 || x.tile < 2) continue;
      const bool is_lane = x.label == step.lane_label && x.tile < 64;
      if (is_lane) continue;
      // Whole batches first, the lanes last: their pieces are pieces of rows.
      const auto worth = [&](const step_axis& y) { return y.label == step.lane_label ? 0 : y.role == group::batch ? 2 : 1; };
      if (!best || worth(x) > worth(*best) || (worth(x) == worth(*best) && x.tile * std::abs(x.c) > best->tile * std::abs(best->c)))
        best = &x;
    }
    if (!best) return;
    std::int64_t tile = divide_up(best->tile, std::min(best->tile, divide_up(wanted, pieces)));
    if (best->label == step.lane_label) tile = divide_up(tile, 64) * 64;
    best->tile = std::min(best->tile, tile);
  }

  shape inner() const {
    shape s;
    s.lanes = step.lanes;
    s.type = compute_type(op.c.type);
    std::int64_t row = 1, col = 1;
    for (const step_axis& x : step.axes) {
      if (x.label == step.lane_label) s.lane = x.tile;
      else if (x.role == group::k) s.k *= x.tile;
      else if (x.role == group::m) row = std::max(row, x.tile), s.loops *= x.tile;
      else if (x.role == group::n) col = std::max(col, x.tile), s.loops *= x.tile;
      else if (step.lanes == lanes::batch || x.a == 0) s.loops *= x.tile;
      else s.loops *= x.tile;
    }
    s.rows = row, s.cols = col;
    s.loops /= row * col;
    fuse_lane(s);
    return s;
  }

  /// n labels whose strides nest with the lane axis will be one axis in the kernel.
  void fuse_lane(shape& s) const {
    const auto lane = std::find_if(step.axes.begin(), step.axes.end(),
                                   [&](const step_axis& x) { return x.label == step.lane_label; });
    if (lane == step.axes.end() || step.lanes == lanes::k) return;
    std::int64_t reach = lane->tile;
    if (lane->tile != lane->extent) return;
    std::vector<const step_axis*> joined;
    for (bool grown = true; grown;) {
      grown = false;
      for (const step_axis& x : step.axes) {
        if (std::find(joined.begin(), joined.end(), &x) != joined.end()) continue;
        if (x.label == step.lane_label || x.role == group::k || x.tile != x.extent) continue;
        const bool nests = (step.buffer_c || x.c == reach) && (step.pack_b || x.b == reach) &&
                           (step.lanes == lanes::n ? x.a == 0 : step.pack_a || x.a == reach);
        if (!nests || x.c == 0 || x.b == 0) continue;
        reach *= x.tile;
        joined.push_back(&x);
        if (x.role == group::n && x.tile == s.cols) s.cols = 1;  // the first of several as long: the others are loops
        else s.loops = std::max<std::int64_t>(1, s.loops / x.tile);
        grown = true;
        break;
      }
    }
    s.lane = reach;
  }

  double pack_cycles(const operand& x, std::int64_t step_axis::*stride, bool lane_extra, std::int64_t calls) const {
    bool same = false, any = x.where == operand::kind::one;
    for (const step_axis& a : step.axes) {
      if (a.*stride == 1 && a.label == step.lane_label) same = true;
      if (a.*stride == 1 && a.tile >= 4) any = true;
    }
    return static_cast<double>(calls) * scattering(stride, same) *
           move_cycles(tile_size(stride, lane_extra), same, any, x.type != compute_type(x.type));
  }

  /// A result of several axes that is brought from a buffer to where it belongs goes there in short pieces, beyond the second
  /// cache a line or less each. Measured.
  double scattering(std::int64_t step_axis::*stride, bool same) const {
    if (stride != &step_axis::c || same || !block_labels.empty() || !m.writes_kernels || m.caches.size() < 2) return 1;
    return result_bytes() > last_cache(m) ? 6 : result_bytes() > static_cast<double>(m.caches[1].bytes) ? 3.5 : 2.5;
  }

  double result_bytes() const {
    double bytes = static_cast<double>(size_of(op.c.type));
    for (const step_axis& x : step.axes)
      if (x.c != 0) bytes *= static_cast<double>(x.extent);
    return bytes;
  }

  /// The axis of the rows of a kernel's tile, as the engine chooses it; null if none is long enough.
  const step_axis* row_axis() const {
    const step_axis* row = nullptr;
    for (const step_axis& x : step.axes)
      if (x.role == group::m && x.tile >= 8 && (!row || std::abs(x.a) < std::abs(row->a))) row = &x;
    return row;
  }

  /// Cycles that the lines of a result wait for one another where the rows of a kernel's tile lie pages apart, in the same sets
  /// of the caches. Measured.
  double waits_for_c() const {
    if (!m.writes_kernels || step.lanes != lanes::n || step.buffer_c || step.pack_a || !block_labels.empty() || m.caches.size() < 2) return 0;
    if (result_bytes() < static_cast<double>(m.caches[1].bytes)) return 0;
    const step_axis* const row = row_axis();
    const auto axes = std::count_if(step.axes.begin(), step.axes.end(), [](const step_axis& x) { return x.role == group::m && x.tile > 1; });
    constexpr std::int64_t page = 4096;
    const double line = 64, wait = result_bytes() > last_cache(m) ? 25 : 5;
    const bool apart = row && axes > 1 && std::abs(row->c) * static_cast<std::int64_t>(size_of(op.c.type)) >= page;
    return apart ? wait * result_bytes() / line : 0;
  }

  /// A panel of b beyond the caches whose rows lie far apart costs misses of cache and address translation. Written
  /// kernels, which wait for nothing else, bear it from the second cache (64 x 64 x 7 panel, rows 36 KiB apart: 92 % of
  /// the speed of a packed one).
  double strided_penalty(double panel) const {
    const std::size_t near = m.writes_kernels ? 1 : 0;
    if (step.pack_b || m.caches.size() <= near) return 1;
    if (panel < 0.75 * static_cast<double>(m.caches[near].bytes)) return rows_turn_pages() ? 1.4 : 1;
    std::int64_t widest = 0;
    for (const step_axis& x : step.axes)
      if (x.role == group::k && x.tile > 16) widest = std::max(widest, std::abs(x.b));
    return widest * static_cast<std::int64_t>(size_of(op.b.type)) >= 1024 ? 1.8 : 1.2;
  }

  /// Every row of b lies in pages of its own, hundreds of them, at one place of the first cache's ways, and tiles of rows read
  /// them again. Measured on Intel: packed, the paper's statement of 64 x 64 x 9 x 8 is 1.3 times as fast, 500 x 500 times 24
  /// of 512 columns 1.6 times, of 600 columns 0.96; with 64 to 200 pages nothing is gained.
  bool rows_turn_pages() const {
    if (!m.writes_kernels || m.fetches_blocks || step.lanes != lanes::n) return false;
    constexpr std::int64_t page = 4096, hundreds = 256, least_rows = 128;
    std::int64_t rows = 1, pages = 1, widest = 0;
    bool apart = false;
    for (const step_axis& x : step.axes) {
      const std::int64_t bytes = std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type));
      if (x.role == group::m) rows *= x.tile;
      if (x.role == group::k && x.tile > 16 && bytes > 0 && bytes % page == 0) pages *= x.tile, apart = true;
      if (x.role == group::n && x.tile > 1) widest = std::max(widest, x.tile * bytes);
    }
    return apart && rows >= least_rows && pages * std::max<std::int64_t>(1, widest / page) >= hundreds;
  }

  /// Whether b pays that penalty for every row, so that a packed copy is worth a thought.
  bool rows_far_apart() const {
    if (rows_turn_pages()) return true;
    const shape s = inner();
    for (const step_axis& x : step.axes)
      if (x.role == group::k && x.tile > 1 && std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type)) < 1024) return false;
    return strided_penalty(static_cast<double>(s.lane * s.cols * s.k) * static_cast<double>(size_of(s.type))) > 1.5;
  }

  /// A panel of b that takes a good part of the second cache shares it with all that streams past. Measured on Intel, where rows
  /// of 2 MiB and less of it go to neighbours too; AMD's caches bear it.
  double crowding(double panel) const {
    if (!m.writes_kernels || m.fetches_blocks || step.lanes != lanes::n || !step.pack_b || m.caches.size() < 2) return 1;
    const auto second = static_cast<double>(m.caches[1].bytes);
    double in_play = 0;
    for (const auto& [x, stride] : {std::pair{&op.a, &step_axis::a}, {&op.b, &step_axis::b}, {&op.c, &step_axis::c}}) {
      double bytes = x->where == operand::kind::one ? 0 : static_cast<double>(size_of(x->type));
      for (const step_axis& y : step.axes)
        if (y.*stride != 0) bytes *= static_cast<double>(y.extent);
      in_play += bytes;
    }
    return panel > 0.25 * second && in_play > second ? 1.2 : 1;
  }

  /// Cycles that a tile of rows waits for a, which is broadcast, where a comes from beyond the second cache. Along the sums it is
  /// followed by the hardware, but read anew for every piece of the columns; across them every step is a line on its own, which
  /// the next rows find again if all that the sums walk across stays in the second cache. Measured.
  double waits_for_a(const shape& s, std::int64_t calls_of_lane) const {
    if (!m.writes_kernels || s.lanes != lanes::n || step.pack_a || op.a.where == operand::kind::one || m.caches.size() < 2 || s.k < 16) return 0;
    double bytes = static_cast<double>(size_of(op.a.type));
    std::int64_t stride = 0, span = 0, steps = 0;  // bytes; of the axis that the kernel goes along
    bool rows_near = false;
    for (const step_axis& x : step.axes) {
      if (x.a != 0) bytes *= static_cast<double>(x.extent);
      if (x.role == group::m && x.a == 1 && x.tile >= 16) rows_near = true;
      if (x.role != group::k || x.tile < 4) continue;
      const std::int64_t apart = std::abs(x.a) * static_cast<std::int64_t>(size_of(op.a.type));
      if (steps == 0 || std::abs(x.a) + std::abs(x.b) < steps) steps = std::abs(x.a) + std::abs(x.b), stride = apart, span = apart * x.tile;
    }
    const auto second = static_cast<double>(m.caches[1].bytes);
    if (bytes < 0.75 * second) return 0;
    if (stride < 256 || static_cast<double>(span) < 0.5 * second) return 0.5 * bytes / stream_rate(bytes, m) * static_cast<double>(calls_of_lane - 1);
    const double line = 64, wait = rows_near ? 8 : 30;
    return wait * bytes / line * static_cast<double>(calls_of_lane);
  }

  /// Cycles that a waits where the axis around the rows of c jumps pages in it: what the hardware would fetch is not what comes next.
  /// Rows of whole lines do not mind. Measured.
  double jumps_in_a() const {
    if (!m.writes_kernels || step.lanes != lanes::n || step.pack_a || !block_labels.empty() || m.caches.size() < 2) return 0;
    const auto size = static_cast<std::int64_t>(size_of(op.a.type));
    const step_axis *const row = row_axis(), *around = nullptr;
    double bytes = op.a.where == operand::kind::one ? 0 : static_cast<double>(size);
    std::int64_t used = 16;  // bytes of a line
    for (const step_axis& x : step.axes) {
      if (x.a != 0) bytes *= static_cast<double>(x.extent);
      if (x.a == 1 && (&x == row || x.role == group::k)) used = std::min<std::int64_t>(64, x.tile * size);
      if (x.role == group::m && &x != row && x.tile > 1 && (!around || std::abs(x.c) < std::abs(around->c))) around = &x;
    }
    constexpr std::int64_t page = 4096;
    constexpr double wait = 30;
    if (!around || used == 64 || std::abs(around->a) * size < page || bytes < 0.75 * static_cast<double>(m.caches[1].bytes)) return 0;
    return wait * bytes / static_cast<double>(used);
  }

  /// Cycles in which a packed operand of all caches' size is only read, and its result only written.
  double waits_for_memory() const {
    if (!m.writes_kernels || (!step.pack_a && !step.pack_b) || !block_labels.empty()) return 0;
    double total = 0;
    for (const auto& [x, stride, share] : {std::tuple{&op.a, &step_axis::a, step.pack_a ? 1.0 : 0.0}, {&op.b, &step_axis::b, step.pack_b ? 1.0 : 0.0}, {&op.c, &step_axis::c, 0.3}}) {
      double bytes = x->where == operand::kind::external ? static_cast<double>(size_of(x->type)) : 0;
      for (const step_axis& y : step.axes)
        if (y.*stride != 0) bytes *= static_cast<double>(y.extent);
      if (bytes > last_cache(m)) total += share * bytes / stream_rate(bytes, m);
    }
    return total;
  }

  /// All rows of a and the columns that a kernel does at once stay in the first cache until it goes to the next columns.
  bool stays(const shape& s) const {
    if (!m.writes_kernels || s.lanes != lanes::n || step.pack_b || m.caches.empty()) return false;
    constexpr std::int64_t widest = 3;  // vectors
    return s.k * (s.rows * static_cast<std::int64_t>(size_of(s.type)) + widest * m.vector_bytes) <= m.caches[0].bytes * 3 / 4;
  }

  /// Estimated cycles of the whole step on one core.
  double cycles() {
    std::int64_t calls = 1, calls_b = 1, calls_c = 1, without_a = 1;
    double work = 2;
    for (const step_axis& x : step.axes) {
      const std::int64_t outer = divide_up(x.extent, x.tile);
      calls *= outer;
      if (x.b != 0 || calls_b > 1) calls_b *= outer;
      if (x.role != group::k) calls_c *= outer;
      if (x.a == 0) without_a *= outer;
      work *= static_cast<double>(x.extent);
    }
    const shape s = inner();
    const auto size = static_cast<double>(size_of(s.type));
    double per_call = kernel_cycles(s, m);
    const double panel = static_cast<double>(s.lane * s.cols * s.k) * size;  // of b, read again by every group of rows
    const double rereads = stays(s) ? 1 : std::max(1.0, static_cast<double>(s.rows) / (m.writes_kernels && m.vector_registers >= 32 ? 6 : 4));
    per_call = std::max(per_call, static_cast<double>(s.loops) * panel * rereads / stream_rate(panel, m));
    per_call *= strided_penalty(panel) * crowding(panel);
    double total = static_cast<double>(calls) * (per_call + call_cycles(m));
    total += waits_for_a(s, without_a) + waits_for_c() + jumps_in_a() + waits_for_memory();
    const bool lane_in_a = step.lanes != lanes::n;
    if (step.pack_a && !step.keep_a) total += pack_cycles(op.a, &step_axis::a, lane_in_a, calls);
    if (step.pack_b && !step.keep_b) total += pack_cycles(op.b, &step_axis::b, true, std::max(calls_b, calls_c > 1 ? calls_b : 1));
    if (step.buffer_c) total += pack_cycles(op.c, &step_axis::c, false, calls_c);
    step.flops = work * (is_complex(s.type) ? 4 : 1);
    if (op.scale.where != operand::kind::one) {
      const auto elements = static_cast<double>(tile_size(&step_axis::c, false));
      step.flops += elements;
      total += elements / static_cast<double>(m.vector_bytes) * size;
    }
    return total;
  }
};

}  // namespace ricci::planning
