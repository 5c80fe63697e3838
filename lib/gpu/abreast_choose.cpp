// Which kernel of kernels/abreast.cuh: all that fit, and what they take by estimate.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "gpu/abreast.hpp"
#include "gpu/long_text.hpp"

namespace ricci::cuda {
namespace {

arithmetic compute_of(dtype t) {
  switch (t) {
    case dtype::f64: return arithmetic::mma_f64;
    case dtype::c128: return arithmetic::mma_c128;
    case dtype::f16:
    case dtype::bf16: return arithmetic::mma_16;
    default: return arithmetic::threads;
  }
}

/// Registers of a thread, as the compiler needs them about: sums, what is multiplied, addresses.
int registers_of(const abreast_config& c, const step_shape& s) {
  switch (c.compute) {
    case arithmetic::mma_f64: return c.rm * c.rn * 16 + c.rm * 16 + 60;
    case arithmetic::mma_c128: return c.rm * c.rn * 16 + c.rm * 16 + 80;
    case arithmetic::mma_16: return c.rm * c.rn * 32 + (c.rm + c.rn) * 16 + 72;
    default: return (is_complex(s.c) ? (c.rm * c.rn + c.rm + c.rn) * 2 + 56 : c.rm * c.rn + c.rm + 46) + (s.beta ? 20 : 0);
  }
}

/// Those that it has for each thread of so many warps: each of the four schedulers has its share of them.
int registers_for(int warps, const gpu_machine& m) { return std::min(255, m.registers / 4 / 32 / ((warps + 3) / 4) / 8 * 8); }

double elements_of(const step_shape& s, stride_of_axis stride) {
  double n = 1;
  for (const auto* group : {&s.batch, &s.m, &s.n, &s.k})
    for (const axis& x : *group)
      if (x.*stride != 0) n *= static_cast<double>(x.extent);
  return n;
}

/// By thirds: 32, 64 and 128 bytes of neighbours.
double by_width(int bytes, double narrow, double middle, double full) { return bytes <= 32 ? narrow : bytes <= 64 ? middle : full; }

/// GFLOP/s of a kernel that waits for nothing else: what the products alone came to in the fit.
double rate_of(dtype t, const gpu_machine& m) {
  switch (t) {
    case dtype::f64: return 0.48 * m.tensor_f64;
    case dtype::c128: return 0.92 * m.tensor_f64;
    case dtype::f32: return 0.80 * m.peak_f32;
    case dtype::c64: return 0.80 * m.peak_f32;
    default: return 0.17 * m.tensor_16;
  }
}

/// Seconds for a copy of fewer than 16 bytes; for an element of a factor whose neighbours are not problems, and of such a result. All of the
/// GPU, measured on an H200.
double of_short_copy(dtype t) { return size_in(t) == 2 ? 5e-12 : 3e-12; }
double of_element_apart(dtype t) {
  switch (t) {
    case dtype::f64: return 3e-12;
    case dtype::c128: return 2.6e-12;
    case dtype::f32:
    case dtype::c64: return 4.4e-12;
    default: return 15e-12;
  }
}
/// `whole`: its runs of neighbours begin and end with sectors.
double of_result_apart(dtype t, bool whole) {
  if (!whole) return 6e-12;
  return t == dtype::f64 || t == dtype::c128 ? 0.5e-12 : t == dtype::f32 ? 2.4e-12 : 4e-12;
}

/// Neighbours are the problems of a block.
bool is_along(const step_shape& s, char x) {
  const stride_of_axis stride = stride_in(x);
  const std::int64_t lane = std::abs(s.batch.back().*stride);
  return nearest_of(s, x) == beside::problems && std::all_of(s.batch.begin(), s.batch.end(), [&](const axis& y) { return std::abs(y.*stride) >= lane; });
}

/// Whether runs of neighbours of the result begin at multiples of a sector, if its memory does.
bool has_whole_runs(const step_shape& s) {
  const std::int64_t sector = std::max(1, 32 / size_in(s.c));
  const std::vector<axis> free = free_axes(s);
  return std::all_of(free.begin(), free.end(), [&](const axis& x) { return x.c == 1 || x.c % sector == 0; });
}

/// What copies of neighbours take that are no whole words, or lie apart.
double seconds_of_copies(const step_shape& s, double again_a, double again_b) {
  double seconds = is_along(s, 'c') ? 0 : elements_of(s, &axis::c) * of_result_apart(s.c, has_whole_runs(s));
  const auto add = [&](char x, const std::vector<axis>& first, const std::vector<axis>& second, double again) {
    const double elements = again * elements_of(s, stride_in(x));
    if (!is_along(s, x)) seconds += elements * of_element_apart(s.c);
    else seconds += elements * (1.0 / vector_of(s.batch, {&first, &second}, stride_in(x), s.c, 16) - size_in(s.c) / 16.0) * of_short_copy(s.c);
  };
  add('a', s.m, s.k, again_a), add('b', s.k, s.n, again_b);
  return seconds;
}

int roundup(std::int64_t x, int to) { return static_cast<int>(divide_up(x, std::int64_t{to})) * to; }

}  // namespace

/// Fitted to 368 kernels in five types, squares of 12 to 200 a side, on an H200: the root of the mean square of what it is wrong by is a
/// sixth, and what it chooses takes 1.04 times as long as the best.
double abreast_seconds(const step_shape& s, const abreast_config& c, const gpu_machine& m) {
  constexpr double power = 3.9, clock = 1.75e9, banks = 128, of_first_slice = 1.6e-6, of_slice = 0.8e-6, of_tile = 1e-6, once = 8e-6, enough_warps = 8;
  const double tiles_m = static_cast<double>(divide_up(count_of(s.m), std::int64_t{c.rows})), tiles_n = static_cast<double>(divide_up(count_of(s.n), std::int64_t{c.cols}));
  const int size = size_in(s.c), bytes = c.wide * size;
  const double bandwidth = m.bandwidth * 1e9;
  double memory = 0, cache = 0;
  const auto add = [&](char x, double again) {
    const double all = elements_of(s, stride_in(x)) * size;
    memory += all, cache += again * all;
  };
  add('a', tiles_n), add('b', tiles_m), add('c', s.beta ? 2 : 1);
  if (s.beta) memory += elements_of(s, &axis::c) * size;
  const double from_memory = memory / (by_width(bytes, 0.46, 0.80, 0.93) * bandwidth), from_cache = cache / (by_width(bytes, 0.74, 1.19, 1.76) * bandwidth);
  const std::int64_t slices = divide_up(count_of(s.k), std::int64_t{c.depth}), tiles = abreast_tiles(s, c), at_once = static_cast<std::int64_t>(m.multiprocessors) * c.blocks;
  const double adds = tiles_m * c.rows * tiles_n * c.cols * static_cast<double>(slices * c.depth) * static_cast<double>(divide_up(count_of(s.batch), std::int64_t{c.wide})) * c.wide;
  const double products = (is_complex(s.c) ? 8.0 : 2.0) * adds / (rate_of(s.c, m) * 1e9);
  const bool cores = c.compute != arithmetic::threads;
  const double read = adds * size * (1.0 / (cores ? 16 * c.rm : c.rm) + 1.0 / (cores ? 8 * c.rn : c.rn)) / (m.multiprocessors * banks * clock) * 0.57;
  const double warps = static_cast<double>(c.blocks * c.block) / 32, alone = 1 + 2.1 * std::max(0.0, 1 - warps / enough_warps);
  const double waits = c.blocks > 1 || c.stages > 2 ? 1 : 1.14;
  const double busy = std::pow(std::pow(from_memory, power) + std::pow(from_cache, power) + std::pow((products + read) * alone, power), 1 / power) * waits;
  const std::int64_t turns = divide_up(tiles, at_once), on_all = tiles < at_once ? divide_up(tiles, std::int64_t{m.multiprocessors}) * m.multiprocessors : turns * at_once;
  const double filled = static_cast<double>(on_all) / static_cast<double>(tiles), per_slice = 0.33e-6 * static_cast<double>(tiles * slices) / static_cast<double>(at_once);
  // A block waits for every slice, the first ones most, and for its results; several on a multiprocessor do that for one another in part.
  const double one_by_one = std::ceil(static_cast<double>(tiles) / (m.multiprocessors * (0.5 + 0.5 * c.blocks))), each = static_cast<double>(slices);
  const double waiting = once + one_by_one * (each * of_slice + of_tile) * (size == 2 ? 1.5 : 1.0) + each * of_first_slice;
  return std::max(busy * filled + per_slice, waiting) + seconds_of_copies(s, tiles_n, tiles_m);
}

std::vector<abreast_config> abreast_candidates(const step_shape& s, const gpu_machine& m) {
  constexpr int most_threads = 512, most_registers = 240, word = 16, most_cuts = 8;
  std::vector<abreast_config> all;
  const arithmetic compute = compute_of(s.c);
  const int size = size_in(s.c), high = compute == arithmetic::threads ? 1 : 16, across = compute == arithmetic::threads ? 1 : 8;
  const std::int64_t rows = count_of(s.m), cols = count_of(s.n), problems = count_of(s.batch);
  using tile = std::pair<int, int>;
  const std::vector<tile> tiles = compute == arithmetic::threads ? std::vector<tile>{{2, 2}, {4, 2}, {2, 4}, {4, 4}, {8, 4}, {4, 8}, {8, 8}}
                                  : compute == arithmetic::mma_16 ? std::vector<tile>{{1, 1}, {1, 2}, {2, 1}}
                                                                  : std::vector<tile>{{1, 1}, {1, 2}, {2, 2}, {1, 4}, {2, 4}};
  const std::vector<int> depths = compute == arithmetic::threads ? std::vector<int>{4, 8, 16} : compute == arithmetic::mma_16 ? std::vector<int>{16} : std::vector<int>{8, 16};
  for (const auto& [rm, rn] : tiles)
    for (const int bytes : {32, 64, 128})
      for (int cut_m = 1; cut_m <= most_cuts; ++cut_m)
        for (int cut_n = 1; cut_n <= most_cuts; ++cut_n) {
          abreast_config c;
          c.compute = compute, c.wide = bytes / size, c.rm = rm, c.rn = rn;
          c.own = compute == arithmetic::threads ? 1 : word / size;
          if (c.wide > 32 / size && c.wide >= 2 * problems) continue;
          const int of_m = rm * high, of_n = rn * across;
          c.rows = roundup(divide_up(rows, std::int64_t{cut_m}), of_m), c.cols = roundup(divide_up(cols, std::int64_t{cut_n}), of_n);
          if ((cut_m > 1 && c.rows == roundup(divide_up(rows, std::int64_t{cut_m} - 1), of_m)) || (cut_n > 1 && c.cols == roundup(divide_up(cols, std::int64_t{cut_n} - 1), of_n))) continue;
          const std::int64_t threads = std::int64_t{c.wide / c.own} * (c.rows / of_m) * (c.cols / of_n) * (compute == arithmetic::threads ? 1 : 32);
          const int registers = registers_of(c, s);
          if (threads < 64 || threads > most_threads || registers > most_registers) continue;
          c.block = static_cast<int>(threads);
          for (const int depth : depths)
            for (const int stages : {2, 3}) {
              c.depth = depth, c.stages = stages;
              if (depth > depths.front() && depth > roundup(count_of(s.k), depths.front())) continue;
              if (compute == arithmetic::mma_c128 && depth > 8 && rm * rn > 4) continue;  // some of those spill
              const int shared = abreast_shared_bytes(s, c);
              if (shared > m.shared_most) continue;
              const int warps = roundup(c.block, 32) / 32;
              c.blocks = std::min({m.shared_bytes / (shared + 1024), m.threads / 32 / warps, 8});
              while (c.blocks > 0 && registers_for(c.blocks * warps, m) < registers) --c.blocks;
              if (c.blocks >= 1) all.push_back(c);
            }
        }
  return all;
}

std::optional<abreast_config> choose_abreast(const step_shape& s, const gpu_machine& m) {
  constexpr std::int64_t fewest = 4;  // rows, columns, terms
  if (!s.has_a || !s.has_b || s.batch.empty() || s.a != s.b || s.a != s.c || std::min({count_of(s.m), count_of(s.n), count_of(s.k)}) < fewest) return {};
  if (nearest_of(s, 'a') != beside::problems && nearest_of(s, 'b') != beside::problems && nearest_of(s, 'c') != beside::problems) return {};
  std::optional<abreast_config> best;
  double least = std::numeric_limits<double>::infinity();
  for (const abreast_config& c : abreast_candidates(s, m))
    if (const double seconds = abreast_seconds(s, c, m); seconds < least) least = seconds, best = c;
  return best;
}

}  // namespace ricci::cuda
