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
  int m, n, k, tm, tn, va, vb, items;

  walk(const small_shape& s, const small_config& c_) : c(c_), i(make_images(s, c_, {})), m(static_cast<int>(count_of(s.step.m))), n(static_cast<int>(count_of(s.step.n))), k(static_cast<int>(count_of(s.step.k))) {
    tm = (m + c.rm - 1) / c.rm, tn = (n + c.rn - 1) / c.rn;
    va = c.vectors ? pack_of(i.a, false, 16) : 1, vb = c.vectors ? pack_of(i.b, false, c.rn) : 1;
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
        reads += of_warp(w, vb * i.b.bytes(), [&](int p, int, int column) { return column_of_b(p, column, s); }) * c.rn / vb;
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
};
constexpr rates of_threads{1.93, 0.78, 0.37, 0.65, 1050, 0.57, 1.23, 0.064 / 256}, of_cores{2.06, 0.48, 0.35, 0.8, 2030, 0.73, 1.21, 0.036 / 256};

const rates& rates_of(const small_config& c) { return c.compute == arithmetic::threads ? of_threads : of_cores; }

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
  u.clocks = of_threads.instruction * (w.k * (c.rm * c.rn * clocks_of_one(s.step.c) + static_cast<double>(c.rm) / w.va + static_cast<double>(c.rn) / w.vb) + of_result * c.rm * c.rn);
  u.shared = w.shared();
  const double words = static_cast<double>(size_of(compute_type(s.step.c))) / word;
  u.registers = (c.rm * c.rn + c.rm * (w.va > 1 ? 2 : 1) + c.rn) * words + other_registers;
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

double memory_clocks(double bytes, const gpu_machine& m) {
  constexpr double clock = 1.78;  // GHz
  return bytes * m.multiprocessors * clock / m.bandwidth;
}

/// Clocks of a multiprocessor while all ask the second cache for the same factor, of which rows that are kept apart are asked for one by one.
double hot_clocks(const small_shape& s, const small_config& c) {
  constexpr double of_run = 150, of_rows = 1000;
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
  const units u = c.compute == arithmetic::threads ? units_of_threads(s, c, w) : units_of_cores(s, c, w);
  const bool bulk = bulk_of(w.i, c) > 0;
  const auto bytes_of = [](const operand_image& x) { return static_cast<double>(x.elements * x.problems * x.bytes()); };
  const auto copies = [&](const operand_image& x) { return bulk ? 0 : bytes_of(x) / static_cast<double>(std::max<std::int64_t>(x.chunk, word)) / warp * (x.pad > 0 || !x.flat ? of_scattered_copy : of_copy); };
  const auto copied = [&](const operand_image& x) { return bytes_of(x) / access_bytes * 16 / static_cast<double>(std::max<std::int64_t>(x.chunk, word)); };
  counted n;
  n.issue = (u.count * u.clocks + rates_of(c).instruction * (copies(w.i.a) + copies(w.i.b) + copies(w.i.c))) / 4;
  n.shared = u.shared + copied(w.i.a) + copied(w.i.b) + copied(w.i.c);
  n.bytes = (w.i.a.shared ? 0 : bytes_of(w.i.a)) + (w.i.b.shared ? 0 : bytes_of(w.i.b)) + bytes_of(w.i.c) * (s.step.beta ? 2 : 1);
  const bool common = keeps_factor(s, c);
  if (common) n.hot = hot_clocks(s, c) / static_cast<double>(tiles_of_block(s, c, m));
  n.alone = static_cast<double>((u.count + u.at_once - 1) / u.at_once) * u.clocks;
  const double registers = std::clamp(std::ceil((u.registers + (common ? more_registers : 0)) / 8) * 8, 32.0, 255.0);
  const double shared = static_cast<double>(shared_bytes_of(w.i, c, s.step.beta)) + own_of_block;
  n.blocks = std::max(1, static_cast<int>(std::min({most_blocks, m.threads / static_cast<double>(c.block), m.shared_bytes / shared, m.registers / (registers * c.block)})));
  return n;
}

int most_sums(dtype c) {
  switch (compute_type(c)) {
    case dtype::f32: return 90;
    case dtype::c128: return 20;
    default: return 40;
  }
}

