// Which kernel for many small products: the table measured on this machine, then the shipped one for square sizes, then rules.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "gpu/small.hpp"
#include "gpu/small_cost.hpp"
#include "gpu/small_table.hpp"
#include "gpu/tuned.hpp"

namespace ricci::cuda {
namespace {

using tile = register_tile;

/// `thorough`: more than usually pays.
int most_accumulators(dtype c, bool thorough = false) {
  switch (compute_type(c)) {
    case dtype::f32: return thorough ? 90 : 64;
    case dtype::c128: return thorough ? 20 : 12;
    case dtype::c64: return thorough ? 36 : 16;
    default: return 16;
  }
}

/// Problems of a tile are whole 16-byte words of every operand.
std::int64_t problem_step(const small_shape& s) {
  std::int64_t step = 1;
  const auto add = [&](dtype t, std::int64_t elements) {
    const std::int64_t wide = 16 / static_cast<std::int64_t>(size_of(t));
    step = std::lcm(step, wide / std::gcd(wide, elements));
  };
  const std::int64_t m = count_of(s.step.m), n = count_of(s.step.n), k = count_of(s.step.k);
  add(s.step.a, m * k), add(s.step.b, k * n), add(s.step.c, m * n);
  return step;
}

std::int64_t items_of(const small_shape& s, const small_config& c) {
  const std::int64_t m = count_of(s.step.m), n = count_of(s.step.n);
  if (c.compute == arithmetic::threads) return divide_up(m, c.rm) * divide_up(n, c.rn);
  return 32 * divide_up(divide_up(m, c.compute == arithmetic::mma_16 ? 16 : 8), c.rm) * divide_up(divide_up(n, 8), c.rn);
}

/// The number of problems near `wanted` that keeps the most threads busy.
int problems_near(const small_shape& s, const small_config& c, double wanted) {
  const std::int64_t step = problem_step(s), items = items_of(s, c);
  const auto low = std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted * 0.7));
  const auto high = std::max<std::int64_t>(low, static_cast<std::int64_t>(wanted * 1.3));
  std::int64_t best = std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted) / step * step);
  double most = -1;
  for (std::int64_t p = low; p <= high; ++p) {
    if (p % step != 0 && high >= step) continue;
    const double busy = static_cast<double>(p * items) / static_cast<double>(divide_up(p * items, c.group) * c.group);
    if (busy > most + 1e-9) most = busy, best = p;
  }
  return static_cast<int>(std::min(best, std::max<std::int64_t>(1, s.inner.extent)));
}

/// Packs of neighbours, if the rows of both images can be made multiples of 16 bytes.
void set_vectors(const small_shape& s, small_config& c) {
  const auto size = static_cast<std::int64_t>(size_of(s.step.a));
  const std::int64_t n = count_of(s.step.n), k = count_of(s.step.k);
  if (c.compute != arithmetic::threads || size >= 16 || size == 2 || (n % 2 && !is_along_sum(s)) || k % 2 || s.pointers) return;
  c.vectors = true;
  if (k * size % 16 != 0 && k * size % 8 != 0) c.pad_a = 0;
}

double problem_bytes(const small_shape& s) {
  const double m = static_cast<double>(count_of(s.step.m)), n = static_cast<double>(count_of(s.step.n)), k = static_cast<double>(count_of(s.step.k));
  const bool own_a = s.pointers || s.inner.a != 0, own_b = s.pointers || s.inner.b != 0;
  return (own_a ? m * k * static_cast<double>(size_of(s.step.a)) : 0) + (own_b ? k * n * static_cast<double>(size_of(s.step.b)) : 0) +
         m * n * static_cast<double>(size_of(s.step.c)) * 0.5;
}

