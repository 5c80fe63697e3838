// Which tiles fit the sides of a product, and what tiles take, as measured on an H200.
#include "gpu/tile_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ricci::cuda {
namespace {

int in_units(std::int64_t x, int to) { return static_cast<int>(divide_up(x, std::int64_t{to}) * to); }

/// What a multiprocessor takes, in clocks: fitted to six thousand kernels of sides of 36 to 2,048, the root of whose mean square error is a tenth.
struct tile_costs {
  double product, read;    // for what the arithmetic units, and shared memory, need at best
  double copy, guarded;    // for a copy of 32 threads; more where some of them may lie outside
  double warp, meeting;    // for a slice of a warp; more where it meets others
  double wait;             // for a slice that nobody else hides
  double store;            // for a byte of a result
  double beside;           // where neighbours add their parts
  double once;             // in microseconds
};

std::optional<tile_costs> costs_of(const step_shape& s) {
  if (!s.has_a || !s.has_b || s.a != s.b || s.a != s.c) return {};
  switch (s.c) {
    case dtype::f32: return tile_costs{0.94, 1.08, 5.1, 6.2, 21.8, 1.9, 305, 0, 2080, 1.4};
    case dtype::c64: return tile_costs{1.14, 0, 8.6, 5.3, 0, 6.1, 227, 0.004, 1230, 1.5};
    case dtype::f64: return tile_costs{0.86, 0, 4.2, 6.3, 4.9, 3.9, 342, 0.029, 1670, 1.1};
    case dtype::c128: return tile_costs{0.93, 0, 4.4, 5.1, 0, 0, 399, 0.064, 500, 1};
    default: return {};
  }
}

/// Registers that a thread has about, and what is left to the compiler so that nothing spills.
int registers_used(const step_shape& s, int rm, int rn) {
  const int sums = rm * rn, more = s.beta ? 16 : 0;
  switch (s.c) {
    case dtype::f32: return more + (sums <= 16 ? 96 : sums <= 32 ? 120 : 168);
    case dtype::c64: return more + (sums <= 16 ? 112 : 160);
    case dtype::f64: return more + (sums <= 2 ? 80 : sums <= 3 ? 104 : sums <= 5 ? 120 : 160);
    default: return more + (sums <= 1 ? 104 : sums <= 2 ? 144 : sums <= 3 ? 168 : 192);
  }
}
int registers_left(const step_shape& s, int rm, int rn, const tile_copies& copies) {
  const int used = registers_used(s, rm, rn);
  if (s.c == dtype::f32) return used + (copies.a_along_k && copies.b_along_k ? 32 : rm * rn <= 32 ? 24 : 0);
  return used + (s.c == dtype::c64 ? 24 : s.c == dtype::f64 && rm * rn <= 2 ? 32 : 16);
}

constexpr int registers_there = 65536, threads_there = 2048, blocks_asked = 8;

/// Blocks whose warps have so many registers: each of the four schedulers has its own.
int blocks_with(int registers, int block) { return 4 * (registers_there / 4 / 32 / registers) / (block / 32); }
int blocks_asked_for(int registers, int block) { return std::clamp(blocks_with(registers, block), 1, std::min(threads_there / block, blocks_asked)); }

/// Rows or columns of tiles that are a part of so many, in whole units.
std::vector<int> parts_of_side(std::int64_t extent, int unit, int least, int most) {
  std::vector<int> all;
  const auto add = [&](int x) {
    if (x <= most && std::find(all.begin(), all.end(), x) == all.end()) all.push_back(x);
  };
  constexpr std::int64_t long_side = 900;
  if (extent > long_side) {
    for (const int x : {32, 48, 64, 80, 96, 128}) add(in_units(x, unit));
    return all;
  }
  for (std::int64_t cut = 1;; ++cut) {
    const int x = in_units(divide_up(extent, cut), unit);
    if (x < least && !all.empty()) break;
    add(x);
    if (x <= least) break;
  }
  return all;
}

std::vector<tile_config> tiles_by_threads(const step_shape& s, const tile_copies& copies) {
  constexpr int least = 24, most = 128, warp = 32, most_threads = 256;
  const bool complex = s.c == dtype::c64;
  using tile = std::pair<int, int>;
  std::vector<tile_config> all;
  for (const auto& [rm, rn] : complex ? std::vector<tile>{{4, 4}, {8, 4}, {4, 8}} : std::vector<tile>{{4, 4}, {8, 4}, {4, 8}, {8, 8}})
    for (const int rows : parts_of_side(count_of(s.m), rm, least, most))
      for (const int cols : parts_of_side(count_of(s.n), rn, least, most)) {
        const int threads = rows / rm * (cols / rn), block = in_units(threads, warp);
        if (threads > most_threads || 4 * threads < 3 * block) continue;
        tile_config c{arithmetic::threads, rows, cols, complex ? 8 : 16, 3, block, rm, rn, 1, 1, blocks_asked_for(registers_left(s, rm, rn, copies), block)};
        all.push_back(c);
        c.depth = complex ? 16 : 32, c.stages = 2;
        if (rm * rn <= 32) all.push_back(c);
        c.depth = 20, c.stages = 3;
        if (!complex) all.push_back(c);
      }
  return all;
}

std::vector<tile_config> tiles_by_cores(const step_shape& s, const tile_copies& copies) {
  constexpr int least = 16, most = 128, high = 16, across = 8, fewest_warps = 2, most_warps = 8;
  const bool complex = s.c == dtype::c128;
  const int most_sums = complex ? 4 : 10, fewest_sums = complex ? 1 : 2;
  std::vector<tile_config> all;
  for (const int rows : parts_of_side(count_of(s.m), high, least, most))
    for (const int cols : parts_of_side(count_of(s.n), across, least, most))
      for (int rm = 1; rm <= 3; ++rm)
        for (int rn = 1; rm * rn <= most_sums; ++rn) {
          if (rows / high % rm != 0 || cols / across % rn != 0 || rm * rn < fewest_sums) continue;
          const int along = rows / high / rm, beside = cols / across / rn, warps = along * beside, block = 32 * warps;
          if (warps < fewest_warps || warps > most_warps) continue;
          tile_config c{complex ? arithmetic::mma_c128 : arithmetic::mma_f64, rows, cols, complex ? 8 : 16, 3, block, rm, rn, along, beside, blocks_asked_for(registers_left(s, rm, rn, copies), block)};
          all.push_back(c);
          c.depth = 16, c.stages = 2;
          if (complex) all.push_back(c);
        }
  return all;
}

/// Blocks that a multiprocessor has room for.
int tiles_at_once(const step_shape& s, const tile_config& c, const tile_copies& copies, const gpu_machine& m) {
  constexpr int own = 1024;  // bytes of shared memory that every block takes beside
  const int room = m.shared_bytes / (tile_shared_bytes(s, c, copies) + own);
  return std::max(1, std::min({std::max(blocks_with(registers_used(s, c.rm, c.rn), c.block), c.blocks), room, threads_there / c.block, 32}));
}

/// Copies of 32 threads that a slice of so many lines takes.
double copies_of_slice(const tile_config& c, int lines, bool along_k, int vec) {
  const int across = std::max(1, (along_k ? c.depth : lines) / vec), workers = c.block > across ? c.block / across * across : c.block;
  return static_cast<double>(divide_up(lines * c.depth / vec, workers)) * c.block / 32.0;
}

double whole_share(std::int64_t extent, int part) { return extent % part == 0 ? 1 : 1 - 1 / static_cast<double>(divide_up(extent, std::int64_t{part})); }

/// Tiles whose slices wait in fewer stages or are longer than usual are worse than they are estimated to be.
double unusual(const step_shape& s, const tile_config& c) {
  if (s.c == dtype::f32) return c.depth == 16 && c.stages == 3 ? 1 : 1.04;
  if (s.c == dtype::c64) return (c.depth == 8 ? 1 : 1.06) * (c.rm < c.rn ? 1.08 : 1);
  return 1;
}

}  // namespace