/// Elements to leave free after each row, so that the reads of a warp spread over the banks.
int pad_for(const small_shape& s, const std::vector<axis>& rows, const std::vector<axis>& cols, std::int64_t axis::*stride,
            dtype t, arithmetic how) {
  std::int64_t row = 1;
  bool found = false;
  for (const auto* group : {&rows, &cols})
    for (const axis& x : *group)
      if (x.*stride == 1) row = x.extent, found = true;
  if (!found || rows.empty() || cols.empty() || s.pointers) return 0;
  const auto size = static_cast<std::int64_t>(size_of(t));
  if (how == arithmetic::mma_f64) return row % 8 == 4 ? 0 : static_cast<int>((12 - row % 8) % 8);
  if (how == arithmetic::mma_c128) return row % 8 == 0 ? 2 : 0;
  if (how == arithmetic::mma_16) return row % 8 != 0 ? 0 : row % 64 == 0 || row % 32 == 0 || row % 16 == 0 ? 8 : 0;
  if (row * size % 64 == 0) return static_cast<int>(std::max<std::int64_t>(1, 16 / size));
  return 0;
}

}  // namespace

void set_pads(const small_shape& s, small_config& c, bool wanted) {
  c.pad_a = wanted ? pad_for(s, s.step.m, s.step.k, &axis::a, s.step.a, c.compute) : 0;
  c.pad_b = wanted ? pad_for(s, s.step.k, s.step.n, &axis::b, s.step.b, c.compute) : 0;
  c.pad_c = wanted && c.compute == arithmetic::mma_16 ? pad_for(s, s.step.m, s.step.n, &axis::c, s.step.c, c.compute) : 0;
}

std::int64_t tiles_of_block(const small_shape& s, const small_config& c, const gpu_machine& m) {
  constexpr double hidden = 0.3, of_traffic = 1.5, most = 16;
  if (c.stages > 1 || !keeps_factor(s, c)) return 1;
  const bool a = is_common(s, &axis::a), b = is_common(s, &axis::b);
  const auto size = static_cast<double>(size_of(s.step.c)), rows = static_cast<double>(count_of(s.step.m)), columns = static_cast<double>(count_of(s.step.n)), sums = static_cast<double>(count_of(s.step.k));
  const double kept = ((a ? rows : 0) + (b ? columns : 0)) * sums * size, own = c.problems * (((a ? 0 : rows) + (b ? 0 : columns)) * sums + rows * columns) * size;
  return static_cast<std::int64_t>(std::min(most, std::max({1.0, std::ceil(hot_clocks(s, c) / (hidden * memory_clocks(own, m))), std::ceil(of_traffic * kept / own)})));
}

