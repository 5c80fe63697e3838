// How every operand of small products lies in memory and in shared memory.
#include "gpu/small_image.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::cuda {
namespace {

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

void place_rows(operand_image& i, const side& x) {
  i.row_extents = extents_of(*x.rows), i.col_extents = extents_of(*x.cols);
  i.row_near.assign(i.row_extents.size(), 0), i.col_near.assign(i.col_extents.size(), 0);
  for (const image_axis& a : i.axes) (a.is_row ? i.row_near : i.col_near)[static_cast<std::size_t>(a.place)] = a.near;
}

/// A run of memory for each tile.
void lay_flat(operand_image& i, const side& x, std::int64_t common) {
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
void lay_words(operand_image& i, const small_shape& s, const side& x, std::int64_t common) {
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
operand_image lay_beside(operand_image i, side x, std::int64_t common) {
  x.pad = 0;
  lay_flat(i, x, common);
  for (image_axis& a : i.axes) a.near *= x.beside;
  i.beside = x.beside;
  place_rows(i, x);
  return i;
}

/// A run of memory for each tile, whose problems begin an odd number of words of 16 bytes apart in shared memory: neighbouring
/// threads take neighbouring problems.
operand_image lay_apart(operand_image i, side x, std::int64_t common) {
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

operand_image make_image(const small_shape& s, const small_config& c, const side& x) {
  operand_image i;
  i.type = x.type, i.conj = x.conj, i.pointers = s.pointers;
  const auto take = [&](const std::vector<axis>& group, bool is_row) {
    for (std::size_t d = 0; d < group.size(); ++d)
      if (group[d].*x.stride != 0) i.axes.push_back({group[d].extent, group[d].*x.stride, is_row, static_cast<int>(d), 0});
  };
  take(*x.rows, true), take(*x.cols, false);
  std::stable_sort(i.axes.begin(), i.axes.end(), [](const auto& p, const auto& q) { return std::abs(p.far) < std::abs(q.far); });
  for (const image_axis& a : i.axes) i.elements *= a.extent;
  i.shared = !s.pointers && s.inner.*x.stride == 0;
  i.kept = c.bulk == 0 && is_common(s, x.stride);
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

std::int64_t rounded(const operand_image& i) { return (i.size * i.bytes() + 15) / 16 * 16; }

}  // namespace

namespace {

/// Elements that are neighbours along rows or columns, whose labels may nest if they are of 16 bits (others were a tenth slower so on an
/// H200); 0 if they are none.
std::int64_t neighbours_along(const operand_image& i, bool rows) {
  const auto& extents = rows ? i.row_extents : i.col_extents;
  const auto& near = rows ? i.row_near : i.col_near;
  std::int64_t reach = 1;
  for (std::size_t d = near.size(); d-- > 0; reach *= extents[d])
    if (near[d] != reach) return 0;
  return near.empty() || (near.size() > 1 && i.bytes() > 2) ? 0 : reach;
}

}  // namespace

int pack_of(const operand_image& i, bool along_row, int most) {
  const std::int64_t neighbours = neighbours_along(i, along_row);
  if (neighbours == 0 || !i.aligned) return 1;
  std::int64_t pack = std::min<std::int64_t>(16 / i.bytes(), largest_power(neighbours, 16));
  pack = std::min({pack, largest_power(i.stride, 16), largest_power(most, 16)});
  for (const image_axis& a : i.axes)
    if (a.is_row != along_row) pack = std::min(pack, largest_power(a.near, 16));
  return static_cast<int>(pack);
}

int pack_along_sum(const small_shape& s, const operand_image& b, const small_config& config) { return s.rows == 1 || pack_of(b, false, config.rn) > 1 ? 1 : pack_of(b, true, 16); }

int result_pack_of(const operand_image& c, const small_config& config) {
  return c.bytes() == 2 && config.compute == arithmetic::mma_16 ? pack_of(c, false, (config.together & 2) ? 2 * config.rn : 2) : 1;
}

images make_images(const small_shape& s, const small_config& given, const alignments& at) {
  const step_shape& p = s.step;
  small_config c = given;
  c.lined = c.lined && c.bulk == 0;
  return {make_image(s, c, {&axis::a, p.a, p.conj_a, &p.m, &p.k, at.a, c.pad_a, c.lined, s.beside_a}),
          make_image(s, c, {&axis::b, p.b, p.conj_b, &p.k, &p.n, at.b, c.pad_b, c.lined, s.beside_b}),
          make_image(s, c, {&axis::c, p.c, false, &p.m, &p.n, at.c, c.pad_c, c.lined, s.beside_c})};
}

int bulk_of(const images& i, const small_config& c) {
  const auto run = [](const operand_image& x) { return x.flat && x.pad == 0 && !x.pointers; };
  return run(i.a) && run(i.b) && run(i.c) ? c.bulk : 0;
}

std::int64_t shared_bytes_of(const images& i, const small_config& c, bool beta) {
  const int ring = c.stages == 1 ? 1 : beta ? c.stages + 1 : 2;
  const std::int64_t kept = (i.a.kept ? rounded(i.a) : 0) + (i.b.kept ? rounded(i.b) : 0), factors = rounded(i.a) + rounded(i.b) - kept, arrivals = bulk_of(i, c) ? (8 * c.stages + 15) / 16 * 16 : 0;
  const std::int64_t tile = c.over ? c.stages * std::max(factors, rounded(i.c)) : c.stages * factors + ring * rounded(i.c);
  return c.block / c.group * (kept + tile + arrivals);
}

int shared_bytes_of(const small_shape& s, const small_config& c, const alignments& at) {
  return static_cast<int>(std::min<std::int64_t>(shared_bytes_of(make_images(s, c, at), c, s.step.beta), 1 << 30));
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
