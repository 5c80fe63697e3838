// Which requests are for many short dot products, and in what order these are done.
#include <algorithm>
#include <numeric>

#include "codegen/dots_shape.hpp"

namespace ricci::codegen {
namespace {

constexpr std::int64_t most_pieces = 6 * most_dot_pieces;  // of rows one right behind the other: the hardware follows them
constexpr std::int64_t most_products = 512;    // registers multiplied in the code of a period
constexpr std::int64_t most_dot_offset = 1 << 30;  // bytes

/// The pieces of a dot product, and how many lanes one takes.
bool take_sums(const kernels::contract_args& x, dots& d) {
  const std::int64_t n = x.lane_extent, per_row = (n + d.lanes - 1) / d.lanes;
  if (n < 2 || x.k_outer != 1 || x.k * per_row > most_pieces) return false;
  for (std::int64_t k = 0; k < x.k; ++k)
    for (std::int64_t i = 0; i < n; i += d.lanes)
      d.pieces.push_back({(k * x.k_a + (x.ones_a ? 0 : i)) * d.real, (k * x.k_b + i) * d.real, std::min<std::int64_t>(n - i, d.lanes)});
  d.segment = d.lanes;
  if (d.pieces.size() > 1) return true;
  while (d.segment / 2 >= n) d.segment /= 2;
  return true;
}

/// Whether dot products of three numbers lie one behind the other, in one factor at least; the other one may be the same for all.
bool are_triples(const kernels::contract_args& x, const dots& d) {
  if (x.lane_extent != 3 || d.pieces.size() > 1 || d.dense.size() > 1) return false;
  const std::int64_t a = d.dense[0].a, b = d.dense[0].b, step = 3 * d.real;
  return x.ones_a ? b == step : (a == step && (b == step || b == 0)) || (a == 0 && b == step);
}

}  // namespace

bool take_axes(const kernels::contract_args& x, std::int64_t real, const kernels::axis& lanes, dots& d) {
  std::vector<dots::axis> axes;
  const auto put = [&](const kernels::axis& y) { if (y.extent > 1) axes.push_back({y.extent, y.a * real, y.b * real, y.c * real}); };
  put(lanes), put(x.row), put(x.col);
  for (int i = 0; i < x.loop_count; ++i) put(x.loops[i]);
  std::stable_sort(axes.begin(), axes.end(), [](const dots::axis& y, const dots::axis& z) { return std::abs(y.c) < std::abs(z.c); });
  std::int64_t run = real;
  for (const dots::axis& y : axes) {
    if (!d.loops.empty() || y.c != run) {
      d.loops.push_back(y);
      continue;
    }
    run *= y.extent;
    dots::axis* last = d.dense.empty() ? nullptr : &d.dense.back();
    if (last && y.a == last->a * last->extent && y.b == last->b * last->extent) last->extent *= y.extent;
    else d.dense.push_back(y);
  }
  return !d.dense.empty();
}

bool dots::is_even(std::int64_t axis::*stride) const {
  const std::int64_t step = dense[0].*stride;
  return dense.size() == 1 && (step == 0 || step == segment * real);
}

std::vector<dots> dots_of(const request& r, target t) {
  const kernels::contract_args& x = r.args;
  const bool plain = r.type_a == r.type && r.type_b == r.type && r.type_c == r.type && (r.type == dtype::f32 || r.type == dtype::f64);
  if (t == target::none || r.lanes != kernels::lanes::k || !plain || r.alpha == factor::tensor) return {};
  if (x.row.extent > 1 && x.col.extent > 1) return {};  // a product of matrices: the compiled tiles read each row for several columns
  dots d;
  d.real = static_cast<int>(size_of(r.type)), d.lanes = (t == target::avx512 ? 64 : 32) / d.real;
  if (!take_sums(x, d) || !take_axes(x, d.real, {}, d)) return {};
  // Four segments can be loaded one by one: eight are loaded together or not at all.
  if (d.segments() > 4 && !((x.ones_a || d.is_even(&dots::axis::a)) && d.is_even(&dots::axis::b) && x.lane_extent == d.segment)) d.segment *= 2;
  const auto set_period = [&] {
    d.inner = 1;
    for (std::size_t i = 0; i + 1 < d.dense.size(); ++i) d.inner *= d.dense[i].extent;
    d.count = d.inner * d.dense.back().extent, d.period = std::lcm<std::int64_t>(d.lanes, d.inner);
    return std::min(d.period, d.count) * static_cast<std::int64_t>(d.pieces.size()) <= most_products;
  };
  const auto follow = [&](std::int64_t stride) { return d.dense.size() == 1 && (stride == 0 || stride == x.lane_extent * d.real); };
  if (static_cast<std::int64_t>(d.pieces.size()) > most_dot_pieces && !((x.ones_a || follow(d.dense[0].a)) && follow(d.dense[0].b))) return {};
  d.triples = are_triples(x, d);
  while (!set_period()) {
    if (d.dense.size() == 1) return {};
    d.loops.insert(d.loops.begin(), d.dense.back());
    d.dense.pop_back();
  }
  if (d.count < 2 || d.loops.size() > std::size_t{most_dot_loops}) return {};
  for (const auto* axes : {&d.dense, &d.loops})
    for (const dots::axis& y : *axes)
      for (const std::int64_t stride : {y.a, y.b, y.c})
        if (std::abs(stride) >= most_dot_offset / std::max(y.extent, d.period)) return {};
  const auto is_far = [](std::int64_t bytes) { return std::abs(bytes) >= most_dot_offset; };
  if (std::any_of(d.pieces.begin(), d.pieces.end(), [&](const dots::piece& p) { return is_far(p.a) || is_far(p.b); })) return {};
  return {d};
}

}  // namespace ricci::codegen