std::vector<register_tile> register_tiles(std::int64_t m, std::int64_t n, int most, int longest) {
  std::vector<register_tile> tiles;
  for (int rm = 1; rm <= longest && rm <= m; ++rm)
    for (int rn = 1; rn <= longest && rn <= n; ++rn) {
      if (rm * rn > most || (rm - 1) * divide_up(m, rm) >= m || (rn - 1) * divide_up(n, rn) >= n) continue;
      const double waste = static_cast<double>(divide_up(m, rm) * rm * divide_up(n, rn) * rn) / static_cast<double>(m * n);
      tiles.push_back({rm, rn, waste * (1 + 1.5 * static_cast<double>(rm + rn) / (rm * rn))});
    }
  std::stable_sort(tiles.begin(), tiles.end(), [](const register_tile& x, const register_tile& y) { return x.cost < y.cost; });
  return tiles;
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

namespace {

using candidate = std::pair<double, small_config>;

/// Configurations that fit, and what they are estimated to take.
class search {
 public:
  search(const small_shape& s, const gpu_machine& m) : s_(s), m_(m), sm_(count_of(s.step.m)), sn_(count_of(s.step.n)), sk_(count_of(s.step.k)), size_(static_cast<std::int64_t>(size_of(s.step.c))) {}

  std::optional<small_config> best() {
    by_threads(), by_cores();
    refine();
    if (found_.empty()) return std::nullopt;
    return std::min_element(found_.begin(), found_.end(), better)->second;
  }

 private:
  static bool better(const candidate& x, const candidate& y) { return x.first < y.first; }
  bool may_pack() const { return sk_ % 2 == 0 && sn_ % 2 == 0 && size_ < 16 && size_ > 2 && !s_.pointers; }

  void consider(small_config c) {
    const std::int64_t items = divide_up(sm_, c.rm) * divide_up(sn_, c.rn);
    c.over = c.compute == arithmetic::threads && c.stages == 1 && !s_.step.beta && c.problems * items <= c.group;
    if (!fits(s_, c, m_)) {
      if (!c.over) return;
      c.over = false;
      if (!fits(s_, c, m_)) return;
    }
    found_.push_back({estimated_clocks(s_, c, m_), c});
  }

  bool has_problems(std::int64_t problems) const { return problems == 1 || problems <= s_.inner.extent; }
  std::int64_t factor_bytes(std::int64_t problems) const { return problems * (sm_ + sn_) * sk_ * size_; }
  static bool is_busy(std::int64_t work, std::int64_t group, double share) { return static_cast<double>(work) >= share * static_cast<double>(divide_up(work, group) * group); }

  void by_threads() {
    constexpr std::size_t most_tiles = 14;
    constexpr std::int64_t longest = 12, most_factors = 24 << 10;
    std::vector<register_tile> tiles = register_tiles(sm_, sn_, most_sums(s_.step.c), longest);
    tiles.resize(std::min(tiles.size(), most_tiles));
    for (const register_tile& t : tiles)
      for (const int group : {32, 64, 96, 128}) {
        const std::int64_t items = divide_up(sm_, t.rm) * divide_up(sn_, t.rn), one = std::max<std::int64_t>(1, group / items);
        for (const std::int64_t problems : {one, 2 * one}) {
          if (problems > one && (group < items || factor_bytes(problems) > most_factors)) continue;
          if (!has_problems(problems) || !is_busy(problems * items, group, 0.6)) continue;
          small_config c;
          c.rm = t.rm, c.rn = t.rn, c.group = c.block = group, c.problems = static_cast<int>(problems), c.stages = 1;
          c.unroll = static_cast<int>(sk_ <= 8 ? sk_ : 4);
          c.vectors = may_pack(), c.lined = sk_ % 2 != 0 && sn_ % 2 != 0 && !s_.pointers;
          consider(c);
        }
      }
  }

  void by_cores() {
    constexpr std::int64_t most_factors = 32 << 10, least_side = 5, least_sum = 3;
    const bool complex = s_.step.c == dtype::c128;
    if ((s_.step.c != dtype::f64 && !complex) || std::min(sm_, sn_) < least_side || sk_ < least_sum) return;
    const std::int64_t rows = divide_up(sm_, 8), cols = divide_up(sn_, 8);
    for (int rm = 1; rm <= std::min<std::int64_t>(4, rows); ++rm)
      for (int rn = 1; rn <= std::min<std::int64_t>(8, cols); ++rn) {
        const std::int64_t items = divide_up(rows, rm) * divide_up(cols, rn);
        if (rm * rn > (complex ? 8 : 16) || 3 * items * rm * rn > 4 * rows * cols) continue;
        for (const int group : {32, 64, 96, 128, 192, 256})
          for (const int problems : {1, 2, 3, 4, 6, 8}) {
            const std::int64_t work = 32 * items * problems;
            if (!has_problems(problems) || !is_busy(work, group, 0.7) || (problems > 1 && (work > 4 * group || factor_bytes(problems) > most_factors))) continue;
            small_config c;
            c.compute = complex ? arithmetic::mma_c128 : arithmetic::mma_f64;
            c.rm = rm, c.rn = rn, c.group = c.block = group, c.problems = problems, c.stages = 1, c.unroll = complex ? 1 : 4;
            consider(c);
          }
      }
  }

  /// The best so far in other ways: other places of a thread's rows and columns, space after rows, copies by the hardware, two stages.
  void refine() {
    constexpr std::size_t kept = 6;
    std::stable_sort(found_.begin(), found_.end(), better);
    found_.resize(std::min(found_.size(), kept));
    for (const candidate& base : std::vector<candidate>(found_)) {
      const bool threads = base.second.compute == arithmetic::threads;
      for (int together = 0; together < (threads ? 4 : 1); ++together)
        for (const bool vectors : {false, true}) {
          if (vectors && !(threads && may_pack())) continue;
          small_config c = base.second;
          c.together = together, c.vectors = vectors, c.stages = 1, c.bulk = 0, c.pad_a = c.pad_b = 0;
          consider(c);
          small_config other = c;
          set_pads(s_, other, true);
          if (other.pad_a > 0 || other.pad_b > 0) consider(other);
          other.stages = 2;
          if (s_.rows == 1) consider(other);  // else they take room from blocks that would hide more
          // What problems share would be asked of one place in the second cache by all: 0.6 of the speed.
          if (m_.architecture < 90 || s_.pointers || s_.inner.a == 0 || s_.inner.b == 0) continue;
          other = c, other.bulk = 2, other.lined = false;
          consider(other);
        }
    }
  }

  const small_shape& s_;
  const gpu_machine& m_;
  const std::int64_t sm_, sn_, sk_, size_;
  std::vector<candidate> found_;
};

}  // namespace

std::optional<small_config> choose_by_counting(const small_shape& s, const gpu_machine& m) { return search(s, m).best(); }

}  // namespace ricci::cuda