std::vector<tile_config> fitted_tiles(const step_shape& s, const tile_copies& copies) {
  if (!costs_of(s)) return {};
  return s.c == dtype::f32 || s.c == dtype::c64 ? tiles_by_threads(s, copies) : tiles_by_cores(s, copies);
}

double fitted_seconds(const step_shape& s, const tile_config& c, const tile_copies& copies, const gpu_machine& m, double limit) {
  const tile_costs cost = costs_of(s).value();
  constexpr double clock = 1.755e9, lanes = 128, warp = 32;
  const auto up = [](double x, double to) { return std::ceil(x / to) * to; };
  const std::int64_t rows = count_of(s.m), cols = count_of(s.n), terms = count_of(s.k);
  const std::int64_t tiles = divide_up(rows, std::int64_t{c.rows}) * divide_up(cols, std::int64_t{c.cols}) * count_of(s.batch) * c.parts;
  const double slices = static_cast<double>(divide_up(divide_up(terms, std::int64_t{c.depth}), c.parts));
  const double warps = c.block / warp, depth = c.depth, size = static_cast<double>(size_of(s.c)), real = is_complex(s.c) ? 4 : 1;
  const bool threads = c.compute == arithmetic::threads;
  const double all = c.rm * c.rn * depth * real;
  const double products = warps * (cost.product * (threads ? all * warp / lanes : all) + (threads ? cost.read * depth * (c.rm + c.rn) * size / 16 : 0));
  const auto copying = [&](std::int64_t extent, int lines, bool along_k, int vec) {
    return copies_of_slice(c, lines, along_k, vec) * (cost.copy + cost.guarded * (1 - whole_share(extent, lines) * whole_share(terms, c.depth)));
  };
  const double copied = copying(rows, c.rows, copies.a_along_k, copies.vec_a) + copying(cols, c.cols, copies.b_along_k, copies.vec_b);
  const double work = products + copied + warps * (cost.warp + (warps > 1 ? cost.meeting : 0)), alone = cost.wait + products * up(warps, 4) / warps + copied;
  const std::int64_t each = divide_up(tiles, std::int64_t{m.multiprocessors});
  if (const double least = static_cast<double>(each) * slices * work / clock; least > limit) return least;
  const std::int64_t at_once = std::min<std::int64_t>(each, tiles_at_once(s, c, copies, m));
  const auto round = [&](std::int64_t blocks) {
    if (blocks == 0) return 0.0;
    const double n = static_cast<double>(blocks), busy = work / warps * up(n * warps, 4), power = threads ? 8 : 3;
    const double more = std::max(busy, alone), less = std::min(busy, alone);
    return slices * more * std::pow(1 + std::pow(less / more, power), 1 / power) + n * c.rows * c.cols * size * cost.store;
  };
  const double clocks = static_cast<double>(each / at_once) * round(at_once) + round(each % at_once);
  const double seconds = (clocks * unusual(s, c) + (c.parts > 1 && c.beside ? cost.beside : 0)) / clock + cost.once * 1e-6;
  constexpr double adding = 6e-6;  // the parts of a sum, by another kernel
  const double memory = counted_bytes_of(s) / (0.8e9 * m.bandwidth) + 1.5e-6;
  return std::pow(std::pow(seconds, 6) + std::pow(memory, 6), 1.0 / 6) + (c.parts > 1 && !c.beside ? adding : 0);
}

