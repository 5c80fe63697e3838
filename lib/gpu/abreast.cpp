// Texts for kernels/abreast.cuh: products of problems that lie side by side.
#include "gpu/abreast.hpp"

#include <algorithm>
#include <cstdlib>

#include "gpu/long_text.hpp"

namespace ricci::cuda {
namespace {

int up_to(int x, int y) { return (x + y - 1) / y * y; }

/// As slice_abreast has it.
int slice_bytes(const abreast_config& c, int lines, dtype t) {
  const int size = size_in(t), words = c.wide * size / 16, pad = c.compute == arithmetic::threads || words > 2 ? 0 : size == 2 ? 1 : 2;
  return up_to(c.depth * (lines + pad) * c.wide * size, 128);
}

/// As image_abreast has it, where results pass through shared memory.
int image_bytes(const step_shape& s, const abreast_config& c) {
  if (c.compute == arithmetic::threads && nearest_of(s, 'c') == beside::problems) return 0;
  constexpr int few = 16 << 10;
  const int places = c.rows / c.rm * (c.cols / c.rn), bytes = places * (c.wide * size_in(compute_type(s.c)) + 16);
  return bytes > few ? bytes : 2 * bytes;
}

/// Blocks beside one another have a line of neighbours between them.
std::int64_t near_of(const step_shape& s, const abreast_config& c) { return std::max(1, 128 / (c.wide * size_in(s.c))); }

std::int64_t chunks_of(const step_shape& s, const abreast_config& c) { return divide_up(divide_up(count_of(s.batch), std::int64_t{c.wide}), near_of(s, c)) * near_of(s, c); }

}  // namespace

beside nearest_of(const step_shape& s, char operand) {
  const stride_of_axis stride = stride_in(operand);
  const std::vector<axis>& lines = operand == 'b' ? s.n : s.m;
  const std::vector<axis>& others = operand == 'c' ? s.n : s.k;
  std::int64_t least = std::int64_t{1} << 62;
  beside nearest = beside::lines;
  const auto look = [&](const std::vector<axis>& group, beside what) {
    for (const axis& x : group)
      if (x.*stride != 0 && std::abs(x.*stride) < least) least = std::abs(x.*stride), nearest = what;
  };
  look(s.batch, beside::problems), look(lines, beside::lines), look(others, beside::others);
  return nearest;
}

step_shape arranged_for_abreast(const step_shape& given) {
  step_shape s = given;
  std::size_t best = s.batch.size();
  double most = 0;
  for (std::size_t d = 0; d < s.batch.size(); ++d) {
    double bytes = 0;
    for (const char x : {'a', 'b', 'c'}) {
      const stride_of_axis stride = stride_in(x);
      if (s.batch[d].*stride != 1) continue;
      double n = 1;
      for (const auto* group : {&s.m, &s.n, &s.k})
        for (const axis& y : *group)
          if (y.*stride != 0) n *= static_cast<double>(y.extent);
      bytes += n;
    }
    if (bytes > most) most = bytes, best = d;
  }
  to_back(s.batch, best);
  return s;
}

std::int64_t abreast_tiles(const step_shape& s, const abreast_config& c) {
  return chunks_of(s, c) * divide_up(count_of(s.m), std::int64_t{c.rows}) * divide_up(count_of(s.n), std::int64_t{c.cols});
}

int abreast_shared_bytes(const step_shape& s, const abreast_config& c) { return c.stages * (slice_bytes(c, c.rows, s.a) + slice_bytes(c, c.cols, s.b)) + image_bytes(s, c); }

std::string abreast_text(const step_shape& s, const abreast_config& c, const alignments& at, int& shared_bytes) {
  const auto nearest = [&](char x) { return static_cast<int>(nearest_of(s, x)); };
  const auto vec = [&](char x, dtype t, int aligned, const std::vector<axis>& first, const std::vector<axis>& second) {
    return nearest_of(s, x) == beside::problems ? std::min(c.wide, vector_of(s.batch, {&first, &second}, stride_in(x), t, aligned)) : 1;
  };
  const auto step = [&](stride_of_axis stride) { return s.k.size() == 1 ? s.k[0].*stride : 0; };
  const bool cores = c.compute != arithmetic::threads, staged = image_bytes(s, c) > 0;
  const int vec_c = vec('c', s.c, at.c, s.m, s.n);
  std::string t = "#include \"element.cuh\"\nstruct abreast_type {\n";
  t += "  using A = " + element_text(s.a) + ";\n  using B = " + element_text(s.b) + ";\n  using C = " + element_text(s.c) + ";\n";
  t += std::string("  using number = ") + (abreast_tiles(s, c) >= (std::int64_t{1} << 31) ? "u64" : "u32") + ";\n";
  t += constant_text("conj_a", s.conj_a) + constant_text("conj_b", s.conj_b) + constant_text("beta", s.beta) + constant_text("bfloat", s.a == dtype::bf16);
  t += constant_text("i64", "problems", count_of(s.batch)) + constant_text("i64", "m", count_of(s.m)) + constant_text("i64", "n", count_of(s.n)) + constant_text("i64", "k", count_of(s.k));
  t += constant_text("i64", "sum_step_a", step(&axis::a)) + constant_text("i64", "sum_step_b", step(&axis::b));
  t += constant_text("int", "wide", c.wide) + constant_text("int", "near", near_of(s, c)) + constant_text("int", "rows", c.rows) + constant_text("int", "cols", c.cols) + constant_text("int", "depth", c.depth) + constant_text("int", "stages", c.stages);
  t += constant_text("int", "block", c.block) + constant_text("int", "blocks", c.blocks) + constant_text("int", "compute", static_cast<int>(c.compute)) + constant_text("int", "own", c.own);
  t += constant_text("int", "rm", c.rm) + constant_text("int", "rn", c.rn) + constant_text("int", "warps_m", cores ? c.rows / (16 * c.rm) : 1) + constant_text("int", "warps_n", cores ? c.cols / (8 * c.rn) : 1);
  t += constant_text("int", "vec_a", vec('a', s.a, at.a, s.m, s.k)) + constant_text("int", "vec_b", vec('b', s.b, at.b, s.k, s.n)) + constant_text("int", "vec_c", staged ? vec_c : std::min(vec_c, c.own));
  t += constant_text("int", "nearest_a", nearest('a')) + constant_text("int", "nearest_b", nearest('b')) + constant_text("int", "nearest_c", nearest('c'));
  t += offset_function("row", s.m, "ac") + offset_function("col", s.n, "bc") + offset_function("sum", s.k, "ab") + offset_function("batch", s.batch, "abc");
  shared_bytes = abreast_shared_bytes(s, c);
  return t + "};\n#include \"abreast.cuh\"\n";
}

std::string to_string(const abreast_config& c) {
  return std::to_string(c.wide) + " problems side by side, tiles of " + std::to_string(c.rows) + " x " + std::to_string(c.cols) + ", slices of " + std::to_string(c.depth) + ", " + to_string(c.compute);
}

}  // namespace ricci::cuda
