// What tiles of small products take: instructions, accesses to shared memory with their conflicts, and room.
#include "gpu/small_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "gpu/small_image.hpp"

namespace ricci::cuda {
namespace {

constexpr int warp = 32, access_bytes = 128, word = 4;

/// The offset in the image of flattened index i of its rows or columns.
std::int64_t near_of(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& near, std::int64_t i) {
  std::int64_t at = 0;
  for (std::size_t d = extents.size(); d-- > 0;) at += i % extents[d] * near[d], i /= extents[d];
  return at;
}

std::int64_t count_in(const std::vector<std::int64_t>& extents) {
  std::int64_t all = 1;
  for (const std::int64_t n : extents) all *= n;
  return all;
}

/// Accesses that threads of a warp take for so many bytes each at these offsets: as many as the words of the busiest bank, for every group
/// of threads that reads 128 bytes.
double accesses(const std::array<std::int64_t, warp>& at, int lanes, std::int64_t bytes) {
  const std::int64_t each = std::max<std::int64_t>(bytes, word);
  const int together = static_cast<int>(std::min<std::int64_t>(warp, access_bytes / each));
  double all = 0;
  for (int first = 0; first < lanes; first += together) {
    std::array<int, warp> words{};
    std::array<std::int64_t, warp> seen{};
    int known = 0, most = 1;
    for (int l = first; l < std::min(lanes, first + together); ++l) {
      const std::int64_t begin = at[static_cast<std::size_t>(l)] / word * word;
      if (std::find(seen.begin(), seen.begin() + known, begin) != seen.begin() + known) continue;
      seen[static_cast<std::size_t>(known++)] = begin;
      for (std::int64_t b = 0; b < each / word; ++b) most = std::max(most, ++words[static_cast<std::size_t>((begin / word + b) % warp)]);
    }
    all += most;
  }
  return all;
}

/// The kernel's threads: which problem and tile of a result each has, and where it reads and writes.
struct walk {
  const small_config& c;
  const images i;
  int m, n, k, tm, tn, va, vb, vk, items;

  walk(const small_shape& s, const small_config& c_) : c(c_), i(make_images(s, c_, {})), m(static_cast<int>(count_of(s.step.m))), n(static_cast<int>(count_of(s.step.n))), k(static_cast<int>(count_of(s.step.k))) {
    tm = (m + c.rm - 1) / c.rm, tn = (n + c.rn - 1) / c.rn;
    va = c.vectors ? pack_of(i.a, false, 16) : 1, vb = c.vectors ? pack_of(i.b, false, c.rn) : 1, vk = c.vectors ? pack_along_sum(s, i.b, c) : 1;
    items = c.problems * tm * tn;
  }

  /// Of a warp: at(problem, tile row, tile column) for each of its threads that has work.
  template <class At>
  double of_warp(int which, std::int64_t bytes, At at) const {
    std::array<std::int64_t, warp> offsets{};
    int lanes = 0;
    for (int l = which * warp; l < std::min(items, (which + 1) * warp); ++l) {
      const int p = i.c.problem_fastest ? l % c.problems : l / (tn * tm);
      const int column = i.c.problem_fastest ? l / c.problems % tn : l % tn, row = i.c.problem_fastest ? l / c.problems / tn : l / tn % tm;
      offsets[static_cast<std::size_t>(lanes++)] = at(p, row, column);
    }
    return lanes == 0 ? 0 : accesses(offsets, lanes, bytes);
  }

  /// Where a thread's rows and columns begin, as places in kernels/small_product.cuh has them.
  int row_of(int tile, int r) const { return (c.together & 1) ? std::min(tile * c.rm, m - c.rm) + r : std::min(r * tm + tile, m - 1); }
  int column_of(int tile, int s) const { return (c.together & 2) ? std::min(tile * c.rn, n - c.rn) + s : std::min((s / vb * tn + tile) * vb + s % vb, n - vb); }

