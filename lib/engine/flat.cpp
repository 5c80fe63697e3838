// The rows, columns and summed indices of a blocked product as lists of offsets.
#include "engine/flat.hpp"

#include <algorithm>

#include "plan/blocked.hpp"

namespace ricci {
namespace {

/// Offsets along two operands, in the order of a walk.
class flattener {
 public:
  flattener(const std::vector<step_axis>& axes, const planning::walk& order, std::int64_t step_axis::*x, std::int64_t step_axis::*y,
            std::vector<std::int64_t>& to_x, std::vector<std::int64_t>& to_y)
      : axes_(axes), order_(order), x_(x), y_(y), to_x_(to_x), to_y_(to_y), first_(axes.size(), 0) {
    write(order.digits.size(), 0, 0);
  }

 private:
  /// What the digits in front of `d` say, from (x, y) on.
  void write(std::size_t d, std::int64_t x, std::int64_t y) {
    if (d == 0) {
      to_x_.push_back(x), to_y_.push_back(y);
      return;
    }
    const planning::digit& g = order_.digits[d - 1];
    const step_axis& axis = axes_[g.axis];
    if (g.outer) {
      for (std::int64_t& i = first_[g.axis] = 0; i < axis.extent; i += g.piece) write(d - 1, x, y);
      first_[g.axis] = 0;
      return;
    }
    const std::int64_t first = first_[g.axis], last = std::min(first + g.piece, axis.extent);
    for (std::int64_t i = first; i < last; ++i) write(d - 1, x + i * (axis.*x_), y + i * (axis.*y_));
  }

  const std::vector<step_axis>& axes_;
  const planning::walk& order_;
  std::int64_t step_axis::*x_, step_axis::*y_;
  std::vector<std::int64_t>&to_x_, &to_y_;
  std::vector<std::int64_t> first_;  // of the pieces of each axis
};

}  // namespace

flat_lists flattened(const plan_step& s) {
  flat_lists out;
  const auto size = static_cast<std::int64_t>(size_of(compute_type(s.op.c.type)));
  const auto list = [&](group g, std::int64_t step_axis::*x, std::int64_t step_axis::*y, std::vector<std::int64_t>& to_x, std::vector<std::int64_t>& to_y) {
    flattener(s.axes, planning::walk_of(s.axes, g, size, s.cut), x, y, to_x, to_y);
  };
  list(group::m, &step_axis::a, &step_axis::c, out.row_a, out.row_c);
  list(group::n, &step_axis::b, &step_axis::c, out.col_b, out.col_c);
  list(group::k, &step_axis::a, &step_axis::b, out.sum_a, out.sum_b);
  return out;
}

}  // namespace ricci
