// Products in cache blocks of packed panels: when, in which order, in which pieces, at what cost.
#include "plan/blocked.hpp"

#include <algorithm>
#include <cmath>

#include "plan/cost.hpp"
#include "plan/rows.hpp"

namespace ricci::planning {
namespace {

using stride = std::int64_t step_axis::*;

constexpr std::int64_t box_side = 16;      // sums that are neighbours in a, and in b, in a box of either
constexpr std::int64_t longest_near = 4;   // tiles of rows or columns that are neighbours in c, in a box

/// What the list of a group is ordered by, and what else is to come in runs.
std::pair<stride, stride> sides_of(group g) {
  if (g == group::m) return {&step_axis::c, &step_axis::a};
  if (g == group::n) return {&step_axis::c, &step_axis::b};
  return {&step_axis::b, &step_axis::a};
}

/// Axes that are one run of memory along `s`, the neighbours first, as far as a run pays.
std::vector<std::size_t> run_of(const std::vector<step_axis>& axes, const std::vector<std::size_t>& members, stride s, std::int64_t enough) {
  std::vector<std::size_t> run;
  std::int64_t length = 1;
  for (bool grown = true; grown && length < enough;) {
    grown = false;
    for (const std::size_t i : members)
      if (axes[i].*s == length && axes[i].extent > 1) run.push_back(i), length *= axes[i].extent, grown = true;
  }
  return run;
}

/// Equal pieces of at most `most`.
std::int64_t even_piece(std::int64_t n, std::int64_t most) {
  const std::int64_t pieces = (n + most - 1) / most;
  return (n + pieces - 1) / pieces;
}

std::int64_t cache_bytes(const machine& m, std::size_t level, std::int64_t otherwise) {
  return level < m.caches.size() && m.caches[level].bytes > 0 ? m.caches[level].bytes : otherwise;
}

/// A panel of b stays in the first cache beside one of a, a block of a in the second. `run` columns of c are neighbours.
cache_blocks blocks_of(const pair_op& op, const std::vector<step_axis>& axes, std::int64_t rows, std::int64_t k, std::int64_t run, const machine& m) {
  const dtype type = compute_type(op.c.type);
  const auto size = static_cast<std::int64_t>(size_of(type)), lanes = std::max<std::int64_t>(1, m.vector_bytes / size);
  const bool wide = m.vector_bytes >= 64, many = wide && m.writes_kernels;
  cache_blocks x;
  // Tiles as wide as what is neighbours can be: others go through a buffer.
  const bool narrow = is_complex(type) || (m.writes_kernels && run > 0 && run % (3 * lanes) != 0 && run % (2 * lanes) == 0);
  x.tile_cols = std::min<std::int64_t>(narrow ? 2 : 3, cache_blocks::most_tile / lanes) * lanes;
  x.tile_rows = many ? (is_complex(type) ? 7 : narrow ? 14 : 9) : wide ? 8 : is_complex(type) ? 3 : narrow ? 6 : 4;
  const std::int64_t most_sums = std::min<std::int64_t>(cache_bytes(m, 0, 32 << 10) / (x.tile_cols * size) / 8 * 8, 320);
  const auto even = [](std::int64_t n, std::int64_t most, std::int64_t unit) { return (even_piece(n, most) + unit - 1) / unit * unit; };
  const std::int64_t box = walk_of(axes, group::k, size, x).box;
  // A panel up to twice the first cache costs less than boxes that end within a block.
  const bool boxes = box > 0 && box <= 2 * most_sums && box < k;
  x.sums = boxes ? std::max<std::int64_t>(most_sums / box, 1) * box : even(k, std::max<std::int64_t>(most_sums, 8), 8);
  const std::int64_t most_rows = cache_bytes(m, 1, 1 << 20) / 4 / (x.sums * size);
  x.rows = even(rows, std::max(most_rows, x.tile_rows), x.tile_rows);
  x.cols = 64 * x.tile_cols;
  // Blocks end where boxes do, as far as tiles do.
  const auto whole = [](std::int64_t n, std::int64_t one, std::int64_t unit) { return one > 0 && one < n ? (n / one * one + unit - 1) / unit * unit : n; };
  x.rows = whole(x.rows, walk_of(axes, group::m, size, x).box, x.tile_rows);
  x.cols = whole(x.cols, walk_of(axes, group::n, size, x).box, x.tile_cols);
  return x;
}

/// Cycles for each element of a (or b) that is packed: the lines of its neighbours are in the walks, or nowhere.
double pack_cycles(const std::vector<step_axis>& axes, group side, std::int64_t size, const cache_blocks& cut, const machine& m) {
  const stride packed = side == group::m ? &step_axis::a : &step_axis::b;
  for (const group g : {side, group::k}) {
    const walk w = walk_of(axes, g, size, cut);
    for (std::size_t d = 0; d < w.digits.size(); ++d) {
      const step_axis& x = axes[w.digits[d].axis];
      if (x.*packed == 1 && x.extent >= 4) return d == 0 ? (m.writes_kernels ? 0.8 : 1.5) : 2;
    }
  }
  return 10;
}

/// Cycles in which nothing is computed because a block is being read or written.
double waits(const pair_op& op, const cache_blocks& cut, double rows, double cols, double k, const machine& m) {
  const auto bytes = [&](const operand& x, double elements) { return static_cast<double>(size_of(x.type)) * elements; };
  const double a = bytes(op.a, rows * k), b = bytes(op.b, cols * k), c = bytes(op.c, rows * cols), all = a + b + c;
  if (!m.writes_kernels || m.caches.size() < 2 || all < static_cast<double>(m.caches[1].bytes)) return 0;
  const double again = std::ceil(cols / static_cast<double>(cut.cols)), blocks = std::ceil(k / static_cast<double>(cut.sums));
  return 0.5 * (a * again + b + c * (2 * blocks - 1)) / stream_rate(all, m);
}

}  // namespace

walk walk_of(const std::vector<step_axis>& axes, group g, std::int64_t size, const cache_blocks& cut) {
  const auto [near, packed] = sides_of(g);
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i].role == g) members.push_back(i);
  const auto sort_by = [&](stride s) {
    std::stable_sort(members.begin(), members.end(), [&](std::size_t x, std::size_t y) { return std::abs(axes[x].*s) < std::abs(axes[y].*s); });
  };
  const std::int64_t line = 64 / size;
  sort_by(near);
  std::vector<std::size_t> run = run_of(axes, members, packed, line);
  if (g == group::k && !run.empty() && run_of(axes, members, near, 2).empty()) sort_by(packed);  // b has no neighbours
  // Sums of a that are no neighbours are to be near one another: their lines and pages are shared.
  if (g == group::k && run.empty() && !members.empty())
    run.push_back(*std::min_element(members.begin(), members.end(), [&, by = packed](std::size_t x, std::size_t y) { return std::abs(axes[x].*by) < std::abs(axes[y].*by); }));
  walk out;
  const auto add = [&](std::size_t i, std::int64_t piece) { out.digits.push_back({i, piece, false}); };
  if (members.empty() || run.empty() || run.front() == members.front()) {
    for (const std::size_t i : members) add(i, axes[i].extent);
    return out;
  }
  // A box: what is near, then what is packed in runs.
  const std::int64_t most_run = std::max(box_side, line), tile = g == group::m ? cut.tile_rows : cut.tile_cols;
  const std::int64_t extent = axes[members.front()].extent, most = longest_near * tile;
  add(members.front(), g == group::k ? even_piece(extent, box_side) : extent <= most ? extent : most);
  std::int64_t length = 1;
  for (const std::size_t i : run) {
    if (i == members.front()) break;
    add(i, even_piece(axes[i].extent, std::max<std::int64_t>(1, most_run / length)));
    length *= out.digits.back().piece;
  }
  out.box = length * out.digits.front().piece;
  const std::vector<digit> pieces = out.digits;
  for (const digit& d : pieces)
    if (d.piece < axes[d.axis].extent) out.digits.push_back({d.axis, d.piece, true});
  for (const std::size_t i : members)
    if (std::none_of(pieces.begin(), pieces.end(), [&](const digit& d) { return d.axis == i; })) add(i, axes[i].extent);
  return out;
}

