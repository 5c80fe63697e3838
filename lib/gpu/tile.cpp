// Texts for kernels/tile.cuh: products with long sides.
#include <algorithm>
#include <cstdlib>

#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

std::string number(const char* type, const char* name, std::int64_t value) {
  return std::string("  static constexpr ") + type + " " + name + " = " + std::to_string(value) + ";\n";
}
std::string flag(const char* name, bool value) { return std::string("  static constexpr bool ") + name + " = " + text_of(value) + ";\n"; }

std::string offset_function(const char* name, const std::vector<axis>& axes, const std::string& operands) {
  std::string t = std::string("  static __device__ void ") + name + "(i64 at";
  for (const char x : operands) t += std::string(", i64& ") + x;
  const bool wide = count_of(axes) >= (std::int64_t{1} << 31);
  t += std::string(") {\n    const ") + (wide ? "u64" : "u32") + " u = static_cast<" + (wide ? "u64" : "u32") + ">(at);\n";
  for (const char x : operands) {
    const auto stride = x == 'a' ? &axis::a : x == 'b' ? &axis::b : &axis::c;
    const std::string offset = long_offset_text(extents_of(axes), strides_of(axes, stride), "u");
    if (offset != "0") t += std::string("    ") + x + " += " + offset + ";\n";
  }
  return t + "  }\n";
}

std::int64_t power_of(std::int64_t x, std::int64_t most) { return x == 0 ? most : std::min(most, x & -x); }

/// Elements that one copy may take along the innermost axis of `fast`, given the other strides and the alignment.
int vector_of(const std::vector<axis>& fast, const std::vector<const std::vector<axis>*>& others, std::int64_t axis::*stride,
              dtype t, int aligned) {
  const auto size = static_cast<std::int64_t>(size_of(t));
  if (fast.empty() || fast.back().*stride != 1) return 1;
  std::int64_t v = std::min<std::int64_t>(16, aligned) / size;
  v = std::min(v, power_of(fast.back().extent, 16));
  for (std::size_t d = 0; d + 1 < fast.size(); ++d) v = std::min(v, power_of(fast[d].*stride, 16));
  for (const auto* group : others)
    for (const axis& x : *group) v = std::min(v, power_of(x.*stride, 16));
  return static_cast<int>(std::max<std::int64_t>(1, v));
}

}  // namespace

tile_config choose_tile(const step_shape& s) {
  const std::int64_t m = count_of(s.m), n = count_of(s.n);
  const bool same = s.a == s.b && compute_type(s.c) == compute_type(s.a);
  tile_config c;
  if (same && s.a == dtype::f64) {
    c = {arithmetic::mma_f64, 64, 64, 16, 128, 4, 4, 2, 2};
  } else if (same && size_of(s.a) == 2) {
    if (m > 96 && n > 96) c = {arithmetic::mma_16, 128, 128, 32, 256, 4, 4, 2, 4};
    else c = {arithmetic::mma_16, 64, 64, 32, 128, 2, 4, 2, 2};
  } else if (compute_type(s.c) == dtype::f32 && m > 96 && n > 96) {
    c = {arithmetic::threads, 128, 128, 8, 256, 8, 8, 1, 1};
  } else {
    c = {arithmetic::threads, 64, 64, is_complex(s.c) ? 8 : 16, 256, 4, 4, 1, 1};
  }
  return c;
}

std::string tile_text(const step_plan& p, const alignments& at, int& shared_bytes) {
  const step_shape& s = p.shape;
  const tile_config& c = p.tile;
  const bool a_along_k = !s.k.empty() && (s.m.empty() || std::abs(s.k.back().a) < std::abs(s.m.back().a));
  const bool b_along_k = !s.k.empty() && (s.n.empty() || std::abs(s.k.back().b) < std::abs(s.n.back().b));
  int vec_a = vector_of(a_along_k ? s.k : s.m, {a_along_k ? &s.m : &s.k, &s.batch}, &axis::a, s.a, at.a);
  int vec_b = vector_of(b_along_k ? s.k : s.n, {b_along_k ? &s.n : &s.k, &s.batch}, &axis::b, s.b, at.b);
  std::string t = "#include \"element.cuh\"\nstruct tile_type {\n";
  t += "  using A = " + element_text(s.a) + ";\n  using B = " + element_text(s.b) + ";\n  using C = " + element_text(s.c) + ";\n";
  t += flag("conj_a", s.conj_a) + flag("conj_b", s.conj_b) + flag("beta", s.beta) + flag("bfloat", s.a == dtype::bf16);
  t += number("i64", "m", count_of(s.m)) + number("i64", "n", count_of(s.n)) + number("i64", "k", count_of(s.k));
  t += number("int", "rows", c.rows) + number("int", "cols", c.cols) + number("int", "depth", c.depth) + number("int", "block", c.block);
  t += number("int", "rm", c.rm) + number("int", "rn", c.rn) + number("int", "warps_m", c.warps_m) + number("int", "warps_n", c.warps_n);
  t += number("int", "compute", static_cast<int>(c.compute));
  t += flag("a_along_k", a_along_k) + flag("b_along_k", b_along_k) + number("int", "vec_a", vec_a) + number("int", "vec_b", vec_b);
  t += offset_function("row", s.m, "ac") + offset_function("col", s.n, "bc") + offset_function("sum", s.k, "ab");
  t += offset_function("batch", s.batch, "abc") + "};\n#include \"tile.cuh\"\n";
  // As tile.cuh lays out its stages.
  const auto bytes = [&](int lines, int vec, dtype type) {
    const int size = static_cast<int>(size_of(type));
    const int pad = c.compute == arithmetic::threads ? (vec > 1 ? 16 / size : 1) : c.compute == arithmetic::mma_f64 ? 4 : 8;
    return (lines * (c.depth + pad) * size + 15) / 16 * 16;
  };
  shared_bytes = 3 * (bytes(c.rows, vec_a, s.a) + bytes(c.cols, vec_b, s.b));
  return t;
}

}  // namespace ricci::cuda
