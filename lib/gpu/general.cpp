// Texts for kernels/general.cuh and kernels/permute.cuh.
#include <algorithm>
#include <cstdlib>

#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

std::string number(const char* type, const char* name, std::int64_t value) {
  return std::string("  static constexpr ") + type + " " + name + " = " + std::to_string(value) + ";\n";
}
std::string flag(const char* name, bool value) { return std::string("  static constexpr bool ") + name + " = " + text_of(value) + ";\n"; }

/// "a += ...;" for each operand with a stride along these axes.
std::string offsets(const std::vector<axis>& axes, const std::string& operands, bool wide) {
  std::string text = std::string("    const ") + (wide ? "u64" : "u32") + " u = static_cast<" + (wide ? "u64" : "u32") + ">(at);\n";
  for (const char x : operands) {
    const auto stride = x == 'a' ? &axis::a : x == 'b' ? &axis::b : &axis::c;
    std::vector<std::int64_t> extents = extents_of(axes), strides = strides_of(axes, stride);
    const std::string offset = long_offset_text(extents, strides, "u");
    if (offset != "0") text += std::string("    ") + x + " += " + offset + ";\n";
  }
  return text;
}

constexpr std::int64_t narrow = std::int64_t{1} << 31;

std::vector<axis> free_axes(const step_shape& s) {
  std::vector<axis> free = s.batch;
  free.insert(free.end(), s.m.begin(), s.m.end());
  free.insert(free.end(), s.n.begin(), s.n.end());
  std::stable_sort(free.begin(), free.end(), [](const axis& x, const axis& y) { return std::abs(x.c) > std::abs(y.c); });
  return free;
}

/// The axis with the smallest step in an operand.
std::size_t nearest(const std::vector<axis>& axes, std::int64_t axis::*stride) {
  std::size_t best = axes.size();
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (axes[d].*stride != 0 && axes[d].extent > 1 && (best == axes.size() || std::abs(axes[d].*stride) < std::abs(axes[best].*stride))) best = d;
  return best;
}

}  // namespace

std::string general_text(const step_plan& p, bool last) {
  const step_shape& s = p.shape;
  const bool first = p.general.parts > 1 && !last;
  const dtype sums = compute_type(s.c);
  const std::vector<axis> free = free_axes(s);
  std::string t = "#include \"element.cuh\"\nstruct general_type {\n";
  t += "  using A = " + element_text(s.a) + ";\n  using B = " + element_text(last ? sums : s.b) + ";\n";
  t += "  using C = " + element_text(first ? sums : s.c) + ";\n";
  t += flag("has_a", s.has_a && !last) + flag("has_b", s.has_b || last);
  t += flag("conj_a", s.conj_a && !last) + flag("conj_b", s.conj_b && !last) + flag("beta", s.beta && !first);
  t += number("int", "team", last ? 32 : p.general.team) + number("int", "block", p.general.block);
  t += number("i64", "sum", last ? p.general.parts : count_of(s.k)) + number("i64", "parts", first ? p.general.parts : 1);
  t += "  static __device__ void place(i64 at, i64& a, i64& b, i64& c) {\n";
  t += offsets(free, last ? "c" : "abc", count_of(free) >= narrow);
  if (last) t += "    b += at * " + std::to_string(p.general.parts) + ";\n";
  t += "  }\n  static __device__ void term(i64 at, i64& a, i64& b) {\n";
  t += last ? "    b += at;\n" : offsets(s.k, "ab", count_of(s.k) >= narrow);
  return t + "  }\n};\n#include \"general.cuh\"\n";
}

bool can_permute(const step_shape& s) {
  if (s.has_a || !s.has_b || !s.k.empty()) return false;
  const std::vector<axis> free = free_axes(s);
  const std::size_t j = nearest(free, &axis::c), i = nearest(free, &axis::b);
  if (i == j || i >= free.size() || j >= free.size()) return false;
  return free[i].extent >= 8 && free[j].extent >= 8;
}

std::int64_t permute_squares(const step_shape& s) {
  const std::vector<axis> free = free_axes(s);
  const axis &j = free[nearest(free, &axis::c)], &i = free[nearest(free, &axis::b)];
  const auto squares = [](const axis& x) { return (x.extent + 31) / 32; };
  return count_of(free) / (i.extent * j.extent) * squares(i) * squares(j);
}

std::string permute_text(const step_plan& p) {
  const step_shape& s = p.shape;
  std::vector<axis> free = free_axes(s);
  const std::size_t j = nearest(free, &axis::c), i = nearest(free, &axis::b);
  std::string t = "#include \"element.cuh\"\nstruct permute_type {\n";
  t += "  using B = " + element_text(s.b) + ";\n  using C = " + element_text(s.c) + ";\n";
  t += flag("conj_b", s.conj_b) + flag("beta", s.beta);
  t += number("i64", "extent_i", free[i].extent) + number("i64", "extent_j", free[j].extent);
  t += number("i64", "b_i", free[i].b) + number("i64", "c_i", free[i].c) + number("i64", "b_j", free[j].b) + number("i64", "c_j", free[j].c);
  free.erase(free.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  free.erase(free.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
  t += "  static __device__ void place(i64 at, i64& b, i64& c) {\n" + offsets(free, "bc", count_of(free) >= narrow);
  return t + "  }\n};\n#include \"permute.cuh\"\n";
}

}  // namespace ricci::cuda
