// Texts for kernels/tile.cuh: products with long sides.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gpu/long_text.hpp"
#include "gpu/step.hpp"
#include "gpu/tile_fit.hpp"
#include "gpu/tile_planes.hpp"

namespace ricci::cuda {
namespace {

constexpr std::int64_t few = 32, few_of_16_bits = 48;  // rows or columns that have a tile of their own

int up_to_16(std::int64_t x) { return static_cast<int>((x + 15) / 16 * 16); }

/// The tensor cores' squares: tiles of eight warps with as many rows (or columns) as there are and 128 of the other, or of two rows of warps.
std::vector<tile_config> tiles_of_16_bits(std::int64_t m, std::int64_t n, std::int64_t k) {
  const int depth = k > 128 ? 64 : 32, stages = k > 64 ? 4 : 3;
  if (m <= few_of_16_bits && m <= n) return {{arithmetic::mma_16, up_to_16(m), 128, depth, 3, 256, up_to_16(m) / 16, 2, 1, 8, 3}};
  if (n <= few_of_16_bits) return {{arithmetic::mma_16, 128, up_to_16(n), depth, 3, 256, 1, up_to_16(n) / 8, 8, 1, 3}};
  std::vector<tile_config> all;
  for (const int rows : {128, 96, 64})
    for (const int cols : {128, 96, 64})
      all.push_back({arithmetic::mma_16, rows, cols, 32, stages, 2 * cols, rows / 32, 4, 2, cols / 32, cols > 96 ? 2 : cols > 64 ? 3 : 4});
  all.push_back({arithmetic::mma_16, 128, 128, 32, stages, 128, 4, 8, 2, 2, 2});  // long sides: four warps read less of shared memory
  return all;
}

/// The same by warpgroups of 64 rows each, which multiply slices of 64 terms: two blocks of a multiprocessor in turn, or one that
/// begins a slice before the last is done. Up to 160 columns fit into one tile.
std::vector<tile_config> tiles_of_warpgroups(std::int64_t m, std::int64_t n) {
  std::vector<tile_config> all;
  const auto add = [&](int rows, int cols, int stages, int blocks) {
    all.push_back({arithmetic::wgmma_16, rows, cols, 64, stages, 2 * rows, 1, cols / 8, rows / 16, 1, blocks});
  };
  add(128, 128, 3, 2);
  if (m > 128 && n > 64) add(256, 128, 4, 1);
  if (m > 64 && n > 128) add(128, 256, 4, 1);
  add(64, 128, 4, 2), add(128, 64, 4, 2), add(64, 64, 4, 3);
  if (n > 128 && n <= 160) add(64, 160, 4, 2), add(128, 160, 4, 1);
  return all;
}

/// By multiply-adds of single threads in float: those of 8 x 8 a thread come near the peak, the others waste less.
std::vector<tile_config> tiles_of_floats(std::int64_t m, std::int64_t n, std::int64_t k) {
  const int depth = k > 64 ? 32 : 16;
  if (m <= 16 && m <= n) return {{arithmetic::threads, 16, 128, depth, 3, 128, 4, 4, 1, 1, 4}};
  if (n <= 16) return {{arithmetic::threads, 128, 16, depth, 3, 128, 4, 4, 1, 1, 4}};
  return {{arithmetic::threads, 64, 128, 16, 3, 128, 8, 8, 1, 1, 3}, {arithmetic::threads, 128, 64, 16, 3, 128, 8, 8, 1, 1, 3},
          {arithmetic::threads, 128, 128, 16, 3, 256, 8, 8, 1, 1, 1}, {arithmetic::threads, 64, 64, 16, 3, 64, 8, 8, 1, 1, 4},
          {arithmetic::threads, 48, 128, 16, 3, 128, 6, 8, 1, 1, 3}, {arithmetic::threads, 128, 48, 16, 3, 128, 8, 6, 1, 1, 3},
          {arithmetic::threads, 32, 128, 16, 3, 128, 4, 8, 1, 1, 4}, {arithmetic::threads, 128, 32, 16, 3, 128, 8, 4, 1, 1, 4}};
}

/// The same of complex numbers: 8 x 4 each, beside few rows or columns 4 x 4.
std::vector<tile_config> tiles_of_complex_floats(std::int64_t m, std::int64_t n) {
  if (m <= 16 && m <= n) return {{arithmetic::threads, 16, 128, 8, 3, 128, 4, 4, 1, 1, 2}};
  if (n <= 16) return {{arithmetic::threads, 128, 16, 8, 3, 128, 4, 4, 1, 1, 2}};
  std::vector<tile_config> all;
  for (const auto& [rows, cols] : {std::pair{64, 64}, {64, 48}, {48, 64}, {128, 32}, {32, 128}})
    all.push_back({arithmetic::threads, rows, cols, 8, 3, rows * cols / 32, 8, 4, 1, 1, 3});
  return all;
}

/// In double, mixed with floats or complex numbers: 4 x 4 each.
tile_config tile_of_threads(dtype c, std::int64_t m, std::int64_t n) {
  const int depth = is_complex(c) ? 8 : 16, blocks = c == dtype::c128 ? 1 : 2;
  const int narrow = std::min(m, n) <= 16 ? 16 : 32, threads = 8 * narrow;
  if (m <= few && m <= n) return {arithmetic::threads, narrow, 128, depth, 3, threads, 4, 4, 1, 1, blocks};
  if (n <= few) return {arithmetic::threads, 128, narrow, depth, 3, threads, 4, 4, 1, 1, blocks};
  return {arithmetic::threads, 64, 64, depth, 3, 256, 4, 4, 1, 1, blocks};
}

std::vector<tile_config> tiles_of_doubles(std::int64_t m, std::int64_t n) {
  if (m <= 16 && m <= n) return {{arithmetic::mma_f64, 16, 128, 16, 3, 128, 1, 4, 1, 4, 3}};
  if (m <= few) return {{arithmetic::mma_f64, 32, 128, 16, 3, 128, 2, 4, 1, 4, 2}};
  if (n <= few) return {{arithmetic::mma_f64, 128, 32, 16, 3, 128, 2, 4, 4, 1, 2}};
  return {{arithmetic::mma_f64, 64, 64, 16, 3, 128, 2, 4, 2, 2, 3}, {arithmetic::mma_f64, 48, 128, 16, 3, 128, 3, 4, 1, 4, 2}};
}

std::vector<tile_config> tiles_of_complex_doubles(std::int64_t m, std::int64_t n) {
  if (m <= 16 && m <= n) return {{arithmetic::mma_c128, 16, 64, 8, 3, 128, 1, 2, 1, 4, 3}};
  if (n <= 16) return {{arithmetic::mma_c128, 64, 16, 8, 3, 128, 1, 2, 4, 1, 3}};
  return {{arithmetic::mma_c128, 32, 32, 8, 3, 64, 2, 2, 1, 2, 4}, {arithmetic::mma_c128, 64, 32, 8, 3, 128, 2, 2, 2, 2, 2},
          {arithmetic::mma_c128, 32, 64, 8, 3, 128, 2, 2, 1, 4, 2}, {arithmetic::mma_c128, 64, 48, 8, 3, 128, 2, 3, 2, 2, 2}};
}

}  // namespace

std::vector<tile_config> tile_candidates(const step_shape& s, const gpu_machine& machine) {
  const std::int64_t m = count_of(s.m), n = count_of(s.n), k = count_of(s.k);
  const bool same = s.a == s.b && compute_type(s.c) == compute_type(s.a);
  if (planes_of(s).any()) {
    std::vector<tile_config> all = tiles_in_planes(s, machine);
    for (const tile_config& c : tiles_of_floats(m, n, k)) all.push_back(c);
    return all;
  }
  if (same && s.a == dtype::f64) return tiles_of_doubles(m, n);
  if (same && s.a == dtype::c128) return tiles_of_complex_doubles(m, n);
  if (same && size_of(s.a) == 2) {
    std::vector<tile_config> all = tiles_of_16_bits(m, n, k);
    if (machine.warpgroups && std::min(m, n) > few_of_16_bits)
      for (const tile_config& c : tiles_of_warpgroups(m, n)) all.push_back(c);
    return all;
  }
  if (compute_type(s.c) == dtype::f32) return tiles_of_floats(m, n, k);
  if (compute_type(s.c) == dtype::c64) return tiles_of_complex_floats(m, n);
  return {tile_of_threads(s.c, m, n)};
}

tile_copies copies_of(const step_shape& s, const tile_config& config, const alignments& at) {
  tile_copies c{runs_along_k(s.k, s.m, &axis::a), runs_along_k(s.k, s.n, &axis::b), 1, 1, 1, false, false};
  const std::vector<axis> &fast_a = c.a_along_k ? s.k : s.m, &fast_b = c.b_along_k ? s.k : s.n;
  c.vec_a = vector_of(fast_a, {c.a_along_k ? &s.m : &s.k, &s.batch}, &axis::a, s.a, at.a, config.planes_a == 1);
  c.vec_b = vector_of(fast_b, {c.b_along_k ? &s.n : &s.k, &s.batch}, &axis::b, s.b, at.b, config.planes_b == 1);
  c.vec_c = vector_of(s.n, {&s.m, &s.batch}, &axis::c, s.c, at.c);
  c.cut_a = c.vec_a > 1 && fast_a.back().extent % c.vec_a != 0, c.cut_b = c.vec_b > 1 && fast_b.back().extent % c.vec_b != 0;
  return c;
}

namespace {

/// Of the peak of a multiprocessor with enough to do (measured on an H200).
double share_of_peak(const tile_config& c, bool complex) {
  if (c.in_planes()) return share_in_planes(c);
  const double intensity = static_cast<double>(c.rows) * c.cols / (c.rows + c.cols);
  switch (c.compute) {
    case arithmetic::wgmma_16: return c.rows * c.cols <= 64 * 64 ? 0.44 : c.blocks == 1 && c.rows > 64 ? 0.88 : 0.094 * std::sqrt(intensity);
    case arithmetic::mma_16: return (c.rm * c.rn >= 32 ? 0.37 : 0.32) * std::min(1.0, intensity / 56);
    case arithmetic::mma_f64: return 0.65 * std::min(1.0, intensity / 28);
    case arithmetic::mma_c128: return c.block <= 64 ? 0.75 : 0.70;
    default: break;
  }
  if (complex) return c.rows == c.cols ? 0.66 : c.rows * c.cols < 64 * 64 ? 0.60 : 0.62;
  return c.rm * c.rn >= 64 ? 0.63 : c.rm * c.rn >= 32 ? 0.53 : 0.45;
}

}  // namespace

double tile_seconds(const step_shape& given, const tile_config& c, const gpu_machine& m) {
  // Seconds: for a slice, and an element that comes alone (of 16 bits: less), of a thread that nobody else hides; for a block; for
  // neighbours' parts.
  constexpr double wait = 0.5e-6, wait_for_single = 33e-9, once = 1.5e-6, beside = 2e-6;
  constexpr double wait_of_warpgroups = 0.35e-6, once_of_warpgroups = 1e-6, once_of_scaled = 3e-6, of_result = 0.12e-9;  // for a block; for each of its results
  // Of a multiprocessor in a second; for an element that comes alone, and where addresses are one addition.
  constexpr double instructions = 218e9, of_single = 17, of_half = 30, of_even_single = 6, of_even_half = 10;
  constexpr double of_short_copy = 0.1e-9;                                // seconds of a multiprocessor: 4 or 8 bytes, elements of 16 bits
  constexpr double of_single_result = 0.22e-9, of_single_result_of_warps = 0.45e-9;  // of 16 bits, that is stored alone
  constexpr double line = 128, of_line = 0.57e-9;                         // bytes; seconds of a multiprocessor: elements apart come from lines of their own
  const step_shape s = arranged_for_tiles(given, c);
  const tile_copies copies = copies_of(s, c, {16, 16, 16});
  double singles = 0, single_work = 0;
  const auto add = [&](int vec, int lines, dtype t, const std::vector<axis>& fast, const std::vector<axis>& slow, stride_of_axis stride) {
    const double elements = static_cast<double>(lines) * c.depth, size = static_cast<double>(size_of(t));
    if (size == 2 && vec > 1 && vec < 8) single_work += elements / vec * of_short_copy;
    if (vec > 1) return;
    const bool even = fast.size() == 1 && slow.size() == 1;  // addresses are one addition
    const std::int64_t apart = fast.empty() ? 1 : std::abs(fast.back().*stride);
    const double each = size == 2 ? (even ? of_even_half : of_half) : even ? of_even_single : of_single;
    if (size < 16) singles += size == 2 ? 0.45 * elements : elements, single_work += elements * each / instructions;
    if (apart > 1) single_work += elements * std::min(1.0, static_cast<double>(apart) * size / line) * of_line;
  };
  add(copies.vec_a, c.rows, s.a, copies.a_along_k ? s.k : s.m, copies.a_along_k ? s.m : s.k, &axis::a);
  add(copies.vec_b, c.cols, s.b, copies.b_along_k ? s.k : s.n, copies.b_along_k ? s.n : s.k, &axis::b);
  const bool threads = c.compute == arithmetic::threads, warpgroups = c.compute == arithmetic::wgmma_16, wide = compute_type(s.c) == dtype::f64 || s.c == dtype::c128;
  const bool halves = c.compute == arithmetic::mma_16 || warpgroups;
  const double peak = 1e9 * (halves ? m.tensor_16 : !threads ? m.tensor_f64 : wide ? m.peak_f64 : m.peak_f32);
  const double flops = (is_complex(s.c) ? 8.0 : 2.0) * c.rows * c.cols * c.depth * products_of(c);
  const double work = flops / (share_of_peak(c, is_complex(s.c)) * peak / m.multiprocessors) + single_work + seconds_to_cut(c, s);
  const std::int64_t blocks = divide_up(count_of(s.m), c.rows) * divide_up(count_of(s.n), c.cols) * count_of(s.batch) * c.parts;
  const std::int64_t slices = divide_up(divide_up(count_of(s.k), c.depth), c.parts);
  const std::int64_t each = divide_up(blocks, m.multiprocessors), at_once = std::min<std::int64_t>(each, c.blocks);
  const double warps = static_cast<double>(at_once * c.block) / 128;  // of each of the four schedulers
  const double busy = c.in_planes() ? busy_in_planes(c, at_once) : warpgroups ? 1 : std::min(1.0, threads ? 0.4 + 0.5 * warps : 0.5 + 0.2 * warps), rounds = static_cast<double>(divide_up(each, at_once));
  const double slice = std::max(rounds * ((warpgroups ? wait_of_warpgroups : wait) + wait_for_single * singles / c.block), static_cast<double>(each) * work / busy);
  const double results = static_cast<double>(count_of(s.batch)) * static_cast<double>(count_of(s.m)) * static_cast<double>(count_of(s.n));
  const double stores = halves && copies.vec_c == 1 && size_of(s.c) == 2 ? results / m.multiprocessors * (warpgroups ? of_single_result : of_single_result_of_warps) : 0;
  return static_cast<double>(slices) * slice + stores + rounds * (!warpgroups ? once : once_of_warpgroups + of_result * c.rows * c.cols + (is_scaled(c) ? once_of_scaled : 0)) + (c.parts == 1 ? 0 : c.beside ? beside : adding_parts);
}

tile_config choose_tile(const step_shape& s, const gpu_machine& machine, bool in_parts) {
  tile_config best;
  double least = 0;
  for (tile_config c : tile_candidates(s, machine)) {
    // Elements that come one by one take longer than their products: warpgroups gain nothing (measured on an H200).
    if (c.compute == arithmetic::wgmma_16) {
      const tile_copies copies = copies_of(arranged_for_tiles(s, c), c, {16, 16, 16});
      if (!c.in_planes() && std::min(copies.vec_a, copies.vec_b) == 1) continue;
      // Four warps have too many to cut; wide tiles wait for single elements.
      if (is_scaled(c) && std::min(copies.vec_a, copies.vec_b) < 4) continue;
      if (c.in_planes() && c.block == 128 && std::min(c.planes_a > 1 ? copies.vec_a : 4, c.planes_b > 1 ? copies.vec_b : 4) < 4) continue;
    }
    const std::int64_t slices = divide_up(count_of(s.k), c.depth);
    const std::int64_t blocks = divide_up(count_of(s.m), c.rows) * divide_up(count_of(s.n), c.cols) * count_of(s.batch);
    const auto consider = [&](std::int64_t parts, bool beside) {
      c.parts = parts, c.beside = beside;
      const double seconds = tile_seconds(s, c, machine);
      if (least == 0 || seconds < least) best = c, least = seconds;
    };
    consider(1, false);
    // Neighbours come together on a multiprocessor, or wait for one another, if there are more of them (measured on an H200).
    if (machine.architecture >= 90)
      for (const int parts : {2, 3, 4, 6, 8})
        if ((parts == 2 || !is_scaled(c)) && slices >= 2 * parts && blocks * parts <= (c.in_planes() && parts == 2 ? machine.multiprocessors * c.blocks : machine.multiprocessors / 2)) consider(parts, true);
    if (!in_parts || is_scaled(c)) continue;
    const std::int64_t room = static_cast<std::int64_t>(machine.multiprocessors) * c.blocks;
    if (const std::int64_t parts = std::min(room / std::max<std::int64_t>(1, blocks), slices / 4); parts > 1) consider(parts, false);
  }
  return best;
}

step_shape arranged_for_tiles(const step_shape& given, const tile_config& c) {
  step_shape s = given;
  arrange_rows_and_sums(s);
  const std::size_t nb = unit_in(s.n, &axis::b), nc = unit_in(s.n, &axis::c);
  if (nb == s.n.size() || nb == nc) return s;
  if (nc < s.n.size() && (in_blocks(s.n, nb, nc, 8) || in_blocks(s.n, nb, nc, 4))) return s;
  // One of the two must jump: what moves less.
  const double passes = static_cast<double>((count_of(s.m) + c.rows - 1) / c.rows);
  if (static_cast<double>(count_of(s.k)) * passes > 2.0 * static_cast<double>(count_of(s.m))) to_back(s.n, nb);
  return s;
}

tile_slices slices_of(const step_shape& s, const tile_config& c, const tile_copies& copies) {
  // Lines along k of which elements come one by one are turned on the way: single threads read runs of lines.
  const auto stays = [&](bool along_k, int vec) { return along_k && (c.compute != arithmetic::threads || vec > 1); };
  const auto pad = [&](bool along_k, dtype type) {
    switch (c.compute) {
      case arithmetic::mma_16: case arithmetic::wgmma_16: return 8;
      case arithmetic::mma_f64: return 4;
      case arithmetic::mma_c128: return along_k ? 4 : 2;
      default: break;
    }
    // Lines are an odd number of words of 16 bytes apart: neighbours lie in other banks.
    const int size = static_cast<int>(size_of(type));
    return !along_k ? 0 : c.depth * size / 16 % 2 == 0 ? 16 / size : 32 / size;
  };
  return {stays(copies.a_along_k, copies.vec_a), stays(copies.b_along_k, copies.vec_b), pad(copies.a_along_k, s.a), pad(copies.b_along_k, s.b)};
}

int tile_shared_bytes(const step_shape& s, const tile_config& c, const tile_copies& copies) {
  const tile_slices slices = slices_of(s, c, copies);
  const bool warpgroups = c.compute == arithmetic::wgmma_16;
  const auto bytes = [&](int lines, bool stays, int gap, dtype type, int in_planes) {  // as tile.cuh lays out its stages
    const int run = stays ? c.depth : lines, other = stays ? lines : c.depth;
    const int elements = other * (run + (warpgroups ? 0 : gap)), size = in_planes > 1 ? 2 * in_planes : static_cast<int>(size_of(type));
    return (elements * size + 15) / 16 * 16;
  };
  const int stages = c.stages * (bytes(c.rows, slices.a_stays, slices.pad_a, s.a, c.planes_a) + bytes(c.cols, slices.b_stays, slices.pad_b, s.b, c.planes_b));
  return c.compute == arithmetic::threads && !c.beside ? stages : std::max(stages, c.rows * (c.cols + 8) * static_cast<int>(size_of(compute_type(s.c))));
}

namespace {

/// c += a b of 64 rows, all columns and 16 terms; the matrices as the hardware is told of them.
std::string warpgroup_text(const char* name, int cols, bool bfloat, bool a_along_k, bool b_along_k) {
  const int sums = cols / 2;
  std::string registers, operands;
  for (int r = 0; r < sums; ++r) {
    const std::string comma = r == 0 ? "" : ", ", number = std::to_string(r);
    registers += comma + "%" + number, operands += comma + "\"+f\"(c[" + number + "])";
  }
  const std::string type = bfloat ? ".bf16" : ".f16", across_a = a_along_k ? "0" : "1", across_b = b_along_k ? "0" : "1";
  std::string t = std::string("  static __device__ void ") + name + "(float (&c)[" + std::to_string(sums) + "], u64 a, u64 b) {\n";
  t += "    asm volatile(\"{\\n.reg .pred added;\\nsetp.eq.u32 added, 0, 0;\\n\"\n";
  t += "                 \"wgmma.mma_async.sync.aligned.m64n" + std::to_string(cols) + "k16.f32" + type + type + " {" + registers + "}, \"\n";
  t += "                 \"%" + std::to_string(sums) + ", %" + std::to_string(sums + 1) + ", added, 1, 1, " + across_a + ", " + across_b + ";\\n}\"\n";
  return t + "                 : " + operands + " : \"l\"(a), \"l\"(b));\n  }\n";
}

}  // namespace

std::string tile_text(const step_plan& p, const alignments& at, int& shared_bytes) {
  const step_shape& s = p.shape;
  const tile_config& c = p.tile;
  const auto [a_along_k, b_along_k, vec_a, vec_b, vec_c, cut_a, cut_b] = copies_of(s, c, at);
  // Single elements need more addresses; some texts with a beta, or with parts, would spill.
  const bool warpgroups = c.compute == arithmetic::wgmma_16, bfloat = c.in_planes() || s.a == dtype::bf16;
  const bool crowded = (std::min(vec_a, vec_b) == 1 && !is_complex(s.c)) || (c.compute == arithmetic::mma_f64 && s.beta) || (c.compute == arithmetic::mma_16 && c.parts > 1) ||
                       (c.compute == arithmetic::threads && s.beta && (a_along_k || b_along_k || (is_complex(s.c) && count_of(s.m) % c.rows != 0)));
  const bool alone = c.in_planes() && c.block == 256 && std::min(vec_a, vec_b) < 4;
  const int blocks = alone ? 1 : crowded ? std::min(c.blocks, 2) : c.blocks;
  std::string t = (c.beside ? "#define RICCI_BLOCKS_BESIDE " + std::to_string(c.parts) + "\n" : "") + "#include \"element.cuh\"\nstruct tile_type {\n";
  t += "  using A = " + element_text(s.a) + ";\n  using B = " + element_text(s.b) + ";\n  using C = " + element_text(s.c) + ";\n";
  t += constant_text("conj_a", s.conj_a) + constant_text("conj_b", s.conj_b) + constant_text("beta", s.beta) + constant_text("bfloat", bfloat);
  t += constant_text("i64", "m", count_of(s.m)) + constant_text("i64", "n", count_of(s.n)) + constant_text("i64", "k", count_of(s.k));
  t += constant_text("i64", "parts", c.parts) + constant_text("i64", "count", c.parts > 1 && !c.beside ? count_of(s.batch) * count_of(s.m) * count_of(s.n) : 0);
  t += constant_text("int", "rows", c.rows) + constant_text("int", "cols", c.cols) + constant_text("int", "depth", c.depth) + constant_text("int", "stages", c.stages) + constant_text("int", "block", c.block) + constant_text("int", "blocks", blocks);
  t += constant_text("int", "rm", c.rm) + constant_text("int", "rn", c.rn) + constant_text("int", "warps_m", c.warps_m) + constant_text("int", "warps_n", c.warps_n);
  t += constant_text("int", "compute", static_cast<int>(c.compute));
  t += constant_text("a_along_k", a_along_k) + constant_text("b_along_k", b_along_k) + constant_text("int", "vec_a", vec_a) + constant_text("int", "vec_b", vec_b) + constant_text("int", "vec_c", vec_c) + constant_text("cut_a", cut_a) + constant_text("cut_b", cut_b);
  t += constant_text("int", "planes_a", c.planes_a) + constant_text("int", "planes_b", c.planes_b);
  const tile_copies copies{a_along_k, b_along_k, vec_a, vec_b, vec_c, cut_a, cut_b};
  const auto [a_stays, b_stays, pad_a, pad_b] = slices_of(s, c, copies);
  t += constant_text("a_stays", a_stays) + constant_text("b_stays", b_stays) + constant_text("int", "pad_a", pad_a) + constant_text("int", "pad_b", pad_b);
  const auto step = [](const std::vector<axis>& group, stride_of_axis stride) { return group.size() == 1 ? group[0].*stride : 0; };
  t += constant_text("i64", "row_step", step(s.m, &axis::a)) + constant_text("i64", "col_step", step(s.n, &axis::b));
  t += constant_text("i64", "sum_step_a", step(s.k, &axis::a)) + constant_text("i64", "sum_step_b", step(s.k, &axis::b));
  t += constant_text("alternate", c.blocks > 1);
  if (warpgroups) t += warpgroup_text("multiply", c.cols, bfloat, a_stays, b_stays);
  t += constant_text("scaled", is_scaled(c));
  if (is_scaled(c)) t += warpgroup_text("multiply_half", c.cols, false, a_stays, b_stays);
  t += offset_function("row", s.m, "ac") + offset_function("col", s.n, "bc") + offset_function("sum", s.k, "ab");
  shared_bytes = tile_shared_bytes(s, c, copies);
  // Offsets that take divisions are looked up, if sums are too short for them to be made once for many slices (measured
  // on an H200: six free indices 1.12 times as fast; where shifts do, or with longer sums, up to 0.87).
  const int stages_end = (shared_bytes + 15) / 16 * 16;
  const auto divides = [](const std::vector<axis>& group) {
    return std::any_of(group.begin() + (group.empty() ? 0 : 1), group.end(), [](const axis& x) { return (x.extent & (x.extent - 1)) != 0; });
  };
  const bool looked_up = s.m.size() > 1 && s.n.size() > 1 && (divides(s.m) || divides(s.n)) && count_of(s.k) <= 2 * c.depth;
  if (looked_up) shared_bytes = stages_end + 16 * (c.rows + c.cols);
  t += constant_text("int", "offsets", looked_up ? stages_end : 0);
  return t + offset_function("batch", s.batch, "abc") + "};\n#include \"tile.cuh\"\n";
}

}  // namespace ricci::cuda
