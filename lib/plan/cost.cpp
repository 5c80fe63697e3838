// The cost model: cycles of kernels and moves, calibrated with the kernels' own bench.
#include "plan/cost.hpp"

#include <algorithm>
#include <bit>

#include "plan/integers.hpp"

namespace ricci::planning {
namespace {

/// The part of the multiply-adds of whole registers that rows take whose last lanes are packed. Measured on batches.
double tail_share(const shape& s, std::int64_t width, bool packs) {
  const std::int64_t rest = s.lane % width;
  if (!packs || s.lanes != kernels::lanes::n || s.cols > 1 || s.lane < width || rest == 0) return 1;
  const double whole = static_cast<double>(s.lane / width), tail = static_cast<double>(rest) / static_cast<double>(width) + 0.25;
  return (whole + std::min(1.0, tail)) / (whole + 1);
}

}  // namespace

double cycles_per_second(const machine& m) {
  const double lanes = m.vector_bytes / 8.0;
  return m.peak_f64 > 0 ? m.peak_f64 * 1e9 / (4 * lanes) : 3e9;
}

double last_cache(const machine& m) {
  constexpr double most = 64 << 20;
  return m.caches.empty() ? 0 : std::min(static_cast<double>(m.caches.back().bytes), most);
}

double stream_rate(double bytes, const machine& m) {
  const double hertz = cycles_per_second(m);
  for (const cache_level& level : m.caches)
    if (bytes <= 0.75 * std::min(static_cast<double>(level.bytes), last_cache(m)) && level.bandwidth > 0)
      return level.bandwidth * 1e9 / hertz;
  return m.memory_bandwidth > 0 ? m.memory_bandwidth * 1e9 / hertz : 4.0;
}

double call_cycles(const machine& m) { return m.writes_kernels ? 20 : 55; }

namespace {

/// Of short dot products, a register of results at once: what is loaded and multiplied, or the exchanges that add the lanes up.
double short_dots_cycles(const shape& s, std::int64_t width) {
  const std::int64_t pieces = s.k * divide_up(s.lane, width), results = s.rows * s.cols * s.loops;
  const double segment = pieces > 1 ? static_cast<double>(width) : static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(s.lane, 2))));
  const bool whole = pieces == 1 && (segment == static_cast<double>(s.lane) || s.lane == 3);  // registers of several, as a rule
  const double loads = (whole ? static_cast<double>(s.lane) : static_cast<double>(width * pieces)) * (s.only_sums ? 0.5 : 1);
  return static_cast<double>(results / s.neighbours * divide_up(s.neighbours, width)) * (std::max(loads, 2 * (segment - 1)) + 3) + 15;
}

/// Of sums of two complex products each, a register of results at once: of either factor the parts of two numbers are permuted.
double pairs_cycles(const shape& s, std::int64_t width) {
  const std::int64_t results = s.rows * s.cols * s.loops;
  const double each = s.only_sums ? 4 : 12;
  return static_cast<double>(results / s.neighbours * divide_up(s.neighbours, width)) * (each + 2) + 15;
}

/// Of dot products and sums one by one.
double lone_dots_cycles(const shape& s, std::int64_t pieces) {
  const double piece = is_complex(s.type) && !s.only_sums ? 2 : 1, adding_up = is_complex(s.type) ? 8 : 4;
  return static_cast<double>(s.rows * s.cols * s.loops) * (static_cast<double>(pieces) * piece + adding_up) + 4;
}

}  // namespace

