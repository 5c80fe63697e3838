// Grouping and fusing labels; the texts that kernels are specialised by.
#include "gpu/shape.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "plan/distinct.hpp"

namespace ricci::cuda {
namespace {

/// Outermost first; then every axis that the one inside it reaches exactly, in every operand, becomes one with it.
void fuse(std::vector<axis>& axes, std::int64_t axis::*first) {
  std::stable_sort(axes.begin(), axes.end(), [&](const axis& x, const axis& y) {
    const auto key = [&](const axis& z) { return std::abs(z.*first) ? std::abs(z.*first) : std::abs(z.a) + std::abs(z.b); };
    return key(x) > key(y);
  });
  for (std::size_t d = axes.size(); d-- > 1;) {
    const axis &in = axes[d], &out = axes[d - 1];
    if (out.a != in.a * in.extent || out.b != in.b * in.extent || out.c != in.c * in.extent) continue;
    axes[d - 1] = {out.extent * in.extent, in.a, in.b, in.c};
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(d));
  }
}

}  // namespace

std::int64_t count_of(const std::vector<axis>& axes) {
  std::int64_t n = 1;
  for (const axis& x : axes) n *= x.extent;
  return n;
}

std::vector<axis> free_axes(const step_shape& s) {
  std::vector<axis> free = s.batch;
  free.insert(free.end(), s.m.begin(), s.m.end());
  free.insert(free.end(), s.n.begin(), s.n.end());
  return free;
}

stride_of_axis stride_in(char operand) { return operand == 'a' ? &axis::a : operand == 'b' ? &axis::b : &axis::c; }

void swap_factors(step_shape& s) {
  std::swap(s.a, s.b), std::swap(s.conj_a, s.conj_b), std::swap(s.m, s.n);
  for (auto* group : {&s.batch, &s.m, &s.n, &s.k})
    for (axis& x : *group) std::swap(x.a, x.b);
  s.swapped = !s.swapped;
}

step_shape shape_of(const pair_op& op, const std::vector<std::int64_t>& extents) {
  step_shape s;
  s.a = op.a.type, s.b = op.b.type, s.c = op.c.type;
  s.has_a = op.a.where != operand::kind::one;
  s.has_b = op.b.where != operand::kind::one;
  s.conj_a = op.a.conj, s.conj_b = op.b.conj;
  s.beta = !is_zero(op.beta);
  std::vector<int> labels;
  for (const operand* x : {&op.c, &op.a, &op.b})
    for (const int l : x->labels)
      if (std::find(labels.begin(), labels.end(), l) == labels.end()) labels.push_back(l);
  for (const int l : labels) {
    const axis x{extents[static_cast<std::size_t>(l)], stride_of(op.a, l), stride_of(op.b, l), stride_of(op.c, l)};
    if (x.extent == 1) continue;
    if (!has(op.c, l)) s.k.push_back(x);
    else if (has(op.a, l) && has(op.b, l)) s.batch.push_back(x);
    else (has(op.a, l) ? s.m : s.n).push_back(x);
  }
  for (auto* group : {&s.batch, &s.m, &s.n}) fuse(*group, &axis::c);
  fuse(s.k, &axis::a);
  // Neighbouring threads take neighbouring columns, so columns are what lies side by side in c.
  if (s.has_a && !s.m.empty() && s.m.back().c == 1) swap_factors(s);
  return s;
}

double flops_of(const step_shape& s) {
  return (is_complex(s.c) ? 8.0 : 2.0) * static_cast<double>(count_of(s.batch)) * static_cast<double>(count_of(s.m)) *
         static_cast<double>(count_of(s.n)) * static_cast<double>(count_of(s.k));
}

namespace {

std::vector<axis> all_axes(const step_shape& s) {
  std::vector<axis> all = free_axes(s);
  all.insert(all.end(), s.k.begin(), s.k.end());
  return all;
}

}  // namespace

double distinct_elements(const step_shape& s, stride_of_axis stride) {
  return ricci::distinct_elements(all_axes(s), [&](const axis& x) { return strided_axis{x.extent, x.*stride}; });
}

bool meet_again(std::int64_t x, std::int64_t x_extent, std::int64_t y, std::int64_t y_extent) {
  x = std::abs(x), y = std::abs(y);
  if (x == 0 || y == 0) return false;
  const std::int64_t common = std::gcd(x, y);
  return y / common < x_extent && x / common < y_extent;
}

namespace {

double bytes_with(const step_shape& s, const auto& elements) {
  const auto size = [&](dtype t, stride_of_axis stride) { return static_cast<double>(size_of(t)) * elements(stride); };
  return (s.has_a ? size(s.a, &axis::a) : 0) + (s.has_b ? size(s.b, &axis::b) : 0) + (s.beta ? 2 : 1) * size(s.c, &axis::c);
}

}  // namespace

double bytes_of(const step_shape& s) {
  return bytes_with(s, [&](stride_of_axis stride) { return distinct_elements(s, stride); });
}

double counted_bytes_of(const step_shape& s) {
  return bytes_with(s, [&](stride_of_axis stride) {
    double n = 1;
    for (const axis& x : all_axes(s))
      if (x.*stride != 0) n *= static_cast<double>(x.extent);
    return n;
  });
}

std::string offset_text(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
                        const std::string& index) {
  std::string text;
  std::int64_t inside = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    std::int64_t extent = extents[d];
    const std::int64_t stride = strides[d];
    while (d > 0 && strides[d - 1] == stride * extent) extent *= extents[--d];  // nested: one digit
    if (stride != 0) {
      std::string digit = inside == 1 ? index : index + " / " + std::to_string(inside);
      if (d > 0) digit += " % " + std::to_string(extent);
      text += (text.empty() ? "" : " + ") + ("(" + digit + ") * " + std::to_string(stride));
    }
    inside *= extent;
  }
  return text.empty() ? "0" : text;
}

std::string long_offset_text(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& strides,
                             const std::string& index) {
  std::string typed;
  for (const char c : offset_text(extents, strides, index)) typed += c == '(' ? "static_cast<i64>(" : std::string(1, c);
  return typed;
}

std::size_t nearest_axis(const std::vector<axis>& axes, std::int64_t axis::*operand) {
  std::size_t best = axes.size();
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (axes[d].*operand != 0 && axes[d].extent > 1 && (best == axes.size() || std::abs(axes[d].*operand) < std::abs(axes[best].*operand))) best = d;
  return best;
}

std::vector<std::int64_t> extents_of(const std::vector<axis>& axes) {
  std::vector<std::int64_t> out;
  for (const axis& x : axes) out.push_back(x.extent);
  return out;
}

std::vector<std::int64_t> strides_of(const std::vector<axis>& axes, std::int64_t axis::*operand) {
  std::vector<std::int64_t> out;
  for (const axis& x : axes) out.push_back(x.*operand);
  return out;
}

std::string function_text(function f, const std::string& x) {
  static constexpr const char* names[] = {"", "reciprocal", "square_root", "reciprocal_root", "absolute", "exponential", ""};
  return names[static_cast<int>(f)] + ("(" + x + ")");
}

std::string element_text(dtype t) { return "element<" + std::to_string(static_cast<int>(t)) + ">"; }

const char* text_of(bool b) { return b ? "true" : "false"; }

}  // namespace ricci::cuda
