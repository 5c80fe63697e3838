// Texts for kernels/tile.cuh: products with long sides.
#include <algorithm>
#include <cstdlib>

#include "gpu/long_text.hpp"
#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

/// The side of a tile that wastes least of x; the larger of equals.
int side_for(std::int64_t x) {
  int best = 128;
  const auto padded = [&](int side) { return (x + side - 1) / side * side; };
  for (const int side : {96, 64})
    if (padded(side) < padded(best)) best = side;
  return best;
}

constexpr std::int64_t few = 32, few_of_16_bits = 48;  // rows or columns that have a tile of their own

int up_to_16(std::int64_t x) { return static_cast<int>((x + 15) / 16 * 16); }

/// The tensor cores' squares: tiles of eight warps with as many rows (or columns) as there are and 128 of the other, or of two rows of warps.
tile_config tile_of_16_bits(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t problems, std::int64_t multiprocessors) {
  const int depth = k > 128 ? 64 : 32, stages = k > 64 ? 4 : 3;
  if (m <= few_of_16_bits && m <= n) return {arithmetic::mma_16, up_to_16(m), 128, depth, 3, 256, up_to_16(m) / 16, 2, 1, 8, 3};
  if (n <= few_of_16_bits) return {arithmetic::mma_16, 128, up_to_16(n), depth, 3, 256, 1, up_to_16(n) / 8, 8, 1, 3};
  const auto count = [&](int rows, int cols) { return (m + rows - 1) / rows * ((n + cols - 1) / cols) * problems; };
  int rows = side_for(m), cols = side_for(n);
  if (count(rows, cols) < multiprocessors) rows = cols = 64;
  return {arithmetic::mma_16, rows, cols, 32, stages, 2 * cols, rows / 32, 4, 2, cols / 32, cols > 96 ? 2 : cols > 64 ? 3 : 4};
}

/// By multiply-adds of single threads, 4 x 4 each but in large tiles.
tile_config tile_of_threads(dtype c, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t problems, std::int64_t multiprocessors) {
  const bool single = compute_type(c) == dtype::f32;
  const int depth = is_complex(c) ? 8 : 16, thin = single && k > 64 ? 2 * depth : depth, blocks = single ? 3 : c == dtype::c128 ? 1 : 2;
  const int narrow = std::min(m, n) <= 16 ? 16 : 32, threads = 8 * narrow;
  const int more = single ? (narrow == 16 ? 4 : 2) : blocks;
  if (m <= few && m <= n) return {arithmetic::threads, narrow, 128, thin, 3, threads, 4, 4, 1, 1, more};
  if (n <= few) return {arithmetic::threads, 128, narrow, thin, 3, threads, 4, 4, 1, 1, more};
  if (single && m > 96 && n > 96 && (m + 127) / 128 * ((n + 127) / 128) * problems >= multiprocessors) return {arithmetic::threads, 128, 128, 8, 3, 256, 8, 8, 1, 1, 1};
  return {arithmetic::threads, 64, 64, depth, 3, 256, 4, 4, 1, 1, blocks};
}

tile_config tile_of_f64(std::int64_t m, std::int64_t n) {
  if (m <= 16 && m <= n) return {arithmetic::mma_f64, 16, 128, 16, 3, 128, 1, 4, 1, 4, 3};
  if (m <= few) return {arithmetic::mma_f64, 32, 128, 16, 3, 128, 2, 4, 1, 4, 2};
  if (n <= few) return {arithmetic::mma_f64, 128, 32, 16, 3, 128, 2, 4, 4, 1, 2};
  return {arithmetic::mma_f64, 64, 64, 16, 3, 128, 2, 4, 2, 2, 3};
}

}  // namespace