  std::int64_t row_of_a(int p, int tile, int r) const {
    return (p * i.a.stride + near_of(i.a.row_extents, i.a.row_near, row_of(tile, r))) * i.a.bytes();
  }
  std::int64_t column_of_b(int p, int tile, int s) const {
    return (p * i.b.stride + near_of(i.b.col_extents, i.b.col_near, column_of(tile, s))) * i.b.bytes();
  }
  std::int64_t element_of_c(int p, int row, int column) const {
    return (p * i.c.stride + near_of(i.c.row_extents, i.c.row_near, std::min(row, m - 1)) + near_of(i.c.col_extents, i.c.col_near, std::min(column, n - 1))) * i.c.bytes();
  }

  /// Accesses of the products of a tile, from what two warps do with the first and last of their rows and columns: the others, and all
  /// terms of the sum, are as far apart.
  double shared() const {
    const int warps = (items + warp - 1) / warp, looked_at = std::min(warps, 2);
    double reads = 0, writes = 0;
    for (int w = 0; w < looked_at; ++w)
      for (const bool last : {false, true}) {
        const int r = last ? c.rm - 1 : 0, s = last ? c.rn - vb : 0;
        reads += of_warp(w, va * i.a.bytes(), [&](int p, int row, int) { return row_of_a(p, row, r); }) * c.rm / va;
        reads += of_warp(w, vb * vk * i.b.bytes(), [&](int p, int, int column) { return column_of_b(p, column, s); }) * c.rn / (vb * vk);
        writes += of_warp(w, i.c.bytes(), [&](int p, int row, int column) { return element_of_c(p, row_of(row, r), column_of(column, s)); });
      }
    return (reads * k + writes * c.rm * c.rn) / 2 * warps / looked_at;
  }
};

/// How clocks of different kinds add up to what a tile takes, fitted to 6,400 configurations of single threads and 2,000 of tensor cores
/// for 116 shapes that were measured on an H200: the mean error is a twelfth.
struct rates {
  double power;         // the kinds overlap: their powers are added
  double instruction;   // clocks of a scheduler
  double accessed;      // clocks of an access to shared memory
  double beside_common; // the same where problems have a factor in common
  double begun;         // until a block's first element is there
  double two_stages;    // what is left of the waits
  double by_hardware;   // what waits become with copies by the hardware
  double thread;        // a group's threads wait for one another
  double hot_run;       // clocks for asking for a common factor that is one run, as all blocks do
};
constexpr rates of_threads{1.93, 0.78, 0.37, 0.65, 1050, 0.57, 1.23, 0.064 / 256, 150}, of_cores{2.06, 0.48, 0.35, 0.8, 2030, 0.73, 1.21, 0.036 / 256, 150};
/// From 2,600 configurations of 58 products of 16 bits that have a factor in common.
constexpr rates of_cores_16{3.12, 0.25, 0.81, 0.81, 1100, 0.73, 1.21, 0.127 / 256, 0};

const rates& rates_of(const small_config& c) { return c.compute == arithmetic::threads ? of_threads : c.compute == arithmetic::mma_16 ? of_cores_16 : of_cores; }

/// What the products of a tile are: so many units of work for a warp.
struct units {
  int count = 0, at_once = 1;  // at_once: that a group has warps for
  double clocks = 0;           // of one on its scheduler
  double shared = 0;           // accesses of all
  double registers = 0;        // of a thread
};

/// Clocks between a scheduler's multiply-adds.
double clocks_of_one(dtype t) {
  switch (compute_type(t)) {
    case dtype::f32: return 1;
    case dtype::f64: return 2;
    case dtype::c64: return 4;
    default: return 8;
  }
}

units units_of_threads(const small_shape& s, const small_config& c, const walk& w) {
  constexpr double of_result = 4, other_registers = 24;
  units u;
  u.count = (w.items + warp - 1) / warp, u.at_once = c.group / warp;
  u.clocks = of_threads.instruction * (w.k * (c.rm * c.rn * clocks_of_one(s.step.c) + static_cast<double>(c.rm) / w.va + static_cast<double>(c.rn) / (w.vb * w.vk)) + of_result * c.rm * c.rn);
  u.shared = w.shared();
  const double words = static_cast<double>(size_of(compute_type(s.step.c))) / word;
  u.registers = (c.rm * c.rn + (w.vk > 1 ? w.va + c.rn * w.vk : c.rm * (w.va > 1 ? 2 : 1) + c.rn)) * words + other_registers;
  return u;
}

/// By the double-precision tensor cores, whose 8 x 8 x 4 products a warp makes one after the other.
units units_of_cores(const small_shape& s, const small_config& c, const walk& w) {
  constexpr double alone = 8.3, in_pairs = 5, of_result = 8, other_registers = 40;  // clocks of a product; instructions
  const bool complex = s.step.c == dtype::c128;
  const int parts = complex ? 4 : 1, words = complex ? 4 : 2;
  const double products = complex ? in_pairs * (c.rm / 2 * 2) + alone * (c.rm % 2) : alone * c.rm;
  const int terms = (w.k + 3) / 4, tm = ((w.m + 7) / 8 + c.rm - 1) / c.rm, tn = ((w.n + 7) / 8 + c.rn - 1) / c.rn;
  const auto accessed = [&](const operand_image& x, bool by_column, int apart) {
    std::array<std::int64_t, warp> at{};
    for (int lane = 0; lane < warp; ++lane) {
      const int line = lane / 4, quad = lane % 4 * apart, row = by_column ? quad : line, column = by_column ? line : quad;
      at[static_cast<std::size_t>(lane)] = (near_of(x.row_extents, x.row_near, std::min<std::int64_t>(row, count_in(x.row_extents) - 1)) + near_of(x.col_extents, x.col_near, std::min<std::int64_t>(column, count_in(x.col_extents) - 1))) * x.bytes();
    }
    return accesses(at, warp, x.bytes());
  };
  units u;
  u.count = c.problems * tm * tn, u.at_once = c.group / warp;
  u.clocks = terms * c.rn * products * parts + of_cores.instruction * (terms * (c.rm + c.rn) + of_result * 2 * c.rm * c.rn);
  u.shared = u.count * (terms * (c.rm * accessed(w.i.a, false, 1) + c.rn * accessed(w.i.b, true, 1)) + 2 * c.rm * c.rn * accessed(w.i.c, false, 2));
  u.registers = (2 * c.rm * c.rn * (complex ? 2 : 1)) * 2 + (c.rm + c.rn) * words + other_registers;
  return u;
}

/// By the tensor cores for 16 bits, 16 x 8 x 16 at once. Neighbours that are no aligned words come and go one by one; words that follow
/// one another, where a thread sums neighbouring terms or has neighbouring columns, go together.
units units_of_cores_16(const small_config& c, const walk& w) {
  constexpr double product = 14.6, of_load = 1, of_loads_apart = 5.8, of_store = 3.2, of_result = 0.4, other_registers = 20;  // clocks; instructions
  const int terms = (w.k + 15) / 16, tm = ((w.m + 15) / 16 + c.rm - 1) / c.rm, tn = ((w.n + 7) / 8 + c.rn - 1) / c.rn;
  const int terms_apart = c.spread ? 4 * terms : 2, columns_apart = (c.together & 2) ? 2 * c.rn : 2, pack = result_pack_of(w.i.c, c);
  const auto offset = [](const operand_image& x, std::int64_t row, std::int64_t column) {
    return (near_of(x.row_extents, x.row_near, std::min(row, count_in(x.row_extents) - 1)) + near_of(x.col_extents, x.col_near, std::min(column, count_in(x.col_extents) - 1))) * x.bytes();
  };
  const auto of_warp = [](std::int64_t bytes, const auto& at) {
    std::array<std::int64_t, warp> offsets{};
    for (int lane = 0; lane < warp; ++lane) offsets[static_cast<std::size_t>(lane)] = at(lane / 4, lane % 4);
    return accesses(offsets, warp, std::max<std::int64_t>(bytes, word));
  };
  // Loads of both halves of 16 terms, and what they take: in words, in so many as are neighbours, or element by element.
  struct loads {
    double count = 0, instructions = 0, shared = 0;
  };
  const auto loads_of = [&](const operand_image& x, bool along_row, int lines, const auto& at) {
    loads l;
    const bool paired = pack_of(x, along_row, 2) > 1;
    const std::int64_t line = std::abs(at(1, 0)), bytes = c.spread && paired && line > 0 ? std::min<std::int64_t>(terms > 1 ? 16 : 8, line & -line) : word;
    l.count = 2.0 * lines * terms * word / static_cast<double>(bytes);
    l.instructions = l.count * (paired ? of_load : of_loads_apart);
    l.shared = l.count * (of_warp(bytes, [&](int row, int quad) { return at(row, quad * terms_apart); }) + (paired ? 0 : of_warp(word, [&](int row, int quad) { return at(row, quad * terms_apart + 1); })));
    return l;
  };
  const loads a = loads_of(w.i.a, false, 2 * c.rm, [&](int line, int term) { return offset(w.i.a, line, term); });
  const loads b = loads_of(w.i.b, true, c.rn, [&](int line, int term) { return offset(w.i.b, term, line / 2 * columns_apart + line % 2); });
  const double stores = 4.0 * c.rm * c.rn / pack;
  units u;
  u.count = c.problems * tm * tn, u.at_once = c.group / warp;
  u.clocks = product * terms * c.rm * c.rn + a.instructions + b.instructions + stores * (of_store + of_result * pack);
  u.shared = u.count * (a.shared + b.shared + stores * of_warp(2 * pack, [&](int line, int quad) { return offset(w.i.c, line, quad * columns_apart); }));
  u.registers = 4 * c.rm * c.rn + 4 * c.rm + 2 * c.rn + other_registers;
  return u;
}

constexpr double clock = 1.78;  // GHz

double memory_clocks(double bytes, const gpu_machine& m) {
  return bytes * m.multiprocessors * clock / m.bandwidth;
}

/// Clocks of a multiprocessor while all ask the second cache for the same factor, of which rows that are kept apart are asked for one by one.
double hot_clocks(const small_shape& s, const small_config& c, double of_run) {
  constexpr double of_rows = 1000;
  return (is_common(s, &axis::a) && c.pad_a > 0) || (is_common(s, &axis::b) && c.pad_b > 0) ? of_rows : of_run;
}

/// Of one tile.
struct counted {
  double issue = 0;   // clocks in which a multiprocessor's four schedulers issue its instructions
  double shared = 0;  // accesses to shared memory
  double bytes = 0;   // of memory
  double hot = 0;     // clocks for asking the second cache for the same lines as all others
  double alone = 0;   // clocks of a warp's own work
  int blocks = 1;     // that a multiprocessor has room for
};

counted count(const small_shape& s, const small_config& c, const gpu_machine& m) {
  constexpr double most_blocks = 32, own_of_block = 1024;
  constexpr double of_copy = 8, of_scattered_copy = 24;  // instructions
  constexpr double more_registers = 24;  // where a factor is in common: so many were seen
  const walk w(s, c);
  const units u = c.compute == arithmetic::threads ? units_of_threads(s, c, w) : c.compute == arithmetic::mma_16 ? units_of_cores_16(c, w) : units_of_cores(s, c, w);
  const bool bulk = bulk_of(w.i, c) > 0;
  const auto bytes_of = [](const operand_image& x) { return static_cast<double>(x.elements * x.problems * x.bytes()); };
  const auto copies = [&](const operand_image& x) { return bulk ? 0 : bytes_of(x) / static_cast<double>(std::max<std::int64_t>(x.chunk, word)) / warp * (x.pad > 0 || !x.flat ? of_scattered_copy : of_copy); };
  const auto copied = [&](const operand_image& x) { return bytes_of(x) / access_bytes * 16 / static_cast<double>(std::max<std::int64_t>(x.chunk, word)); };
  counted n;
  n.issue = (u.count * u.clocks + rates_of(c).instruction * (copies(w.i.a) + copies(w.i.b) + copies(w.i.c))) / 4;
  n.shared = u.shared + copied(w.i.a) + copied(w.i.b) + copied(w.i.c);
  n.bytes = (w.i.a.shared ? 0 : bytes_of(w.i.a)) + (w.i.b.shared ? 0 : bytes_of(w.i.b)) + bytes_of(w.i.c) * (s.step.beta ? 2 : 1);
  const bool common = keeps_factor(s, c);
  if (common) n.hot = hot_clocks(s, c, rates_of(c).hot_run) / static_cast<double>(tiles_of_block(s, c, m));
  n.alone = static_cast<double>((u.count + u.at_once - 1) / u.at_once) * u.clocks;
  const double registers = std::clamp(std::ceil((u.registers + (common ? more_registers : 0)) / 8) * 8, 32.0, 255.0);
  const double shared = static_cast<double>(shared_bytes_of(w.i, c, s.step.beta)) + own_of_block;
  n.blocks = std::max(1, static_cast<int>(std::min({most_blocks, m.threads / static_cast<double>(c.block), m.shared_bytes / shared, m.registers / (registers * c.block)})));
  return n;
}

}  // namespace

std::int64_t tiles_of_block(const small_shape& s, const small_config& c, const gpu_machine& m) {
  constexpr double hidden = 0.3, of_traffic = 1.5, most = 16;
  if (c.stages > 1 || !keeps_factor(s, c)) return 1;
  const bool a = is_common(s, &axis::a), b = is_common(s, &axis::b);
  const auto size = static_cast<double>(size_of(s.step.c)), rows = static_cast<double>(count_of(s.step.m)), columns = static_cast<double>(count_of(s.step.n)), sums = static_cast<double>(count_of(s.step.k));
  const double kept = ((a ? rows : 0) + (b ? columns : 0)) * sums * size, own = c.problems * (((a ? 0 : rows) + (b ? 0 : columns)) * sums + rows * columns) * size;
  return static_cast<std::int64_t>(std::min(most, std::max({1.0, std::ceil(hot_clocks(s, c, of_threads.hot_run) / (hidden * memory_clocks(own, m))), std::ceil(of_traffic * kept / own)})));
}

double estimated_clocks(const small_shape& s, const small_config& c, const gpu_machine& m) {
  constexpr double worked = 3;  // of a block's own work it waits
  const rates& r = rates_of(c);
  const counted n = count(s, c, m);
  const double memory = memory_clocks(n.bytes, m) + n.hot, accessed = keeps_factor(s, c) ? r.beside_common : r.accessed;
  const double wait = (r.begun + worked * n.alone) / n.blocks * (c.stages > 1 ? r.two_stages : 1) * (c.bulk > 0 ? r.by_hardware : 1);
  const double all = std::pow(memory, r.power) + std::pow(n.issue, r.power) + std::pow(accessed * n.shared, r.power) + std::pow(wait, r.power);
  return std::pow(all, 1 / r.power) * (1 + r.thread * c.group) / c.problems;
}

double small_seconds(const small_shape& s, const small_config& c, const gpu_machine& m) {
  const double problems = static_cast<double>(s.inner.extent) * static_cast<double>(count_of(s.outer));
  return estimated_clocks(s, c, m) * problems / (m.multiprocessors * 1e9 * clock);
}

}  // namespace ricci::cuda