/// Register tiles of tensor-core tiles that divide the problem, largest first.
std::vector<tile> core_tiles(std::int64_t rows, std::int64_t cols, int most) {
  std::vector<tile> tiles;
  for (int rm = static_cast<int>(std::min<std::int64_t>(rows, 4)); rm >= 1; --rm)
    for (int rn = static_cast<int>(std::min<std::int64_t>(cols, 8)); rn >= 1; --rn)
      if (rm * rn <= most && rows % rm == 0 && cols % rn == 0) tiles.push_back({rm, rn, 1.0 / rm + 1.0 / rn});
  std::stable_sort(tiles.begin(), tiles.end(), [](const tile& x, const tile& y) { return x.cost < y.cost; });
  return tiles;
}

std::vector<small_config> arithmetic_choices(const small_shape& s, bool thorough = false) {
  const std::int64_t m = count_of(s.step.m), n = count_of(s.step.n), k = count_of(s.step.k);
  std::vector<small_config> out;
  const auto add = [&](arithmetic how, const std::vector<tile>& tiles, std::size_t most) {
    for (std::size_t t = 0; t < std::min(most, tiles.size()); ++t) {
      small_config c;
      c.compute = how, c.rm = tiles[t].rm, c.rn = tiles[t].rn;
      c.unroll = how == arithmetic::threads ? static_cast<int>(k <= 8 ? k : 4) : how == arithmetic::mma_16 ? 2 : how == arithmetic::mma_c128 ? 1 : 4;
      out.push_back(c);
    }
  };
  const bool same = s.step.a == s.step.b && !is_complex(s.step.c);
  if (s.step.a == s.step.b && s.step.c == dtype::c128 && s.step.a == s.step.c && m > 6 && n > 6 && k > 3)
    add(arithmetic::mma_c128, core_tiles(divide_up(m, 8), divide_up(n, 8), 9), 3);
  if (same && s.step.a == dtype::f64 && m > 6 && n > 6 && k > 3) add(arithmetic::mma_f64, core_tiles(divide_up(m, 8), divide_up(n, 8), 16), m > 16 ? 2 : 1);
  if (same && size_of(s.step.a) == 2 && m > 4 && n > 4 && k > 4) add(arithmetic::mma_16, core_tiles(divide_up(m, 16), divide_up(n, 8), 8), m > 16 ? 2 : 1);
  add(arithmetic::threads, register_tiles(m, n, most_accumulators(s.step.c, thorough), thorough ? 10 : 8), thorough ? (s.step.c == dtype::f32 ? 5 : 4) : m > 8 && s.step.c != dtype::f64 ? 4 : m > 16 ? 2 : 3);
  if (thorough && !is_complex(s.step.c))
    for (std::size_t c = 0, count = out.size(); c < count; ++c) {
      small_config other = out[c];
      other.unroll = other.compute == arithmetic::threads ? 8 : other.unroll == 2 ? 1 : 2;
      out.push_back(other);
    }
  return out;
}

/// Whether sums and operands alone need more registers than the compiler would be left.
bool would_spill(const small_shape& s, const small_config& c) {
  const int word = static_cast<int>(size_of(compute_type(s.step.c))) / 4, packs = c.vectors ? std::max(1, 16 / static_cast<int>(size_of(s.step.c))) : 1;
  const int operands = (is_along_sum(s) && packs > 1 ? packs + c.rn * packs : c.rm * packs + c.rn) * word;
  int sums = c.rm * c.rn * word;
  if (c.compute == arithmetic::mma_f64) sums *= 2;
  if (c.compute == arithmetic::mma_16) sums *= 4;
  if (c.compute == arithmetic::mma_c128) sums *= 2;
  const int others = c.compute == arithmetic::threads ? 12 : 20;
  return sums + operands + others > 65536 / (c.block * c.blocks) / 8 * 8;
}

}  // namespace