double library_seconds(const step_shape& s, const blas_call& c) {
  // Fitted to calls of cuBLAS 13 for sides of 64 to 1,500: microseconds once, for products at peak (`more` terms' beside), and for a hundred terms;
  // sides and terms are padded. The root of the mean square error is 5 (c128) to 15 % (f64).
  struct costs {
    double once, product, more, terms;
    int pad, pad_terms;
  };
  const std::optional<costs> cost = [&]() -> std::optional<costs> {
    if (s.a != s.c || s.b != s.c) return {};
    switch (s.c) {
      case dtype::f32: return costs{11.5, 1.4, 61, 1.7, 16, 64};
      case dtype::f64: return costs{14.5, 1.21, 28, 0.53, 64, 16};
      case dtype::c64: return costs{13.6, 1.26, 29, 1.36, 32, 8};
      case dtype::c128: return costs{13.3, 0.98, 68, 0.92, 32, 32};
      default: return {};
    }
  }();
  if (!cost) return std::numeric_limits<double>::infinity();
  constexpr double peak = 66.9e6, launch = 5;  // operations in a microsecond; microseconds
  const double problems = static_cast<double>(c.batch.extent), terms = in_units(c.sum, cost->pad_terms);
  const double rows = in_units(c.rows, cost->pad), cols = in_units(c.cols, cost->pad);
  const double each = cost->product * (is_complex(s.c) ? 8 : 2) * problems * rows * cols * (terms + cost->more) / peak;
  return 1e-6 * (cost->once + cost->terms * terms / 100 + static_cast<double>(count_of(c.calls)) * each - launch);
}

