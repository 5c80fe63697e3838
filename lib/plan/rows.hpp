// What a step's axes say of its operands: how long the rows of its result are, how many bytes it touches, which axis its tiles take.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "plan/distinct.hpp"
#include "plan/plan.hpp"

namespace ricci::planning {

/// Neighbours of c along the labels of one role.
inline std::int64_t row_of(const std::vector<step_axis>& axes, group role) {
  std::int64_t row = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& x : axes)
      if (x.role == role && x.extent > 1 && x.c == row) row *= x.extent, grown = true;
  }
  return row;
}

/// Of an operand whose strides are those of the axes: what lies there, once.
inline double bytes_of(const operand& x, const std::vector<step_axis>& axes, std::int64_t step_axis::*stride) {
  if (x.where == operand::kind::one) return 0;
  return static_cast<double>(size_of(x.type)) * distinct_elements(axes, [&](const step_axis& a) { return strided_axis{a.extent, a.*stride}; });
}

/// A packed operand that is cut into tiles is not kept: its block changes within the step. Nor one that has the label with a stride
/// of 0: its rows are as long as the tile.
inline void keep_whole(plan_step& s, const pair_op& op) {
  for (const step_axis& x : s.axes) {
    if (x.tile == x.extent) continue;
    s.keep_a = s.keep_a && x.a == 0 && !has(op.a, x.label);
    s.keep_b = s.keep_b && x.b == 0 && !has(op.b, x.label);
  }
}

/// Nothing but products and copies.
inline bool are_products(const segment& g) {
  return std::all_of(g.steps.begin(), g.steps.end(), [](const plan_step& s) {
    return s.how == method::direct || s.how == method::blocked || s.how == method::move;
  });
}

/// Whether the rows (columns) of a tile are to be neighbours in the result, which lies far away, rather than in a (b): a (b) is
/// packed or stays in the first cache. Rows of a result that are pages apart share the sets of the caches.
inline bool rows_by_result(const plan_step& s, const operand& x, std::int64_t step_axis::*stride) {
  constexpr double near = 16384;
  const bool packed = stride == &step_axis::a ? s.pack_a : s.pack_b;
  return !s.buffer_c && (packed || (s.lanes == kernels::lanes::n && bytes_of(x, s.axes, stride) <= near));
}

/// How many neighbours along the axis make a line of an operand that is packed along another one: tiles of fewer would bring every
/// line again.
inline std::int64_t packed_line(const plan_step& s, const pair_op& op, const step_axis& x) {
  constexpr std::int64_t line = 64;
  const auto in = [&](bool packed, std::int64_t stride, const operand& y) {
    return packed && stride == 1 && x.label != s.lane_label ? line / static_cast<std::int64_t>(size_of(y.type)) : 1;
  };
  return std::max(in(s.pack_a, x.a, op.a), in(s.pack_b, x.b, op.b));
}

/// Which summed axis a kernel goes along: the one for whose steps it needs the fewest new lines of memory, in all rows of a and all columns
/// of b, among those that are long enough. Lines that it steps over stay for the loops around it if they are few. Measured on a Zen 3.
struct lines_touched {
  std::int64_t rows, cols, lanes, size;  // of a tile; elements of a row of lanes; bytes

  /// Its place among the axes; there is one.
  template <class Axis> std::size_t along(const std::vector<Axis>& sums) const {
    constexpr std::int64_t enough = 4;
    const auto is_better = [&](const Axis& x, const Axis& y) {
      const std::int64_t length = std::min(x.extent, enough), other = std::min(y.extent, enough);
      if (length != other) return length > other;
      const double mine = of(x, sums), its = of(y, sums);
      return mine != its ? mine < its : distance(x) < distance(y);
    };
    return static_cast<std::size_t>(std::min_element(sums.begin(), sums.end(), is_better) - sums.begin());
  }

  /// Bytes from one value to the next, all rows and columns together: what the loops around it are ordered by.
  template <class Axis> double distance(const Axis& x) const { return rows_of_a() * bytes(x.a) + cols_of_b() * row() * bytes(x.b); }

 private:
  static constexpr double line = 64;

  double row() const { return std::max(1.0, static_cast<double>(lanes * size) / line); }  // lines
  double most() const { return row() > 1 ? 4 : 8; }                                       // rows or columns that a tile may have
  double rows_of_a() const { return std::min(static_cast<double>(rows), most()); }
  double cols_of_b() const { return std::min(static_cast<double>(cols), most()); }
  double bytes(std::int64_t step) const { return static_cast<double>(std::abs(step) * size); }

  template <class Axis> double of(const Axis& x, const std::vector<Axis>& sums) const {
    return rows_of_a() * new_lines(x, sums, &Axis::a, rows_of_a()) + cols_of_b() * row() * new_lines(x, sums, &Axis::b, cols_of_b() * row());
  }

  /// New lines for each step of one row or column, of `lines` that step together.
  template <class Axis> double new_lines(const Axis& x, const std::vector<Axis>& sums, std::int64_t Axis::*stride, double lines) const {
    constexpr double page = 4096, near = 16384, jump = 0.1;
    constexpr std::int64_t ways = 8;
    const double step = bytes(x.*stride);
    if (step < line) return step / line;
    const double far = step < page ? 1 : 1.25;  // the hardware sees lines of the same page coming
    const bool collide = std::fmod(step, page) == 0 && x.extent > ways;
    if (collide) return 4;
    if (static_cast<double>(x.extent) * lines * line > near) return step < page ? 1 : 2;
    double next = line;
    for (const Axis& y : sums)
      if (y.*stride != x.*stride) next = std::min(next, bytes(y.*stride));
    return far * next / line + jump;
  }
};

}  // namespace ricci::planning