std::vector<small_config> small_candidates(const small_shape& s, const gpu_machine& m, bool thorough) {
  struct team {
    int group, block;
    std::vector<int> blocks;  // wanted on a multiprocessor: what the compiler leaves registers for
  };
  static const std::vector<team> usual = {{128, 128, {8, 12, 1}}, {64, 64, {16, 1}}, {256, 256, {4, 6}}, {32, 128, {6, 1}}};
  static const std::vector<team> more = {{128, 128, {5, 6, 7, 10}}, {64, 64, {10, 12, 14, 20}}, {32, 32, {16, 24, 32, 1}},
                                         {96, 96, {8, 10, 12, 1}}, {192, 192, {4, 5, 1}}, {32, 128, {4, 5}}, {256, 256, {3, 1}}};
  const std::vector<team>& teams = thorough ? more : usual;
  std::vector<small_config> out;
  const double bytes = problem_bytes(s);
  for (const small_config& base : arithmetic_choices(s, thorough))
    for (const team& t : teams)
      for (const int stages : {1, 2, 3})
        for (const double kib : {4.0, 8.0, 2.0, 16.0, 48.0}) {
          if (kib > 16 && !(thorough && stages == 1 && size_of(s.step.a) == 2)) continue;  // odd sizes in whole 16-byte words
          if (thorough && ((kib > 8 && kib < 48) || stages == 3 || (stages == 2 && t.group > 64))) continue;
          if ((stages == 3 && t.group != 256) || (stages == 1 && t.group == 32)) continue;
          small_config c = base;
          c.group = t.group, c.block = t.block, c.stages = stages;
          c.problems = problems_near(s, c, std::max(1.0, kib * 1024 / bytes));
          set_pads(s, c, true);
          const std::int64_t work = c.problems * items_of(s, c);
          if (work * 3 < c.group && kib > 2) continue;  // most threads would look on
          if (static_cast<double>(c.problems) * bytes > 2.5 * 1024 * kib && c.problems > 1) continue;
          for (const int blocks : t.blocks)
            for (int way = 0; way < 3; ++way) {
              small_config v = c;
              v.blocks = blocks;
              if (way == 1) set_pads(s, v, false);
              if (way == 2) set_vectors(s, v);
              if ((way == 1 && c.compute == arithmetic::threads) || would_spill(s, v)) continue;
              if (std::find(out.begin(), out.end(), v) == out.end() && fits(s, v, m)) out.push_back(v);
            }
        }
  return out;
}

/// Problems that lie side by side are read along the batch: enough of them for whole sectors of memory.
void gather_neighbours(const small_shape& s, small_config& c, const gpu_machine& m) {
  if (s.pointers || (s.inner.a != 1 && s.inner.b != 1 && s.inner.c != 1)) return;
  for (const int problems : {32, 16, 8}) {
    small_config wider = c;
    wider.problems = problems, wider.stages = 1, wider.pad_a = wider.pad_b = wider.pad_c = 0;
    if (problems <= c.problems || problems > s.inner.extent) break;
    if (!fits(s, wider, m) || shared_bytes_of(s, wider, {}) > m.shared_bytes / 3) continue;
    c = wider;
    return;
  }
}

/// Blocks of problems side by side. Threads that neighbour take neighbouring problems; few bytes a tile, so that many are on
/// their way at once; the best register tile that leaves two warps something to do, and two, four or eight warps: with three
/// or six some sizes are at 67 to 87 % of the bandwidth instead of 97 (measured on an H200, 2 to 32 a side).
small_config choose_beside(const small_shape& s, const gpu_machine& m) {
  constexpr double kept = 12 << 10;
  constexpr std::int64_t enough = 48;
  const int width = std::max({s.beside_a, s.beside_b, s.beside_c});
  const std::int64_t sk = count_of(s.step.k);
  small_config c, found;
  c.stages = 1;
  c.problems = width * std::max(1, static_cast<int>(std::lround(kept / (problem_bytes(s) * 1.2 * width))));
  c.unroll = static_cast<int>(sk <= 8 ? sk : 4);
  for (const tile& t : register_tiles(count_of(s.step.m), count_of(s.step.n), most_accumulators(s.step.c))) {
    c.rm = t.rm, c.rn = t.rn;
    const std::int64_t items = c.problems * items_of(s, c);
    c.group = c.block = items >= 256 ? 256 : items >= 128 ? 128 : 64;
    if (!fits(s, c, m)) continue;
    found = c;
    if (items >= enough) break;
  }
  return found;
}