double kernel_cycles(const shape& s, const machine& m) {
  const bool complex = is_complex(s.type), written = m.writes_kernels;
  const std::int64_t width = std::max<std::int64_t>(1, m.vector_bytes / static_cast<std::int64_t>(size_of(s.type)));
  const double fma_of_pair = complex ? 2 : 1;
  if (s.lanes == kernels::lanes::k && s.neighbours > 1 && complex) return pairs_cycles(s, width);
  if (s.lanes == kernels::lanes::k && s.neighbours > 1 && s.k * divide_up(s.lane, width) <= most_dot_pieces) return short_dots_cycles(s, width);
  const std::int64_t pieces = s.k * divide_up(s.lane, width);
  const bool alone = s.rows * s.cols * s.loops == 1;
  if (s.lone && (pieces <= most_lone_pieces ? complex || alone : s.k == 1 && alone) && (s.rows == 1 || s.cols == 1)) return lone_dots_cycles(s, pieces);
  if (s.lanes == kernels::lanes::k) {
    const bool many = m.vector_registers >= 32;
    const std::int64_t cols = std::min<std::int64_t>(s.cols, s.converts_b ? 4 : many ? 3 : complex ? 1 : 2);
    const std::int64_t rows = std::min<std::int64_t>(s.rows, s.converts_b ? 2 : !many ? 4 : std::min<std::int64_t>(8, (complex ? 12 : 24) / cols));
    const double tiles = static_cast<double>(divide_up(s.rows, rows) * divide_up(s.cols, cols) * s.loops);
    const double pair = static_cast<double>(rows * cols) * fma_of_pair;
    const double vectors = static_cast<double>(s.k * divide_up(s.lane, width));
    // Rows and columns that the first cache does not hold from tile to tile come from the second one, and multiply-adds wait for them.
    double anew = 0;
    if (m.caches.size() > 1 && m.caches[1].bandwidth > 0) {
      const double held = 0.75 * static_cast<double>(m.caches[0].bytes) / (vectors * m.vector_bytes);
      const bool rows_stay = static_cast<double>(rows + cols) <= held, cols_stay = static_cast<double>(s.cols > cols ? s.cols : rows + cols) <= held;
      const std::int64_t again = (s.cols > cols && !rows_stay ? rows : 0) + (s.rows > rows && !cols_stay ? cols : 0);
      anew = static_cast<double>(again) * m.vector_bytes * cycles_per_second(m) / (m.caches[1].bandwidth * 1e9);
      const double all = static_cast<double>(s.rows + s.cols) * vectors * m.vector_bytes;
      if (all > 0.4 * static_cast<double>(m.caches[1].bytes)) anew *= 2.2;  // nor does the second one hold them all
    }
    const double partial = s.lane % width ? 1.0 / static_cast<double>(divide_up(s.lane, width)) : 0;  // of the vectors
    const double converted = 0.5 * (s.converts_a ? (1 + 3 * partial) * static_cast<double>(rows + cols) : s.converts_b ? static_cast<double>(cols) : 0);
    const double step = std::max({pair / 2, static_cast<double>(rows + cols) / 2, pair < 8 ? 4.0 : 0.0}) + 0.7 * anew + converted;
    // Lanes of a few sums are added up together, those of complex ones one after the other.
    const bool together = !complex && rows * cols > 1;
    const double per_sum = together ? 6 : m.vector_bytes >= 64 ? 20 : 8, per_tile = together ? 6 : 12;
    // Short runs of sums, one behind the other through a table of where they begin, and their lanes added up.
    if (s.k > 1 && s.lane <= 4 * width) return tiles * (3 * vectors * step + 4 * static_cast<double>(rows * cols));
    return tiles * (vectors * step + per_tile + static_cast<double>(rows * cols) * per_sum) + 60;
  }
  const std::int64_t budget = (m.vector_registers >= 32 ? 24 : 12) / (complex ? 2 : 1);
  const std::int64_t vectors = s.cols * divide_up(s.lane, width);
  // One row has its sums of many vectors side by side in written kernels.
  const std::int64_t widest = complex ? (m.vector_registers >= 32 ? 10 : 4) : 12;
  const std::int64_t nv = std::min<std::int64_t>(vectors, written && s.rows == 1 ? widest : complex ? 2 : 3);
  const std::int64_t mr = std::max<std::int64_t>(1, std::min<std::int64_t>(s.rows, budget / nv));
  const std::int64_t row_tiles = divide_up(s.rows, mr), col_tiles = divide_up(vectors, nv);
  const double tiles = static_cast<double>(row_tiles * col_tiles);
  const double rows = static_cast<double>(s.rows) / static_cast<double>(row_tiles);  // of an average tile
  const double columns = static_cast<double>(vectors) / static_cast<double>(col_tiles);
  const double pair = rows * columns * fma_of_pair * tail_share(s, width, written && m.vector_bytes == 64 && !complex);
  const double loads = (columns + rows) * (complex && s.lanes == kernels::lanes::n ? 1.5 : 1.0) / 2;
  const bool strands = written && s.lane * s.rows * s.cols * s.loops == 1;  // so many that no multiply-add waits for the one before
  const double step = std::max({pair / 2, loads, s.k > 2 && pair < 8 && !strands ? 4.0 : 1.0});
  const double masked = s.lane % width == 0 ? 1.0 : written ? 1.05 : 1.15;
  const double tile = static_cast<double>(s.k) * step * masked + (written ? 3 : 8) + pair * 0.8;
  return static_cast<double>(s.loops) * (tiles * tile + (written ? 2 : 5));
}

double turn_cycles(std::int64_t count, std::size_t size, int register_bytes) {
  return 3 * static_cast<double>(count) * static_cast<double>(size) / register_bytes + 45;
}

double move_cycles(std::int64_t count, bool same_unit, bool any_unit, bool converts) {
  const double rate = same_unit ? 0.35 : any_unit ? 2.0 : 3.0;
  return static_cast<double>(count) * (converts ? std::max(rate, 1.0) : rate) + 45;
}

}  // namespace ricci::planning
