// A step of products as many small problems: what is a side, what is a loop, which loop the tiles run along.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "gpu/small.hpp"

namespace ricci::cuda {
namespace {

/// The elements of an operand's problem; -1 if they are no run of memory but for `beside` problems between neighbours.
std::int64_t run_of(const step_shape& s, std::int64_t axis::*stride, std::int64_t beside) {
  std::vector<axis> axes;
  for (const auto* group : {&s.m, &s.n, &s.k})
    for (const axis& x : *group)
      if (x.*stride != 0) axes.push_back(x);
  std::sort(axes.begin(), axes.end(), [&](const axis& x, const axis& y) { return x.*stride < y.*stride; });
  std::int64_t reach = beside;
  for (const axis& x : axes) {
    if (x.*stride != reach) return -1;
    reach *= x.extent;
  }
  return reach / beside;
}

/// Problems that lie side by side in blocks in some operands, and one after the other without gaps in the rest: their two
/// loops become the one that tiles run along, so that a tile is a run of memory everywhere. False, and nothing is changed,
/// if there are none, or if a block of them leaves no room for others on a multiprocessor.
bool join_lanes(small_shape& out, std::vector<axis>& loops) {
  constexpr std::int64_t most_bytes = 200 << 10;
  for (std::size_t l = 0; l < loops.size(); ++l)
    for (std::size_t b = 0; b < loops.size(); ++b) {
      const axis &lane = loops[l], &block = loops[b];
      if (l == b || lane.extent < 2) continue;
      axis joined{lane.extent * block.extent};
      std::int64_t bytes = 0;
      int beside[3] = {}, count = 0;
      const auto join = [&](std::int64_t axis::*stride, dtype type, int which) {
        if (lane.*stride == 0 && block.*stride == 0) return true;
        const std::int64_t in_order = run_of(out.step, stride, 1), in_lanes = run_of(out.step, stride, lane.extent);
        const bool lanes = lane.*stride == 1 && in_lanes > 0;
        const std::int64_t elements = lanes ? in_lanes : in_order;
        if (elements < 0 || block.*stride != elements * lane.extent || (!lanes && lane.*stride != elements)) return false;
        joined.*stride = elements, bytes += elements * lane.extent * static_cast<std::int64_t>(size_of(type));
        if (lanes) beside[which] = static_cast<int>(lane.extent), ++count;
        return true;
      };
      if (!join(&axis::a, out.step.a, 0) || !join(&axis::b, out.step.b, 1) || !join(&axis::c, out.step.c, 2) || count == 0 || bytes > most_bytes) continue;
      out.beside_a = beside[0], out.beside_b = beside[1], out.beside_c = beside[2];
      out.inner = joined;
      for (std::size_t x = 0; x < loops.size(); ++x)
        if (x != l && x != b) out.outer.push_back(loops[x]);
      return true;
    }
  return false;
}

/// Whether problems of `own` rows are better off with a shared factor of `side` columns and k summed. Measured on an H200: a single row
/// reads the whole factor for itself; eight rows of doubles have tensor cores; problems of a multiple of 128 bytes share few banks.
bool pays(dtype t, std::int64_t own, std::int64_t side, std::int64_t k) {
  constexpr std::int64_t most_elements = 1024, few = 128, little_work = 2048;
  if (side * k > most_elements || size_of(t) == 2) return false;
  if (own == 1) return side * k <= few || (side <= 10 && side * k <= 2 * few);
  const bool wide = side > 40 && side <= 64;
  if (is_complex(t) || (t == dtype::f32 && own * k % 32 == 0)) return false;
  return own > 8 ? own * side * k <= little_work : !wide;
}

bool is_one_type(const step_shape& s) { return s.a == s.b && s.a == s.c; }

/// Factors of 16 bits, with a result like them or of float.
bool is_of_16_bits(const step_shape& s) { return s.a == s.b && size_of(s.a) == 2 && (s.c == s.a || s.c == dtype::f32); }

/// Rows (or columns) without end beside a factor that all of them share.
struct endless_side {
  std::vector<axis> step_shape::*group = nullptr;  // whose first axis has no end; none if there is no such side
  std::int64_t axis::*own = nullptr;               // strides in the other factor
  std::int64_t near = 1;                           // elements of the group for each turn of its first axis
  std::int64_t shared = 1;                         // rows of the shared factor
};

endless_side find_endless_side(const step_shape& s) {
  constexpr std::int64_t many = 4096;
  const bool is_m = count_of(s.m) > count_of(s.n);
  endless_side e;
  e.group = is_m ? &step_shape::m : &step_shape::n, e.own = is_m ? &axis::a : &axis::b;
  const auto others = is_m ? &axis::b : &axis::a;
  const std::vector<axis>& group = s.*e.group;
  e.shared = std::min(count_of(s.m), count_of(s.n));
  if (!(is_one_type(s) || is_of_16_bits(s)) || count_of(group) < many || std::any_of(s.batch.begin(), s.batch.end(), [&](const axis& x) { return x.*others != 0; })) return {};
  e.near = count_of(group) / group[0].extent;
  return e;
}

/// Whether the rows lie one right behind the other, in the factor of their own and in the result.
bool is_in_order(const step_shape& s, const endless_side& e) {
  step_shape one = s;
  const axis first = (s.*e.group)[0];
  (one.*e.group).erase((one.*e.group).begin());
  const auto follows = [&](std::int64_t axis::*stride) { return first.*stride > 0 && run_of(one, stride, 1) == first.*stride; };
  return follows(e.own) && follows(&axis::c);
}

/// The same of 16 bits: tiles of the tensor cores have sixteen rows, and eight problems of them are copied at once where they are short.
std::int64_t rows_together_16(const step_shape& s, const endless_side& e) {
  constexpr std::int64_t most = 24 << 10, most_shared = 48 << 10, longest = 64, fewest = 16, size = 2, little = 64;
  const std::int64_t k = count_of(s.k), row = e.near * (k * size + e.shared * static_cast<std::int64_t>(size_of(s.c)));
  if (e.shared == 1 || (e.near > 1 && e.shared * k <= little) || e.shared * k * size > most_shared || row * fewest > 2 * most || !is_in_order(s, e)) return 0;
  std::int64_t rows = longest;
  while (rows > fewest && rows * row > most) rows /= 2;
  return rows;
}

/// Rows of an endless side that are one problem, if they come to that: some kilobytes of them, where single ones would not do. 1 if single
/// rows do, 0 if neither pays. Measured on an H200.
std::int64_t rows_together(const step_shape& s, const endless_side& e) {
  constexpr std::int64_t some = 12 << 10, many = 32 << 10, most_shared = 48 << 10, longest_sum = 128, long_sum = 96, few = 8, banks = 32;
  const std::int64_t k = count_of(s.k), size = static_cast<std::int64_t>(size_of(s.c));
  if (k > longest_sum) return 0;
  if (is_of_16_bits(s)) return rows_together_16(s, e);
  if (e.near == 1 && pays(s.c, 1, e.shared, k)) return 1;
  const std::int64_t eight = e.near == 1 && pays(s.c, 8, e.shared, k) ? 8 : 0;
  // Rows of a result of the tensor cores share their banks where they are a multiple of all.
  const bool conflicts = s.c == dtype::f64 && e.shared > banks && e.shared % banks == 0;
  if (e.shared == 1 || conflicts || e.shared * k * size > most_shared || (k > long_sum && e.shared > few) || !is_in_order(s, e)) return eight;
  const std::int64_t row = e.near * (k + e.shared) * size, usual = s.c == dtype::c64 ? 8 : 16, enough = s.c == dtype::c128 ? many : some;
  return row * usual <= enough ? usual : row * usual <= 2 * many ? usual / 2 : row * usual / 4 <= many ? usual / 4 : 0;
}

/// Whether single rows, or the elements near one another in a row, may be longer than a usual side beside the factor.
bool has_long_side(const step_shape& s, const endless_side& e) {
  constexpr std::int64_t most = 128;
  const std::int64_t k = count_of(s.k);
  return e.group && !is_of_16_bits(s) && e.shared <= most && k <= most && (pays(s.c, 1, e.shared, k) || pays(s.c, 8, e.shared, k));
}

}  // namespace

bool is_common(const small_shape& s, std::int64_t axis::*stride) {
  return !s.pointers && s.inner.*stride == 0 && std::all_of(s.outer.begin(), s.outer.end(), [&](const axis& x) { return x.*stride == 0; });
}

bool shares_small_factor(const small_shape& s) {
  const bool a = is_common(s, &axis::a), b = is_common(s, &axis::b);
  if (s.pointers || is_beside(s) || a == b || !(is_one_type(s.step) || (s.rows > 1 && is_of_16_bits(s.step)))) return false;
  const std::int64_t m = count_of(s.step.m), n = count_of(s.step.n);
  const auto own = a ? &axis::b : &axis::a;
  const bool does = s.rows > 1 || pays(s.step.c, a ? n : m, a ? m : n, count_of(s.step.k));
  return s.inner.extent > 1 && does && run_of(s.step, own, 1) == s.inner.*own && run_of(s.step, &axis::c, 1) == s.inner.c;
}

odd_rows find_odd_rows(const step_shape& s) {
  constexpr double most_bytes_at_once = 16e6;  // a launch more takes as long as they do
  if (!s.has_a || !s.has_b || counted_bytes_of(s) < most_bytes_at_once) return {};
  const endless_side e = find_endless_side(s);
  const std::int64_t rows = e.group ? rows_together(s, e) : 0;
  if (rows < 2) return {};
  return {e.group, (s.*e.group)[0].extent % rows};
}

namespace {

/// Longer sums, of few rows and columns: several problems find room on a multiprocessor.
bool has_small_factors(const step_shape& s) {
  constexpr std::int64_t most_side = 32, most_bytes = 40 << 10;
  const std::int64_t m = count_of(s.m), n = count_of(s.n), least_side = size_of(s.a) == 2 ? 8 : 2;  // half of a tile of the tensor cores
  return (is_one_type(s) || is_of_16_bits(s)) && std::min(m, n) >= least_side && std::max(m, n) <= most_side && (m + n) * count_of(s.k) * static_cast<std::int64_t>(size_of(s.c)) <= most_bytes;
}

}  // namespace

bool make_small(const step_shape& step, small_shape& out) {
  constexpr std::int64_t most_loops = 8, longest_sum = 128, usual_side = 64, of_cores_16 = 16;
  const endless_side endless = step.has_a ? find_endless_side(step) : endless_side{};
  const std::int64_t sum = count_of(step.k);
  std::int64_t rows = endless.group ? rows_together(step, endless) : 0;
  const std::int64_t fewest_rows = rows > 0 && is_of_16_bits(step) ? divide_up(of_cores_16, endless.near) : 4;
  while (rows > fewest_rows && (step.*endless.group)[0].extent % rows != 0) rows /= 2;
  const bool together = rows > 1 && (step.*endless.group)[0].extent % rows == 0;
  const std::int64_t usual_sum = together || has_long_side(step, endless) ? longest_sum : usual_side;
  if (!step.has_a || sum > longest_sum || (sum > usual_sum && !has_small_factors(step))) return false;
  out = {};
  out.step = step;
  out.step.batch.clear();
  std::vector<axis> loops = step.batch;
  // What is too long to be a side becomes a loop; the outermost first. A few rows of it stay if they share much.
  if (together) {
    axis& x = (out.step.*endless.group)[0];
    loops.push_back({x.extent / rows, x.a * rows, x.b * rows, x.c * rows});
    x.extent = rows, out.rows = rows;
  }
  for (auto group : {&step_shape::m, &step_shape::n}) {
    std::vector<axis>& axes = out.step.*group;
    const std::int64_t most_side = together ? std::numeric_limits<std::int64_t>::max() : usual_sum;
    while (count_of(axes) > most_side) {
      loops.push_back(axes.front());
      axes.erase(axes.begin());
    }
  }
  const auto reach = [](const axis& x) { return std::abs(x.c); };
  std::stable_sort(loops.begin(), loops.end(), [&](const axis& x, const axis& y) { return reach(x) > reach(y); });
  if (loops.empty()) loops.push_back({1, 0, 0, 0});
  if (join_lanes(out, loops)) return out.outer.size() <= most_loops;
  // The inner loop: the longest one whose tiles are runs of memory, else the innermost.
  std::size_t inner = loops.size() - 1;
  const std::int64_t result = count_of(out.step.m) * count_of(out.step.n);
  for (std::size_t l = 0; l < loops.size(); ++l)
    if (loops[l].c == result && loops[l].extent > 1) inner = l;
  out.inner = loops[inner];
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(inner));
  out.outer = std::move(loops);
  return out.outer.size() <= most_loops;
}

}  // namespace ricci::cuda
