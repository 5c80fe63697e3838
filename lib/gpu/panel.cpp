// Texts for kernels/panel.cuh: products with short sums.
#include <algorithm>
#include <cstdlib>

#include "gpu/long_text.hpp"
#include "gpu/panel.hpp"

namespace ricci::cuda {
namespace {

int up_to(int x, int y) { return (x + y - 1) / y * y; }

int depth_of(const step_shape& s, const panel_config& c) {
  const int k = static_cast<int>(count_of(s.k));
  return c.compute == arithmetic::mma_f64 ? up_to(k, 8) : k;
}

/// To what the innermost axis of the columns is counted; 0: to its extent. Runs of c that begin and end within sectors are
/// eight threads' each then.
std::int64_t padding_of(const step_shape& s) {
  const std::int64_t run = s.n.size() < 2 ? 8 : s.n.back().extent, padded = (run + 7) / 8 * 8;
  return padded != run && run < 32 && 3 * padded <= 4 * run ? padded : 0;
}

std::int64_t columns_of(const step_shape& s) {
  const std::int64_t padded = padding_of(s);
  return padded ? count_of(s.n) / s.n.back().extent * padded : count_of(s.n);
}

/// How lines lie in shared memory: neighbours in memory are neighbours there.
struct image {
  bool along_k;
  int vec, pad;
  int bytes(int lines, int depth, dtype t) const { return up_to((along_k ? lines * (depth + pad) : depth * (lines + pad)) * static_cast<int>(size_of(t)), 16); }
};

image image_of(const std::vector<axis>& k, const std::vector<axis>& lines, const std::vector<axis>& batch, stride_of_axis stride, dtype t, const panel_config& c, int aligned) {
  image x;
  x.along_k = runs_along_k(k, lines, stride);
  x.vec = vector_of(x.along_k ? k : lines, {x.along_k ? &lines : &k, &batch}, stride, t, aligned);
  const int size = static_cast<int>(size_of(t));
  x.pad = c.compute == arithmetic::mma_f64 ? 4 : !x.along_k ? 0 : x.vec > 1 ? 16 / size : 1;
  return x;
}

/// Whether offsets from a problem's first element are short.
bool is_short(const step_shape& s) {
  for (const stride_of_axis stride : {&axis::a, &axis::b, &axis::c}) {
    std::int64_t reach = 0;
    for (const auto* group : {&s.m, &s.n, &s.k})
      for (const axis& x : *group) reach += (x.extent - 1) * std::abs(x.*stride);
    if (reach >= (std::int64_t{1} << 31)) return false;
  }
  return true;
}

int shared_bytes_of(const step_shape& s, const panel_config& c, const image& a, const image& b) {
  const int depth = depth_of(s, c);
  return a.bytes(c.rows, depth, s.a) + c.slots * b.bytes(c.cols, depth, s.b) + (is_short(s) ? 4 : 8) * (2 * c.rows + 2 * depth + 6 * c.cols);
}

/// Every operand is one matrix without gaps.
bool is_packed(const step_shape& s) {
  if (s.m.size() != 1 || s.n.size() != 1 || s.k.size() != 1) return false;
  const auto packed = [](const axis& x, const axis& y, stride_of_axis stride) {
    return (x.*stride == y.extent && y.*stride == 1) || (x.*stride == 1 && y.*stride == x.extent);
  };
  return packed(s.m[0], s.k[0], &axis::a) && packed(s.k[0], s.n[0], &axis::b) && packed(s.m[0], s.n[0], &axis::c);
}

/// Measured on an H200: the paper's statement of 8 to 64 a side, contractions of the TCCG collection, CCSD(T)'s terms.
panel_config f64_panel(const step_shape& s) {
  const std::int64_t rows = count_of(s.m), cols = columns_of(s);
  const bool long_sum = count_of(s.k) > 32;
  if (rows <= 32) return panel_of_cores(1, 2, 4, 2, 6);
  if (cols <= 32) return rows <= 96 ? panel_of_cores(4, 1, 2, 2, 6) : panel_of_cores(4, 1, 4, 2, 4);
  if (rows <= 64 && cols <= 64) return panel_of_cores(4, 2, 2, 2, 3);
  if (rows <= 96) return long_sum ? panel_of_cores(4, 2, 2, 2, 3) : panel_of_cores(2, 2, 4, 2, 4);
  if (!long_sum) return s.beta ? panel_of_cores(4, 2, 4, 2, 2) : panel_of_cores(4, 1, 4, 2, 4);
  panel_config c = panel_of_cores(8, 2, 2, 2, 1);
  c.slots = 2;
  return c;
}

/// Measured with contractions of TCCG and CCSD(T).
panel_config threads_panel(const step_shape& s) {
  const std::int64_t rows = count_of(s.m);
  panel_config c;
  if (s.c == dtype::c128) c = panel_of_threads(64, 32, 4, 4, 3);
  else if (rows <= 32) c = panel_of_threads(32, 64, 8, 4, s.c == dtype::f32 ? 12 : 6);
  else c = rows <= 96 ? panel_of_threads(64, 64, 8, 4, s.c == dtype::f32 ? 6 : 3) : panel_of_threads(128, 32, 8, 4, s.c == dtype::f32 ? 6 : 3);
  c.slots = 2;
  return c;
}

}  // namespace

panel_config panel_of_cores(int warps_m, int warps_n, int rm, int rn, int blocks) {
  return {arithmetic::mma_f64, warps_m * rm * 8, warps_n * rn * 16, 32 * warps_m * warps_n, rm, rn, warps_m, warps_n, blocks};
}

panel_config panel_of_threads(int rows, int cols, int rm, int rn, int blocks) {
  return {arithmetic::threads, rows, cols, rows / rm * (cols / rn), rm, rn, 1, 1, blocks, 1, 4};
}

bool choose_panel(const step_shape& s, const gpu_machine& m, panel_config& out) {
  const std::int64_t k = count_of(s.k);
  if (!s.has_a || size_of(s.a) == 2 || s.b != s.a || s.c != s.a || s.n.empty() || s.n.back().c != 1 || k < 4 || k > 72) return false;
  if (count_of(s.m) <= 64 && count_of(s.n) <= 64 && is_packed(s)) return false;  // tiles read their slices in turn, 0.95 against 0.93 of the triad
  const bool cores = s.c == dtype::f64;
  out = cores ? f64_panel(s) : threads_panel(s);
  // Longer addresses, and threads that read many elements of c at once, need more registers.
  if (!is_short(s) || (s.beta && !cores)) out.blocks = std::max(1, out.blocks - 1);
  // What is read and written takes longer to come than the next tile's product: fewer turns, more blocks.
  out.turns = k > 32 ? (cores ? 16 : 4) : s.beta ? 1 : cores ? 2 : 4;
  while (out.turns > 1 && panel_parts(s, out) < 4 * m.multiprocessors) out.turns /= 2;
  if (out.turns == 1) out.slots = 1;
  const auto shared = [&] {
    int bytes = 0;
    panel_text(s, out, {}, bytes);
    return bytes;
  };
  if (out.blocks > 1 && shared() * 2 > m.shared_bytes) out.slots = 1;
  return shared() <= m.shared_most;
}

step_shape arranged_for_panels(const step_shape& given) {
  step_shape s = given;
  arrange_rows_and_sums(s);
  const std::size_t nb = unit_in(s.n, &axis::b), nc = unit_in(s.n, &axis::c);
  if (nb == nc || nb == s.n.size() || nc == s.n.size() || !(in_blocks(s.n, nb, nc, 8) || in_blocks(s.n, nb, nc, 4))) to_back(s.n, nc);
  return s;
}

std::int64_t panel_parts(const step_shape& s, const panel_config& c) {
  const std::int64_t tiles = (columns_of(s) + c.cols - 1) / c.cols;
  return (count_of(s.m) + c.rows - 1) / c.rows * ((tiles + c.turns - 1) / c.turns) * count_of(s.batch);
}

std::string panel_text(const step_shape& s, const panel_config& c, const alignments& at, int& shared_bytes) {
  const image a = image_of(s.k, s.m, s.batch, &axis::a, s.a, c, at.a), b = image_of(s.k, s.n, s.batch, &axis::b, s.b, c, at.b);
  const std::int64_t columns = columns_of(s), padded = padding_of(s);
  std::string t = "#include \"element.cuh\"\nstruct panel_type {\n  using E = " + element_text(s.c) + ";\n  using offset = " + (is_short(s) ? "int" : "i64") + ";\n";
  t += constant_text("conj_a", s.conj_a) + constant_text("conj_b", s.conj_b) + constant_text("beta", s.beta);
  t += constant_text("i64", "m", count_of(s.m)) + constant_text("i64", "n", columns) + constant_text("i64", "turns", c.turns) + constant_text("int", "k", count_of(s.k));
  t += constant_text("int", "rows", c.rows) + constant_text("int", "cols", c.cols) + constant_text("int", "depth", depth_of(s, c)) + constant_text("int", "block", c.block) + constant_text("int", "blocks", c.blocks) + constant_text("int", "slots", c.slots) + constant_text("int", "unroll", c.unroll);
  t += constant_text("int", "rm", c.rm) + constant_text("int", "rn", c.rn) + constant_text("int", "warps_m", c.warps_m) + constant_text("int", "warps_n", c.warps_n);
  t += constant_text("int", "compute", static_cast<int>(c.compute));
  t += constant_text("a_along_k", a.along_k) + constant_text("b_along_k", b.along_k) + constant_text("int", "vec_a", a.vec) + constant_text("int", "vec_b", b.vec);
  t += constant_text("int", "pad_a", a.pad) + constant_text("int", "pad_b", b.pad) + constant_text("whole", !padded && columns % c.cols == 0);
  t += offset_function("row", s.m, "ac") + offset_function("col", s.n, "bc", padded ? padded : s.n.back().extent) + offset_function("sum", s.k, "ab") + offset_function("batch", s.batch, "abc");
  shared_bytes = shared_bytes_of(s, c, a, b);
  return t + "};\n#include \"panel.cuh\"\n";
}

std::string to_string(const panel_config& c) {
  return "panels of " + std::to_string(c.rows) + " rows along " + (c.turns > 1 ? std::to_string(c.turns) + " x " : "") + std::to_string(c.cols) + " columns, " + to_string(c.compute);
}

}  // namespace ricci::cuda