std::optional<plan_step> blocked_step(const pair_op& op, const std::vector<step_axis>& axes, const machine& m) {
  double rows = 1, cols = 1, k = 1, batch = 1;
  for (const step_axis& x : axes) {
    (x.role == group::m ? rows : x.role == group::n ? cols : x.role == group::k ? k : batch) *= static_cast<double>(x.extent);
    // The vector side is the one with the unit stride of c, if there is one.
    if (x.c == 1 && x.role == group::m) return {};
  }
  if (op.cut_label >= 0 || rows < 8 || cols < 8 || k < 8 || rows * cols * k < 40000) return {};
  const bool rounded = compute_type(op.c.type) != op.c.type;  // sums in parts would be rounded to 16 bits each time
  if (rounded && k > 512) return {};
  plan_step s;
  s.how = method::blocked;
  s.axes = axes;
  s.pack_a = s.pack_b = true;
  // Where the columns of c are no neighbours, tiles go through a buffer, run by run.
  const std::int64_t run = row_of(axes, group::n);
  const double row = static_cast<double>(run);
  s.cut = blocks_of(op, axes, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(k), row >= cols ? 0 : run, m);
  if (rounded) s.cut.sums = static_cast<std::int64_t>(k);
  const auto size = static_cast<std::int64_t>(size_of(compute_type(op.c.type)));
  const double lanes = std::max(1.0, static_cast<double>(m.vector_bytes) / static_cast<double>(size)), per_cycle = 2 * lanes / (is_complex(op.c.type) ? 2 : 1);
  s.flops = 2 * batch * rows * cols * k * (is_complex(op.c.type) ? 4 : 1);
  // Written kernels mask the last columns; the compiled ones take tiles of 4 rows and 12 columns.
  const auto whole = [](double n, double unit) { return std::ceil(n / unit) * unit; };
  const double area = m.writes_kernels ? rows * whole(cols, lanes) : whole(rows, 4) * whole(cols, 12);
  const double scattered = row >= cols || run % s.cut.tile_cols == 0 ? 0 : m.writes_kernels ? 0.3 + 6 / row : 1 + 100 / row;
  const bool fitted = m.writes_kernels && m.vector_bytes >= 64 && !m.fetches_blocks;
  const double updates = (fitted ? 0.65 : m.writes_kernels ? 0.5 : 1) + scattered;
  const double blocks = m.writes_kernels ? std::ceil(k / static_cast<double>(s.cut.sums)) : 1;
  const double cycles = batch * (area * k / per_cycle * 1.02 + pack_cycles(axes, group::m, size, s.cut, m) * rows * k +
                                 pack_cycles(axes, group::n, size, s.cut, m) * cols * k + updates * blocks * rows * cols + 2000);
  s.seconds = (cycles + batch * waits(op, s.cut, rows, cols, k, m)) / cycles_per_second(m);
  return s;
}

}  // namespace ricci::planning