/// The tensor cores for problems that share a factor, where eighths of rows and columns are nearly full.
small_config cores_for_shared(const small_shape& s, double wanted) {
  const std::int64_t sm = count_of(s.step.m), sn = count_of(s.step.n), rows = divide_up(sm, 8), cols = divide_up(sn, 8);
  const tile t = core_tiles(rows, cols, 8).front();
  small_config c;
  c.compute = arithmetic::mma_f64, c.rm = t.rm, c.rn = t.rn;
  c.stages = 1, c.group = c.block = 128, c.blocks = 8, c.unroll = 4;
  while (c.blocks > 1 && would_spill(s, c)) c.blocks /= 2;
  c.problems = problems_near(s, c, wanted);
  return c;
}

/// Problems that share a factor: little is copied for each, so that tiles of some kilobytes of many problems keep two warps busy, and as
/// many blocks as there is room for hide the waits. Measured on an H200: 0.3 to 0.5 of the bandwidth became 0.9 and more.
small_config choose_shared(const small_shape& s, const gpu_machine& m) {
  const std::int64_t sm = count_of(s.step.m), sn = count_of(s.step.n), sk = count_of(s.step.k);
  const bool own_a = s.inner.a != 0;
  const auto size = static_cast<std::int64_t>(size_of(s.step.c));
  const double bytes = static_cast<double>((own_a ? sm : sn) * sk * size), wanted = std::max(1.0, (12 << 10) / bytes);
  const double full = static_cast<double>(sm * sn) / static_cast<double>(divide_up(sm, 8) * divide_up(sn, 8) * 64);
  if (s.step.c == dtype::f64 && full > 0.74)
    if (const small_config c = cores_for_shared(s, wanted); fits(s, c, m) && (c.rm * c.rn > 1 || s.rows == 1)) return c;
  small_config c, found;
  c.stages = 1, c.group = c.block = 64;
  c.unroll = static_cast<int>(sk <= 8 ? sk : 4);
  if (sk * size % 128 == 0) (own_a ? c.pad_a : c.pad_b) = static_cast<int>(std::max<std::int64_t>(1, 16 / size));
  set_vectors(s, c);
  found.stages = 0;
  double least = 1e30;
  for (const tile& t : register_tiles(sm, sn, std::min(32, most_accumulators(s.step.c)), 10)) {
    c.rm = t.rm, c.rn = t.rn;
    if (std::min(sm, sn) > 1 && items_of(s, c) == 1) continue;  // neighbouring threads would have neighbouring problems
    c.problems = problems_near(s, c, wanted);
    const std::int64_t items = c.problems * items_of(s, c);
    constexpr double enough = 96;
    const double cost = t.cost * std::max(1.0, enough / static_cast<double>(items)) * static_cast<double>(divide_up(items, c.group) * c.group) / static_cast<double>(items);
    if (cost >= least) continue;
    const std::int64_t words = t.rm * t.rn * size / 4;
    for (const int blocks : {16, 8, 1}) {
      c.blocks = blocks;
      if (blocks == 1 || (!would_spill(s, c) && words <= 192 / blocks)) break;
    }
    if (fits(s, c, m)) found = c, least = cost;
  }
  return found;
}

constexpr int measured_architecture = 90;