namespace {

/// Where estimates are good: matrices as they lie, neither side narrow, sums not short.
bool is_known(const step_shape& s, const gpu_machine& m) {
  if (!costs_of(s) || m.architecture < 90 || s.m.size() != 1 || s.n.size() != 1 || s.k.size() != 1) return false;
  constexpr std::int64_t shortest_sum = 32;
  const std::int64_t narrow = s.c == dtype::f32 || s.c == dtype::c64 ? 24 : 16;
  const bool lies = (s.m[0].a == 1 || s.k[0].a == 1) && (s.k[0].b == 1 || s.n[0].b == 1) && s.n[0].c == 1;
  return lies && std::min(count_of(s.m), count_of(s.n)) >= narrow && count_of(s.k) >= shortest_sum;
}

struct tile_and_seconds {
  tile_config tile;
  double seconds;
};

tile_and_seconds fastest(const step_shape& s, const tile_config& usual, const gpu_machine& m, bool in_parts) {
  const tile_copies copies = copies_of(arranged_for_tiles(s, usual), usual, {16, 16, 16});
  // Where there are many tiles, what is estimated weighs more than what is lost beside them.
  const double usual_seconds = fitted_seconds(s, usual, copies, m), clearly = usual_seconds < 50e-6 ? 0.96 : 0.92;
  tile_and_seconds best{usual, usual_seconds};
  double least = clearly * usual_seconds;
  for (tile_config c : fitted_tiles(s, copies)) {
    const std::int64_t tiles = divide_up(count_of(s.m), std::int64_t{c.rows}) * divide_up(count_of(s.n), std::int64_t{c.cols}) * count_of(s.batch), slices = divide_up(count_of(s.k), std::int64_t{c.depth});
    const auto consider = [&](std::int64_t parts, bool beside) {
      c.parts = parts, c.beside = beside;
      if (const double seconds = fitted_seconds(s, c, copies, m, least); seconds < least) best = {c, seconds}, least = seconds;
    };
    consider(1, false);
    // Clusters find a place together only while some multiprocessors are left.
    for (const auto& [parts, most] : {std::pair{2, 1.0}, {4, 0.8}, {8, 0.66}})
      if (slices >= 2 * parts && static_cast<double>(tiles * parts) <= most * m.multiprocessors) consider(parts, true);
    if (!in_parts) continue;
    for (const int rounds : {1, 2, 3})
      if (const std::int64_t parts = std::min<std::int64_t>(rounds * m.multiprocessors / tiles, slices / 4); parts > 1 && rounds <= c.blocks) consider(parts, false);
  }
  return best;
}

}  // namespace

tile_config fit_tile(const step_shape& s, const tile_config& usual, const gpu_machine& m, bool in_parts) { return is_known(s, m) ? fastest(s, usual, m, in_parts).tile : usual; }

double best_tile_seconds(const step_shape& s, const gpu_machine& m, bool in_parts) {
  return is_known(s, m) ? fastest(s, choose_tile(s, m, in_parts), m, in_parts).seconds : std::numeric_limits<double>::infinity();
}

namespace {

/// One product whose sum is so long that its parts fill the machine, of few rows and columns: 0.43 to 1 of the library's time in f32 and c64,
/// level where sums are shorter (measured on an H200).
bool is_long_sum(const step_shape& s, const blas_call& c) {
  if (c.batch.extent * count_of(c.calls) != 1 || std::max(c.rows, c.cols) > 256) return false;
  switch (s.c) {
    case dtype::f32: return c.sum >= 100000;
    case dtype::c64: return c.sum >= 5000;
    case dtype::f64: return c.sum >= 1000000 && std::min(c.rows, c.cols) >= 40 && std::max(c.rows, c.cols) <= 50;
    default: return false;
  }
}

}  // namespace

bool passes_library(const step_shape& s, const blas_call& c, const gpu_machine& m, bool in_parts) {
  // Rows that begin anywhere, short and long sums and sides are not known so well.
  constexpr std::int64_t short_sum = 64, long_sum = 2048, short_side = 48, long_side = 900;
  if (!is_known(s, m) || (size_of(s.c) < 16 && elements_together(c) == 1)) return false;
  if (in_parts && is_long_sum(s, c)) return true;
  if (c.sum < short_sum || c.sum > long_sum || std::min(c.rows, c.cols) < short_side || std::max(c.rows, c.cols) > long_side) return false;
  constexpr double clearly = 0.92;  // of 250 calls whose sides are 72 to 1,500, the most was gained so
  return best_tile_seconds(s, m, in_parts) < clearly * library_seconds(s, c);
}

}  // namespace ricci::cuda
