// The text that specialises kernels/small.cuh: how every operand lies in memory and in shared memory.
#include <algorithm>
#include <cstdlib>

#include <ricci/core/error.hpp>

#include "gpu/small.hpp"

namespace ricci::cuda {
namespace {

/// One axis of an operand's problem.
struct image_axis {
  std::int64_t extent, far;     // stride in memory
  bool is_row;
  int place;                    // in the group's list
  std::int64_t near = 0;        // stride in shared memory
};

struct image {
  dtype type = dtype::f64;
  bool conj = false, flat = false, aligned = true, lined = false, problem_fastest = false, pointers = false, shared = false;
  int problems = 1, beside = 0;
  std::int64_t elements = 1, stride = 0, size = 0, row = 1, pad = 0, units = 1, unit = 1, chunk = 16;
  std::vector<image_axis> axes;  // of rows and columns, by stride in memory, smallest first; strides of 0 left out
  std::vector<std::int64_t> row_extents, row_near, col_extents, col_near;

  std::int64_t bytes() const { return static_cast<std::int64_t>(size_of(type)); }
};

std::int64_t largest_power(std::int64_t x, std::int64_t most) {
  if (x == 0) return most;
  const std::int64_t p = x & -x;
  return std::min(p, most);
}

/// An operand of the step: its strides and alignment.
struct side {
  std::int64_t axis::*stride;
  dtype type;
  bool conj;
  const std::vector<axis>*rows, *cols;
  int aligned;
  std::int64_t pad;
  bool lined;
  int beside;
};

bool is_dense(const std::vector<image_axis>& axes) {
  std::int64_t expected = 1;
  for (const image_axis& x : axes) {
    if (x.far != expected) return false;
    expected *= x.extent;
  }
  return true;
}

/// The largest power of two, in bytes, that every tile and every loop begins at.
std::int64_t common_alignment(const small_shape& s, const side& x, int problems) {
  const auto size = static_cast<std::int64_t>(size_of(x.type));
  std::int64_t common = x.aligned;
  if (s.pointers) return std::max<std::int64_t>(common, size);
  if (s.inner.extent > problems) common = std::min(common, largest_power(s.inner.*x.stride * problems * size, 16));
  for (const axis& o : s.outer) common = std::min(common, largest_power(o.*x.stride * size, 16));
  return common;
}

void place_rows(image& i, const side& x) {
  i.row_extents = extents_of(*x.rows), i.col_extents = extents_of(*x.cols);
  i.row_near.assign(i.row_extents.size(), 0), i.col_near.assign(i.col_extents.size(), 0);
  for (const image_axis& a : i.axes) (a.is_row ? i.row_near : i.col_near)[static_cast<std::size_t>(a.place)] = a.near;
}

/// A run of memory for each tile.
void lay_flat(image& i, const side& x, std::int64_t common) {
  const std::int64_t size = i.bytes();
  i.flat = true;
  i.row = i.axes.empty() ? 1 : i.axes[0].extent;
  i.pad = x.pad;
  if (i.pad > 0) {
    const std::int64_t widest = std::min({common, largest_power(i.row * size, 16), largest_power(i.pad * size, 16)});
    if (widest < std::max<std::int64_t>(size, 4) && size >= 4) i.pad = 0;
    else i.chunk = widest;
  }
  if (i.pad == 0) i.chunk = 16, i.aligned = common >= 16;
  std::int64_t reach = 1;
  for (std::size_t d = 0; d < i.axes.size(); ++d) {
    i.axes[d].near = reach;
    reach *= i.axes[d].extent;
    if (d == 0) reach += i.pad;
  }
  if (i.axes.empty()) reach = 1 + i.pad;
  i.stride = i.problems > 1 ? reach : 0;
  i.lined = x.lined && i.pad == 0;
  i.size = reach * i.problems + (i.lined ? 128 / size : i.aligned ? 0 : 16 / size);
}

/// Words gathered from anywhere.
void lay_words(image& i, const small_shape& s, const side& x, std::int64_t common) {
  const std::int64_t size = i.bytes(), inner = s.pointers ? 0 : s.inner.*x.stride;
  i.problem_fastest = i.problems > 1 && !s.pointers && (i.axes.empty() || std::abs(inner) < std::abs(i.axes[0].far));
  i.unit = 1;
  if (!i.axes.empty() && i.axes[0].far == 1 && !i.problem_fastest) {
    std::int64_t widest = common / size;
    widest = std::min({widest, largest_power(i.axes[0].extent, 16), i.problems > 1 ? largest_power(inner, 16) : 16});
    for (std::size_t d = 1; d < i.axes.size(); ++d) widest = std::min(widest, largest_power(i.axes[d].far, 16));
    i.unit = std::max<std::int64_t>(1, std::min(widest, 16 / size));
  }
  const std::int64_t pad = (x.pad + i.unit - 1) / i.unit * i.unit;
  std::int64_t reach = i.problem_fastest ? i.problems : 1;
  if (i.problem_fastest && reach % 2 == 0) reach += 1;
  for (std::size_t d = 0; d < i.axes.size(); ++d) {
    i.axes[d].near = reach;
    reach *= i.axes[d].extent;
    if (d == 0 && !i.problem_fastest) reach += pad;
  }
  i.stride = i.problems == 1 ? 0 : i.problem_fastest ? 1 : reach;
  i.size = i.problem_fastest ? reach : reach * i.problems;
  i.units = i.elements / i.unit;
  i.chunk = i.unit * size;
}

/// A run of memory for each tile, whose problems lie side by side in blocks.
image lay_beside(image i, side x, std::int64_t common) {
  x.pad = 0;
  lay_flat(i, x, common);
  for (image_axis& a : i.axes) a.near *= x.beside;
  i.beside = x.beside;
  place_rows(i, x);
  return i;
}

/// A run of memory for each tile, whose problems begin an odd number of words of 16 bytes apart in shared memory: neighbouring
/// threads take neighbouring problems.
image lay_apart(image i, side x, std::int64_t common) {
  const std::int64_t size = i.bytes(), word = 16 / std::min<std::int64_t>(size, 16);
  x.pad = 0;
  lay_flat(i, x, common);
  if (i.problems > 1 && i.elements * size >= 128 && i.elements * size % 32 == 0 && common >= 16) {
    i.row = i.elements, i.pad = word, i.chunk = 16, i.lined = false;
    i.stride = i.elements + word, i.size = i.stride * i.problems;
  }
  place_rows(i, x);
  return i;
}

image make_image(const small_shape& s, const small_config& c, const side& x) {
  image i;
  i.type = x.type, i.conj = x.conj, i.pointers = s.pointers;
  const auto take = [&](const std::vector<axis>& group, bool is_row) {
    for (std::size_t d = 0; d < group.size(); ++d)
      if (group[d].*x.stride != 0) i.axes.push_back({group[d].extent, group[d].*x.stride, is_row, static_cast<int>(d), 0});
  };
  take(*x.rows, true), take(*x.cols, false);
  std::stable_sort(i.axes.begin(), i.axes.end(), [](const auto& p, const auto& q) { return std::abs(p.far) < std::abs(q.far); });
  for (const image_axis& a : i.axes) i.elements *= a.extent;
  i.shared = !s.pointers && s.inner.*x.stride == 0;
  i.problems = i.shared ? 1 : c.problems;
  const std::int64_t common = common_alignment(s, x, c.problems);
  if (x.beside > 0) return lay_beside(i, x, common);
  const bool run = !s.pointers && is_dense(i.axes) && (i.problems == 1 || s.inner.*x.stride == i.elements);
  if (run && is_beside(s)) return lay_apart(i, x, common);
  if (run) lay_flat(i, x, common);
  else lay_words(i, s, x, common);
  place_rows(i, x);
  return i;
}

/// Offsets of word u: digits over the axes, the smallest stride fastest; the innermost counts words.
std::string word_offset(const image& i, std::int64_t image_axis::*stride) {
  std::vector<std::int64_t> extents, strides;
  for (std::size_t d = i.axes.size(); d-- > 0;) {
    extents.push_back(d == 0 ? i.axes[d].extent / i.unit : i.axes[d].extent);
    strides.push_back(d == 0 ? i.axes[d].*stride * i.unit : i.axes[d].*stride);
  }
  return stride == &image_axis::far ? long_offset_text(extents, strides, "u") : offset_text(extents, strides, "u");
}

std::string text_of(const image& i, const char* name) {
  const auto number = [](const char* what, std::int64_t value) { return std::string("  static constexpr int ") + what + " = " + std::to_string(value) + ";\n"; };
  const auto flag = [](const char* what, bool value) { return std::string("  static constexpr bool ") + what + " = " + cuda::text_of(value) + ";\n"; };
  const auto offset = [](const char* type, const char* what, const char* index, const std::string& value) {
    return std::string("  static __device__ ") + type + " " + what + "(unsigned " + index + ") { return static_cast<" + type + ">(" + value + "); }\n";
  };
  std::string t = std::string("struct ") + name + " {\n  using E = " + element_text(i.type) + ";\n";
  t += number("bytes", i.bytes()) + flag("flat", i.flat) + flag("aligned", i.aligned) + flag("lined", i.lined) + flag("pointers", i.pointers);
  t += flag("conj", i.conj) + flag("problem_fastest", i.problem_fastest) + flag("shared", i.shared);
  t += number("problems", i.problems) + number("elements", i.elements) + number("stride", i.stride) + number("size", i.size);
  t += number("chunk", i.chunk) + number("row", i.row) + number("pad", i.pad) + number("units", i.units) + number("unit", i.unit);
  t += offset("i64", "from", "u", i.flat ? "0" : word_offset(i, &image_axis::far));
  t += offset("int", "to", "u", i.flat ? "0" : word_offset(i, &image_axis::near));
  const std::string block = std::to_string(i.beside), elements = std::to_string(i.elements * i.beside);
  t += offset("int", "at_problem", "p", i.beside > 0 ? "p / " + block + " * " + elements + " + p % " + block : "p * stride");
  t += offset("int", "row_at", "i", offset_text(i.row_extents, i.row_near, "i"));
  t += offset("int", "col_at", "i", offset_text(i.col_extents, i.col_near, "i"));
  return t;
}

/// Pairs of neighbours in k are aligned words of the image.
bool is_paired(const image& i, bool k_is_row) {
  const auto& extents = k_is_row ? i.row_extents : i.col_extents;
  const auto& near = k_is_row ? i.row_near : i.col_near;
  if (near.size() != 1 || near[0] != 1 || extents[0] % 2 != 0 || i.stride % 2 != 0 || !i.aligned) return false;
  for (const image_axis& a : i.axes)
    if (a.near != 1 && a.near % 2 != 0) return false;
  return true;
}

/// Elements of a row (or column) that may be read at once: whole 16-byte words of the image.
int pack_of(const image& i, bool along_row, int most) {
  const auto& extents = along_row ? i.row_extents : i.col_extents;
  const auto& near = along_row ? i.row_near : i.col_near;
  if (near.size() != 1 || near[0] != 1 || !i.aligned) return 1;
  std::int64_t pack = std::min<std::int64_t>(16 / i.bytes(), largest_power(extents[0], 16));
  pack = std::min({pack, largest_power(i.stride, 16), largest_power(most, 16)});
  for (const image_axis& a : i.axes)
    if (a.near != 1) pack = std::min(pack, largest_power(a.near, 16));
  return static_cast<int>(pack);
}

struct images {
  image a, b, c;
};

images make_images(const small_shape& s, const small_config& given, const alignments& at) {
  const step_shape& p = s.step;
  small_config c = given;
  c.lined = c.lined && c.bulk == 0;
  return {make_image(s, c, {&axis::a, p.a, p.conj_a, &p.m, &p.k, at.a, c.pad_a, c.lined, s.beside_a}),
          make_image(s, c, {&axis::b, p.b, p.conj_b, &p.k, &p.n, at.b, c.pad_b, c.lined, s.beside_b}),
          make_image(s, c, {&axis::c, p.c, false, &p.m, &p.n, at.c, c.pad_c, c.lined, s.beside_c})};
}

std::int64_t rounded(const image& i) { return (i.size * i.bytes() + 15) / 16 * 16; }

/// The hardware copies runs, if all operands that are copied are.
int bulk_of(const images& i, const small_config& c) {
  const auto run = [](const image& x) { return x.flat && x.pad == 0 && !x.pointers; };
  return run(i.a) && run(i.b) && run(i.c) ? c.bulk : 0;
}

std::int64_t shared_of(const images& i, const small_config& c, bool beta) {
  const int ring = c.stages == 1 ? 1 : beta ? c.stages + 1 : 2;
  const std::int64_t factors = rounded(i.a) + rounded(i.b), arrivals = bulk_of(i, c) ? (8 * c.stages + 15) / 16 * 16 : 0;
  const std::int64_t tile = c.over ? c.stages * std::max(factors, rounded(i.c)) : c.stages * factors + ring * rounded(i.c);
  return c.block / c.group * (tile + arrivals);
}

}  // namespace

int shared_bytes_of(const small_shape& s, const small_config& c, const alignments& at) {
  return static_cast<int>(std::min<std::int64_t>(shared_of(make_images(s, c, at), c, s.step.beta), 1 << 30));
}

small_kernel small_text(const small_shape& s, const small_config& c, const alignments& at) {
  const images i = make_images(s, c, at);
  const auto number = [](const char* what, std::int64_t value) { return std::string("  static constexpr int ") + what + " = " + std::to_string(value) + ";\n"; };
  const auto flag = [](const char* what, bool value) { return std::string("  static constexpr bool ") + what + " = " + cuda::text_of(value) + ";\n"; };
  small_kernel k;
  k.threads = c.block;
  k.groups = c.block / c.group;
  k.shared_bytes = static_cast<int>(shared_of(i, c, s.step.beta));
  k.text = "#include \"element.cuh\"\nstruct small_type {\n";
  k.text += number("m", count_of(s.step.m)) + number("n", count_of(s.step.n)) + number("k", count_of(s.step.k));
  k.text += number("problems", c.problems) + number("group", c.group) + number("block", c.block) + number("stages", c.stages);
  k.text += number("rm", c.rm) + number("rn", c.rn) + number("outer", static_cast<std::int64_t>(s.outer.size())) + number("compute", static_cast<int>(c.compute)) + number("unroll", c.unroll);
  const bool packs = c.vectors && c.compute == arithmetic::threads;
  k.text += number("vec_a", packs ? pack_of(i.a, false, 16) : 1) + number("vec_b", packs ? pack_of(i.b, false, c.rn) : 1);
  k.text += number("blocks", c.blocks) + flag("beta", s.step.beta) + flag("bfloat", s.step.a == dtype::bf16) + flag("spread", c.spread);
  k.text += flag("over", c.over) + number("bulk", bulk_of(i, c)) + flag("rows_together", c.together & 1) + flag("columns_together", c.together & 2);
  k.text += flag("problem_fastest", i.c.problem_fastest || is_beside(s)) + "};\n";
  k.text += text_of(i.a, "image_a") + flag("paired", is_paired(i.a, false)) + "};\n";
  k.text += text_of(i.b, "image_b") + flag("paired", is_paired(i.b, true)) + "};\n";
  k.text += text_of(i.c, "image_c") + "};\n#include \"small.cuh\"\n";
  return k;
}

bool fits(const small_shape& s, const small_config& c, const gpu_machine& m) {
  const std::int64_t sm = count_of(s.step.m), sn = count_of(s.step.n);
  const bool mma = c.compute != arithmetic::threads;
  const std::int64_t rows = c.compute == arithmetic::mma_16 ? (sm + 15) / 16 : mma ? (sm + 7) / 8 : sm;
  const std::int64_t cols = mma ? (sn + 7) / 8 : sn;
  for (const int beside : {s.beside_a, s.beside_b, s.beside_c})
    if (beside > 0 && c.problems % beside != 0) return false;
  if (c.group > c.block || c.block % c.group || c.rm > rows || c.rn > cols || c.problems < 1) return false;
  if (c.group != 32 && c.group != c.block && c.block / c.group > 15) return false;  // named barriers
  if (s.step.a != s.step.b && mma) return false;
  if (c.compute == arithmetic::mma_f64 && s.step.a != dtype::f64) return false;
  if (c.compute == arithmetic::mma_16 && (s.step.a != s.step.b || size_of(s.step.a) != 2)) return false;
  if (c.compute == arithmetic::mma_c128 && (s.step.a != dtype::c128 || s.step.c != dtype::c128)) return false;
  if (mma && c.compute != arithmetic::mma_c128 && is_complex(s.step.c)) return false;
  // Only the last row and column of a thread's tile may lie outside, unless they are neighbours.
  const std::int64_t tm = (sm + c.rm - 1) / c.rm, tn = (sn + c.rn - 1) / c.rn;
  if (!mma && ((!(c.together & 1) && (c.rm - 1) * tm >= sm) || (!(c.together & 2) && (c.rn - 1) * tn >= sn))) return false;
  if (c.over && (mma || s.step.beta || (c.stages > 1 && bulk_of(make_images(s, c, {}), c) == 0) || c.problems * tm * tn > c.group)) return false;
  return shared_bytes_of(s, c, {}) <= m.shared_most && shared_bytes_of(s, c, {2, 2, 2}) <= m.shared_most;
}

}  // namespace ricci::cuda