/// A configuration that was measured for packed problems of these extents, for `s`; false if it does not fit.
bool adopt(small_config c, const small_shape& s, const gpu_machine& m, small_config& to) {
  const std::int64_t sm = count_of(s.step.m), sn = count_of(s.step.n), sk = count_of(s.step.k);
  c.problems = static_cast<int>(std::min<std::int64_t>(c.problems, std::max<std::int64_t>(1, s.inner.extent)));
  if (s.pointers) c.pad_a = c.pad_b = 0;
  const bool packed = !s.pointers && s.inner.a == sm * sk && s.inner.b == sk * sn && s.inner.c == sm * sn;
  if (!packed) c.blocks = 1, gather_neighbours(s, c, m);
  // Rows with gaps between them take more threads to copy than their products take: measured for 32 a side. Other sides spill.
  const bool apart = !packed && sm % 8 == 0 && sn % 8 == 0 && sk % 8 == 0 && !s.pointers && c.problems == 1 && c.stages == 1 && c.compute == arithmetic::mma_f64 && c.rm == 4 && c.rn == 2;
  if (apart && m.architecture == measured_architecture) c.group = c.block = 192, c.blocks = 5, c.unroll = 4;
  if (m.architecture < 90 || s.pointers) c.bulk = 0;
  if (c.bulk == 0 && c.stages > 1) c.over = false;
  if (!fits(s, c, m)) return false;
  to = c;
  return true;
}

/// Row-major matrices, as the table's were.
bool is_plain(const small_shape& s) {
  const auto along = [](const std::vector<axis>& group, std::int64_t axis::*stride) { return group.size() == 1 && group[0].*stride == 1; };
  return along(s.step.k, &axis::a) && along(s.step.n, &axis::b) && along(s.step.n, &axis::c);
}

/// Whether counting tells configurations apart: 16-bit types have tiles of the tensor cores to fill, factors of two types have none, and
/// neighbours in memory are those of a problem.
bool counts(const small_shape& s) {
  const bool beside = !s.pointers && (s.inner.a == 1 || s.inner.b == 1 || s.inner.c == 1);
  if (s.step.a != s.step.b) return !s.pointers && !beside;
  const bool one_type = s.step.b == s.step.c;
  constexpr std::int64_t few = 4;
  const bool fills = size_of(s.step.c) > 2 || std::min({count_of(s.step.m), count_of(s.step.n), count_of(s.step.k)}) > few;
  return one_type && fills && !beside;
}

namespace {

/// The shipped table's entry whose side is nearest, of the type of b and with its beta if there is one.
const small_entry* find_nearest(const small_shape& s) {
  const double mean = std::cbrt(static_cast<double>(count_of(s.step.m) * count_of(s.step.n) * count_of(s.step.k)));
  const dtype type = s.step.b == dtype::bf16 ? dtype::f16 : s.step.b;  // the two are alike
  const small_entry* best = nullptr;
  double nearest = 1e9;
  for (int e = 0; e < small_entry_count; ++e) {
    const small_entry& x = small_entries[e];
    const double distance = std::abs(std::log(mean / x.n)) + (x.beta == s.step.beta ? 0 : 1e-3);
    if (x.type == type && distance < nearest) nearest = distance, best = &x;
  }
  return best;
}

/// The same kind of kernel as the entry's, with tiles of as many bytes; none if none fits.
std::optional<small_config> choose_alike(const small_shape& s, const small_entry& entry, const gpu_machine& m) {
  const small_config& c = entry.config;
  const double kept = static_cast<double>(c.problems) * 2.5 * entry.n * entry.n * static_cast<double>(size_of(entry.type));
  std::vector<small_config> candidates;
  for (small_config own : arithmetic_choices(s)) {
    own.group = c.group, own.block = c.block, own.stages = c.stages;
    own.problems = problems_near(s, own, std::max(1.0, kept / problem_bytes(s)));
    set_pads(s, own, true);
    gather_neighbours(s, own, m);
    candidates.push_back(own);
    if (own.compute != c.compute) continue;
    small_config alike = own;  // copied and placed the same way too, if that can be
    alike.over = c.over, alike.bulk = m.architecture < 90 ? 0 : c.bulk;
    for (const small_config& x : {alike, own})
      if (fits(s, x, m)) return x;
  }
  for (const small_config& own : candidates)
    if (fits(s, own, m)) return own;
  return std::nullopt;
}

/// From the shipped table: the entry of just this square, one found by counting where that is better, or one like the nearest entry.
std::optional<small_config> choose_by_table(const small_shape& s, const gpu_machine& m) {
  const small_entry* const nearest = find_nearest(s);
  if (!nearest) return std::nullopt;
  const std::int64_t sm = count_of(s.step.m), sn = count_of(s.step.n), sk = count_of(s.step.k);
  small_config c = nearest->config, table;
  if (m.architecture != measured_architecture) c.blocks = 1;  // another compiler back end would spill
  if (m.architecture < 90) c.bulk = 0;
  const bool one_type = s.step.a == s.step.b && s.step.b == s.step.c;
  const bool measured = sm == nearest->n && sn == nearest->n && sk == nearest->n && one_type && adopt(c, s, m, table);
  if (measured && (is_plain(s) || !counts(s))) return table;
  const std::optional<small_config> counted = counts(s) ? choose_by_counting(s, m) : std::nullopt;
  // One like the nearest is only worth looking at for 16 bits, whose small tiles threads may do better.
  const bool half = size_of(s.step.c) == 2;
  const std::optional<small_config> other = measured ? table : !counted || half ? choose_alike(s, *nearest, m) : std::nullopt;
  const double better = half && !measured ? 1.33 : 0.9;  // as measured on an H200
  if (counted && (!other || estimated_clocks(s, *counted, m) < better * estimated_clocks(s, *other, m))) return counted;
  return other;
}

}  // namespace

