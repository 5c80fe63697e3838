// How the memory of two references relates: disjoint, the same element for element, or unknown.
#include <ricci/engine/engine.hpp>

#include <algorithm>
#include <cstdint>

namespace ricci::detail {
namespace {

struct range {
  std::intptr_t first, last;  // bytes, half-open
};

bool is_empty(const footprint& f) {
  for (int d = 0; d < f.rank; ++d)
    if (f.last[d] <= f.first[d]) return true;
  return false;
}

/// The bytes between the lowest and the highest element used.
range span_of(const footprint& f) {
  const auto size = static_cast<std::intptr_t>(size_of(f.type));
  std::intptr_t low = reinterpret_cast<std::intptr_t>(f.base), high = low;
  for (int d = 0; d < f.rank; ++d) {
    const std::intptr_t at_first = f.first[d] * f.strides[d] * size, at_last = (f.last[d] - 1) * f.strides[d] * size;
    low += std::min(at_first, at_last);
    high += std::max(at_first, at_last);
  }
  return {low, high + size};
}

/// The same tensor: equal base, type, rank and strides. Only then do axes correspond.
bool same_tensor(const footprint& x, const footprint& y) {
  if (x.base != y.base || x.type != y.type || x.rank != y.rank) return false;
  return std::equal(x.strides, x.strides + x.rank, y.strides);
}

/// Whether different indices of the tensor are different memory, judged on the ranges of both uses: sorted by
/// stride, each stride must clear what the smaller ones span.
bool is_injective(const footprint& x, const footprint& y) {
  constexpr int most = 32;
  if (x.rank > most) return false;
  int order[most];
  for (int d = 0; d < x.rank; ++d) order[d] = d;
  const auto length = [&](int d) { return x.strides[d] < 0 ? -x.strides[d] : x.strides[d]; };
  std::sort(order, order + x.rank, [&](int p, int q) { return length(p) < length(q); });
  std::int64_t reach = 0;
  for (int i = 0; i < x.rank; ++i) {
    const int d = order[i];
    const std::int64_t extent = std::max(x.last[d], y.last[d]) - std::min(x.first[d], y.first[d]);
    if (extent <= 1) continue;
    if (length(d) <= reach) return false;
    reach += (extent - 1) * length(d);
  }
  return true;
}

}  // namespace

overlap::kind classify(const footprint& left, const footprint& other) noexcept {
  using enum overlap::kind;
  if (is_empty(left) || is_empty(other)) return disjoint;
  const range x = span_of(left), y = span_of(other);
  if (!same_tensor(left, other)) return x.last <= y.first || y.last <= x.first ? disjoint : may;
  bool equal = true;
  for (int d = 0; d < left.rank; ++d) {
    equal = equal && left.label[d] == other.label[d] && left.first[d] == other.first[d] && left.last[d] == other.last[d];
    if ((left.last[d] <= other.first[d] || other.last[d] <= left.first[d]) && is_injective(left, other)) return disjoint;
  }
  if (equal) return same;
  return x.last <= y.first || y.last <= x.first ? disjoint : may;
}

}  // namespace ricci::detail