tile_config choose_tile(const step_shape& s, const gpu_machine& machine) {
  const std::int64_t m = count_of(s.m), n = count_of(s.n), k = count_of(s.k), problems = count_of(s.batch);
  const bool same = s.a == s.b && compute_type(s.c) == compute_type(s.a);
  if (same && s.a == dtype::f64) return tile_of_f64(m, n);
  if (same && size_of(s.a) == 2) return tile_of_16_bits(m, n, k, problems, machine.multiprocessors);
  return tile_of_threads(s.c, m, n, k, problems, machine.multiprocessors);
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

std::string tile_text(const step_plan& p, const alignments& at, int& shared_bytes) {
  const step_shape& s = p.shape;
  const tile_config& c = p.tile;
  const bool a_along_k = runs_along_k(s.k, s.m, &axis::a), b_along_k = runs_along_k(s.k, s.n, &axis::b);
  const int vec_a = vector_of(a_along_k ? s.k : s.m, {a_along_k ? &s.m : &s.k, &s.batch}, &axis::a, s.a, at.a);
  const int vec_b = vector_of(b_along_k ? s.k : s.n, {b_along_k ? &s.n : &s.k, &s.batch}, &axis::b, s.b, at.b);
  // Single elements need more addresses; some texts with a beta, or with parts, would spill.
  const bool crowded = std::min(vec_a, vec_b) == 1 || (c.compute == arithmetic::mma_f64 && s.beta) || (c.compute == arithmetic::mma_16 && c.parts > 1) ||
                       (c.compute == arithmetic::threads && s.beta && (a_along_k || b_along_k));
  const int blocks = crowded ? std::min(c.blocks, 2) : c.blocks;
  const int vec_c = vector_of(s.n, {&s.m, &s.batch}, &axis::c, s.c, at.c);
  std::string t = "#include \"element.cuh\"\nstruct tile_type {\n";
  t += "  using A = " + element_text(s.a) + ";\n  using B = " + element_text(s.b) + ";\n  using C = " + element_text(s.c) + ";\n";
  t += constant_text("conj_a", s.conj_a) + constant_text("conj_b", s.conj_b) + constant_text("beta", s.beta) + constant_text("bfloat", s.a == dtype::bf16);
  t += constant_text("i64", "m", count_of(s.m)) + constant_text("i64", "n", count_of(s.n)) + constant_text("i64", "k", count_of(s.k));
  t += constant_text("i64", "parts", c.parts) + constant_text("i64", "count", c.parts > 1 ? count_of(s.batch) * count_of(s.m) * count_of(s.n) : 0);
  t += constant_text("int", "rows", c.rows) + constant_text("int", "cols", c.cols) + constant_text("int", "depth", c.depth) + constant_text("int", "stages", c.stages) + constant_text("int", "block", c.block) + constant_text("int", "blocks", blocks);
  t += constant_text("int", "rm", c.rm) + constant_text("int", "rn", c.rn) + constant_text("int", "warps_m", c.warps_m) + constant_text("int", "warps_n", c.warps_n);
  t += constant_text("int", "compute", static_cast<int>(c.compute));
  t += constant_text("a_along_k", a_along_k) + constant_text("b_along_k", b_along_k) + constant_text("int", "vec_a", vec_a) + constant_text("int", "vec_b", vec_b) + constant_text("int", "vec_c", vec_c);
  t += offset_function("row", s.m, "ac") + offset_function("col", s.n, "bc") + offset_function("sum", s.k, "ab");
  // As tile.cuh lays out its stages, and the results.
  const auto bytes = [&](int lines, bool along_k, int vec, dtype type) {
    const int size = static_cast<int>(size_of(type));
    const int pad = c.compute == arithmetic::mma_16 ? 8 : c.compute == arithmetic::mma_f64 ? 4 : !along_k ? 0 : vec > 1 ? 16 / size : 1;
    const int elements = along_k ? lines * (c.depth + pad) : c.depth * (lines + pad);
    return (elements * size + 15) / 16 * 16;
  };
  shared_bytes = c.stages * (bytes(c.rows, a_along_k, vec_a, s.a) + bytes(c.cols, b_along_k, vec_b, s.b));
  if (c.compute != arithmetic::threads) shared_bytes = std::max(shared_bytes, c.rows * (c.cols + 8) * (c.compute == arithmetic::mma_f64 ? 8 : 4));
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