small_config choose_small(const small_shape& s, const gpu_machine& m) {
  const bool one_type = s.step.a == s.step.b && s.step.b == s.step.c;
  if (is_beside(s)) return choose_beside(s, m);
  if (s.rows > 1 && size_of(s.step.a) == 2)  // the tensor cores' tiles are full
    if (const auto counted = choose_by_counting(s, m)) return *counted;
  if (shares_small_factor(s)) {
    constexpr double better = 0.9;
    const small_config c = choose_shared(s, m);
    if (s.rows == 1 && c.stages > 0) return c;
    const auto counted = choose_by_counting(s, m);
    if (counted && (c.stages == 0 || estimated_clocks(s, *counted, m) < better * estimated_clocks(s, c, m))) return *counted;
    if (c.stages > 0) return c;
  }
  if (m.tuned && one_type) {
    const auto side = [](std::int64_t x) { return static_cast<int>(x); };
    small_config chosen;
    const small_config* const own = find(*m.tuned, {s.step.c, s.step.beta, side(count_of(s.step.m)), side(count_of(s.step.n)), side(count_of(s.step.k))});
    if (own && adopt(*own, s, m, chosen)) return chosen;
  }
  if (const auto chosen = choose_by_table(s, m)) return *chosen;
  const auto all = small_candidates(s, m);
  if (!all.empty()) return all.front();
  small_config least;
  least.rm = least.rn = 1, least.group = least.block = 128, least.stages = 1;
  return least;
}

const char* name_of(arithmetic a) {
  static constexpr const char* names[] = {"threads", "mma_f64", "mma_16", "mma_c128", "wgmma_16"};
  return names[static_cast<int>(a)];
}

std::string to_string(arithmetic a) {
  static constexpr const char* names[] = {"multiply-adds", "f64 tensor cores", "16-bit tensor cores", "complex products on the f64 tensor cores", "16-bit tensor cores by warpgroups"};
  return names[static_cast<int>(a)];
}

std::string to_string(const small_config& c) {
  return std::to_string(c.problems) + (c.problems == 1 ? " problem" : " problems") + " a tile, " + std::to_string(c.group) +
         " threads each, blocks of " + std::to_string(c.block) + ", " + std::to_string(c.stages) +
         (c.stages == 1 ? " stage, " : " stages, ") + to_string(c.compute) + " in " + std::to_string(c.rm) + " x " +
         std::to_string(c.rn);
}

}  // namespace ricci::cuda
