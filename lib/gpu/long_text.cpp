// Texts and arrangements for kernels with long sides.
#include "gpu/long_text.hpp"

#include <algorithm>
#include <cstdlib>

namespace ricci::cuda {

std::string constant_text(const char* type, const char* name, std::int64_t value) {
  return std::string("  static constexpr ") + type + " " + name + " = " + std::to_string(value) + ";\n";
}
std::string constant_text(const char* name, bool value) { return std::string("  static constexpr bool ") + name + " = " + text_of(value) + ";\n"; }

std::string offset_function(const char* name, const std::vector<axis>& axes, const std::string& operands, std::int64_t padded) {
  std::string t = std::string("  static __device__ ") + (padded ? "bool " : "void ") + name + "(i64 at";
  for (const char x : operands) t += std::string(", i64& ") + x;
  std::vector<std::int64_t> extents = extents_of(axes);
  if (padded) extents.back() = padded;
  std::int64_t count = 1;
  for (const std::int64_t x : extents) count *= x;
  const bool wide = count >= (std::int64_t{1} << 31);
  t += std::string(") {\n    const ") + (wide ? "u64" : "u32") + " u = static_cast<" + (wide ? "u64" : "u32") + ">(at);\n";
  for (const char x : operands) {
    const std::string offset = long_offset_text(extents, strides_of(axes, stride_in(x)), "u");
    if (offset != "0") t += std::string("    ") + x + " += " + offset + ";\n";
  }
  if (padded) t += "    return u % " + std::to_string(padded) + " < " + std::to_string(axes.back().extent) + ";\n";
  return t + "  }\n";
}

namespace {

std::int64_t power_of(std::int64_t x, std::int64_t most) { return x == 0 ? most : std::min(most, x & -x); }

}  // namespace

int vector_of(const std::vector<axis>& fast, const std::vector<const std::vector<axis>*>& others, stride_of_axis stride,
              dtype t, int aligned, bool cut) {
  const auto size = static_cast<std::int64_t>(size_of(t));
  if (fast.empty() || fast.back().*stride != 1) return 1;
  std::int64_t v = std::min<std::int64_t>(16, aligned) / size;
  if (!cut || fast.size() > 1) v = std::min(v, power_of(fast.back().extent, 16));
  for (std::size_t d = 0; d + 1 < fast.size(); ++d) v = std::min(v, power_of(fast[d].*stride, 16));
  for (const auto* group : others)
    for (const axis& x : *group) v = std::min(v, power_of(x.*stride, 16));
  return static_cast<int>(std::max<std::int64_t>(1, v));
}

std::size_t unit_in(const std::vector<axis>& group, stride_of_axis stride) {
  std::size_t at = 0;
  while (at < group.size() && group[at].*stride != 1) ++at;
  return at;
}

void to_back(std::vector<axis>& group, std::size_t at) {
  if (at < group.size()) std::rotate(group.begin() + static_cast<std::ptrdiff_t>(at), group.begin() + static_cast<std::ptrdiff_t>(at) + 1, group.end());
}

bool in_blocks(std::vector<axis>& group, std::size_t second, std::size_t first, std::int64_t size) {
  for (const std::size_t x : {second, first})
    if (group[x].extent % size != 0) return false;
  for (const std::size_t x : {second, first}) {
    axis &whole = group[x], inner = whole;
    inner.extent = size, whole.extent /= size;
    for (const stride_of_axis stride : {&axis::a, &axis::b, &axis::c}) whole.*stride *= size;
    group.push_back(inner);
  }
  return true;
}

void arrange_rows_and_sums(step_shape& s) {
  to_back(s.m, unit_in(s.m, &axis::a));
  const std::size_t ka = unit_in(s.k, &axis::a), kb = unit_in(s.k, &axis::b), none = s.k.size();
  // What is read most is read as it lies; of complex single that was no faster (measured on an H200).
  const bool larger_b = count_of(s.n) > count_of(s.m) && s.c != dtype::c64;
  if (ka == none || kb == none || ka == kb) to_back(s.k, ka < none ? ka : kb);
  else if (!in_blocks(s.k, kb, ka, 4)) to_back(s.k, larger_b ? kb : ka);
}

bool runs_along_k(const std::vector<axis>& k, const std::vector<axis>& lines, stride_of_axis stride) {
  if (unit_in(k, stride) < k.size()) return true;
  if (unit_in(lines, stride) < lines.size()) return false;
  return !k.empty() && (lines.empty() || std::abs(k.back().*stride) < std::abs(lines.back().*stride));
}

}  // namespace ricci::cuda
