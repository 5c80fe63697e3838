// Where elements, terms and the small factor of kernels/window.cuh lie, and its text.
#include "gpu/window.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "gpu/long_text.hpp"

namespace ricci::cuda {
namespace {

const axis& free_at(const std::vector<axis>& free, int n) { return free[static_cast<std::size_t>(n)]; }

bool is_run(const window_config& c, bool sums, int n) { return c.run.count > 1 && c.run.sums == sums && c.run.axis == n; }

/// The sums that turns count, the innermost in b first: extents without the terms of a turn, and those terms.
struct turn_axis {
  int axis = 0;
  std::int64_t each = 1, pieces = 1;
};
std::vector<turn_axis> turn_axes(const step_shape& s, const window_config& c) {
  std::vector<turn_axis> out;
  for (int k = 0; k < static_cast<int>(s.k.size()); ++k) {
    if (k == c.rows.sum || k == c.cols.sum) continue;
    const std::int64_t each = is_run(c, true, k) ? c.run.count : 1;
    if (const std::int64_t pieces = s.k[static_cast<std::size_t>(k)].extent / each; pieces > 1) out.push_back({k, each, pieces});
  }
  std::stable_sort(out.begin(), out.end(), [&](const turn_axis& x, const turn_axis& y) { return std::abs(free_at(s.k, x.axis).b) < std::abs(free_at(s.k, y.axis).b); });
  return out;
}

const filter_axis* find(const std::vector<filter_axis>& all, filter_axis::of what, int axis) {
  for (const filter_axis& x : all)
    if (x.what == what && x.axis == axis) return &x;
  return nullptr;
}

std::int64_t step_of(const std::vector<filter_axis>& all, filter_axis::of what, int axis) {
  const filter_axis* x = find(all, what, axis);
  return x ? x->step : 0;
}

/// The largest power of two up to `most` that divides x; 0 is divided by all.
std::int64_t power_in(std::int64_t x, std::int64_t most) { return x == 0 ? most : std::min(most, x & -x); }

/// Elements of c that leave in one access, of `count` neighbours along an axis.
int out_along(const std::vector<axis>& free, int along, std::int64_t count, dtype t, int aligned) {
  if (free_at(free, along).c != 1) return 1;
  std::int64_t n = power_in(count, std::min(16, aligned) / static_cast<std::int64_t>(size_of(t)));
  for (int d = 0; d < static_cast<int>(free.size()); ++d)
    if (d != along) n = power_in(free_at(free, d).c, n);
  return static_cast<int>(std::max<std::int64_t>(1, n));
}

std::string number(std::int64_t x) { return std::to_string(x); }

/// "static __device__ TYPE NAME(...)" that looks up a table of places.
std::string table_text(const std::string& head, const std::vector<std::int64_t>& values, const std::string& index) {
  std::string t = "  static __device__ constexpr " + head + " {\n    constexpr i64 all[] = {";
  for (std::size_t n = 0; n < values.size(); ++n) t += (n ? ", " : "") + number(values[n]);
  return t + "};\n    return static_cast<decltype(all[0] + 0)>(all[" + index + "]);\n  }\n";
}

/// The step between places if it is the same everywhere; else 0.
std::int64_t even_step(const direction_places& p) {
  if (p.offsets.size() < 2) return 1;
  const std::int64_t step = p.offsets[1] - p.offsets[0];
  for (std::size_t n = 2; n < p.offsets.size(); ++n)
    if (p.offsets[n] - p.offsets[n - 1] != step) return 0;
  return step;
}

/// Even places are counted, which compilers fold sooner than tables.
std::string offsets_text(const std::string& head, const direction_places& p, const std::string& index) {
  const std::int64_t step = even_step(p);
  if (step == 0) return table_text("i64 " + head, p.offsets, index);
  return "  static __device__ constexpr i64 " + head + " { return " + number(p.offsets[0]) + " + static_cast<i64>(" + index + ") * " + number(step) + "; }\n";
}

std::string row_text(const direction_places& p) {
  const std::int64_t step = even_step(p);
  if (step == 0) {
    std::vector<std::int64_t> table;
    for (int y = 0; y < static_cast<int>(p.offsets.size()); ++y)
      for (std::int64_t r = 0; r < p.terms; ++r) table.push_back(p.element(y, r));
    return table_text("int row(int y, int r)", table, "y * " + number(p.terms) + " + r");
  }
  std::string t = "  static __device__ constexpr int row(int y, int r) {\n    const int e = y - (" + number(-p.offsets[0] / step) + " + r * " + number(p.sum_step / step) + ");\n";
  const std::int64_t each = p.free_step / step;
  if (each == 0) return t + "    return e == 0 ? 0 : -1;\n  }\n";
  return t + "    return e % " + number(each) + " == 0 && e / " + number(each) + " >= 0 && e / " + number(each) + " < " + number(p.each) + " ? e / " + number(each) + " : -1;\n  }\n";
}

std::string col_text(const direction_places& p) {
  const std::int64_t step = even_step(p);
  if (step == 0) {
    std::vector<std::int64_t> table;
    for (std::int64_t e = 0; e < p.each; ++e)
      for (std::int64_t k = 0; k < p.terms; ++k) table.push_back(p.place(e, k));
    return table_text("int col(int f, int s)", table, "f * " + number(p.terms) + " + s");
  }
  return "  static __device__ constexpr int col(int f, int s) { return " + number(-p.offsets[0] / step) + " + f * " + number(p.free_step / step) + " + s * " + number(p.sum_step / step) + "; }\n";
}

/// A digit of `rest`, which is divided unless it is the last.
std::string digit_text(const std::string& integer, const std::string& name, std::int64_t pieces, bool last) {
  return "    const " + integer + " " + name + " = " + (last ? "rest" : "rest % " + number(pieces)) + ";\n" + (last ? "" : "    rest /= " + number(pieces) + ";\n");
}

std::string plus_text(const char* to, const std::string& i, std::int64_t step) {
  return step == 0 ? "" : std::string("    ") + to + " += static_cast<i64>(" + i + ") * " + number(step) + ";\n";
}

std::string place_text(const step_shape& s, const window_config& c, const std::vector<filter_axis>& filter) {
  const std::vector<axis> free = free_axes(s);
  const std::vector<counted_axis> counted = counted_axes(s, c);
  const std::string integer = window_threads(s, c) >= std::int64_t{1} << 31 ? "u64" : "u32";
  std::string t = "  static __device__ void place(i64 at, i64& b, i64& c, int& f, int& skip_row, int& skip_col, int& left) {\n    " + integer + " rest = static_cast<" + integer + ">(at);\n";
  for (std::size_t n = 0; n < counted.size(); ++n) {
    const counted_axis& x = counted[n];
    const axis& y = free_at(free, x.axis);
    const std::string i = "i" + std::to_string(n);
    t += digit_text(integer, i, x.pieces, n + 1 == counted.size());
    if (x.axis == c.rows.free || x.axis == c.cols.free) {
      // The last box begins where it ends with the axis; what it shares with the one before is left to that.
      const std::string skip = x.axis == c.rows.free ? "skip_row" : "skip_col", first = "first" + std::to_string(n);
      if (y.extent % x.each != 0) t += "    if (" + i + " == " + number(x.pieces - 1) + ") " + skip + " = " + number(x.pieces * x.each - y.extent) + ";\n";
      t += "    const i64 " + first + " = static_cast<i64>(" + i + ") * " + number(x.each) + " - " + skip + ";\n";
      t += plus_text("b", first, y.b) + plus_text("c", first, y.c);
      continue;
    }
    if (x.axis == c.own && y.extent % x.each != 0) t += "    if (" + i + " == " + number(x.pieces - 1) + ") left = " + number(y.extent - (x.pieces - 1) * x.each) + ";\n";
    t += plus_text("b", i, y.b * x.each) + plus_text("c", i, y.c * x.each);
    if (const std::int64_t step = step_of(filter, filter_axis::of::free, x.axis)) t += "    f += static_cast<int>(" + i + ") * " + number(step) + ";\n";
  }
  return t + "  }\n";
}

std::string term_text(const step_shape& s, const window_config& c, const std::vector<filter_axis>& filter) {
  const std::vector<turn_axis> axes = turn_axes(s, c);
  std::int64_t turns = 1;
  for (const turn_axis& x : axes) turns *= x.pieces;
  const std::string integer = turns >= std::int64_t{1} << 31 ? "u64" : "u32";
  std::string t = "  static __device__ void term(i64 turn, i64& b, int& f) {\n    " + integer + " rest = static_cast<" + integer + ">(turn);\n";
  for (std::size_t n = 0; n < axes.size(); ++n) {
    const std::string i = "i" + std::to_string(n);
    t += digit_text(integer, i, axes[n].pieces, n + 1 == axes.size()) + plus_text("b", i, free_at(s.k, axes[n].axis).b * axes[n].each);
    const filter_axis* x = find(filter, filter_axis::of::sum, axes[n].axis);
    if (x) t += "    f += static_cast<int>(" + i + ") * " + number(x->step * axes[n].each / x->each) + ";\n";
  }
  return t + "  }\n";
}

/// From a place in shared memory to the element of a; false where there is none.
std::string origin_text(const window_config& c, const std::vector<axis>& free, const std::vector<filter_axis>& filter) {
  std::string t = "  static __device__ bool origin(int n, i64& a) {\n    u32 rest = static_cast<u32>(n);\n";
  for (std::size_t d = 0; d < filter.size(); ++d) {
    const filter_axis& x = filter[d];
    const std::string i = "i" + std::to_string(d);
    t += digit_text("u32", i, x.extent, d + 1 == filter.size()) + plus_text("a", i, x.a * x.each);
    if (x.what == filter_axis::of::own && x.extent > c.each_own) t += "    if (" + i + " >= " + number(c.each_own) + ") return false;\n";
    if (x.what == filter_axis::of::free && x.axis == c.own && free_at(free, c.own).extent % c.each_own != 0)
      t += "    if (" + i + " * " + number(c.each_own) + " + i0 >= " + number(free_at(free, c.own).extent) + ") return false;\n";
  }
  return t + "    return true;\n  }\n";
}

}  // namespace

int direction_places::place(std::int64_t element, std::int64_t term) const {
  return static_cast<int>(std::lower_bound(offsets.begin(), offsets.end(), element * free_step + term * sum_step) - offsets.begin());
}

int direction_places::element(int place, std::int64_t term) const {
  for (std::int64_t e = 0; e < each; ++e)
    if (offsets[static_cast<std::size_t>(place)] == e * free_step + term * sum_step) return static_cast<int>(e);
  return -1;
}

direction_places places_of(const step_shape& s, const window_direction& d) {
  direction_places p;
  if (d.free >= 0) p.each = d.each, p.free_step = free_at(free_axes(s), d.free).b;
  if (d.sum >= 0) p.terms = free_at(s.k, d.sum).extent, p.sum_step = free_at(s.k, d.sum).b;
  for (std::int64_t e = 0; e < p.each; ++e)
    for (std::int64_t r = 0; r < p.terms; ++r) p.offsets.push_back(e * p.free_step + r * p.sum_step);
  std::sort(p.offsets.begin(), p.offsets.end());
  p.offsets.erase(std::unique(p.offsets.begin(), p.offsets.end()), p.offsets.end());
  return p;
}

std::vector<counted_axis> counted_axes(const step_shape& s, const window_config& c) {
  const std::vector<axis> free = free_axes(s);
  std::vector<counted_axis> out;
  for (int d = 0; d < static_cast<int>(free.size()); ++d) {
    const std::int64_t each = d == c.rows.free ? c.rows.each : d == c.cols.free ? c.cols.each : d == c.own ? c.each_own : is_run(c, false, d) ? c.run.count : 1;
    out.push_back({d, each, divide_up(free_at(free, d).extent, each)});
  }
  std::stable_sort(out.begin(), out.end(), [&](const counted_axis& x, const counted_axis& y) { return std::abs(free_at(free, x.axis).c) < std::abs(free_at(free, y.axis).c); });
  return out;
}

std::int64_t window_threads(const step_shape& s, const window_config& c) {
  std::int64_t n = 1;
  for (const counted_axis& x : counted_axes(s, c)) n *= x.pieces;
  return n;
}

bool filter_has_run(const step_shape& s, const window_config& c) {
  return s.has_a && c.run.count > 1 && !c.run.sums && free_at(free_axes(s), c.run.axis).a != 0;
}

int chunk_of(const step_shape& s, const window_config& c) {
  return c.own >= 0 ? static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(c.each_own))) : filter_has_run(s, c) ? c.run.count : 1;
}

std::vector<filter_axis> filter_axes(const step_shape& s, const window_config& c) {
  if (!s.has_a) return {};
  using of = filter_axis::of;
  const std::vector<axis> free = free_axes(s);
  std::vector<filter_axis> out;
  std::int64_t step = 1;
  const auto add = [&](of what, int axis, std::int64_t extent, std::int64_t each, std::int64_t a) {
    if (a == 0) return;
    out.push_back({what, axis, extent, each, a, step});
    step *= extent;
  };
  if (c.own >= 0) add(of::own, c.own, chunk_of(s, c), 1, free_at(free, c.own).a);
  if (filter_has_run(s, c)) add(of::run, c.run.axis, c.run.count, 1, free_at(free, c.run.axis).a);
  for (const counted_axis& x : counted_axes(s, c)) add(of::free, x.axis, x.pieces, x.each, free_at(free, x.axis).a);
  for (int k = static_cast<int>(s.k.size()); k-- > 0;)
    if (is_run(c, true, k)) add(of::sum, k, free_at(s.k, k).extent, 1, free_at(s.k, k).a);
  for (const int k : {c.cols.sum, c.rows.sum})
    if (k >= 0) add(of::sum, k, free_at(s.k, k).extent, 1, free_at(s.k, k).a);
  for (int k = static_cast<int>(s.k.size()); k-- > 0;)
    if (k != c.rows.sum && k != c.cols.sum && !is_run(c, true, k)) add(of::sum, k, free_at(s.k, k).extent, 1, free_at(s.k, k).a);
  return out;
}

std::int64_t filter_count(const step_shape& s, const window_config& c) {
  const std::vector<filter_axis> axes = filter_axes(s, c);
  return axes.empty() ? (s.has_a ? 1 : 0) : axes.back().step * axes.back().extent;
}

std::string window_text(const step_shape& s, const window_config& c, const alignments& at, int& shared_bytes) {
  const std::vector<axis> free = free_axes(s);
  const std::vector<filter_axis> filter = filter_axes(s, c);
  const direction_places rows = places_of(s, c.rows), cols = places_of(s, c.cols);
  const auto c_step = [&](int axis) { return axis >= 0 ? free_at(free, axis).c : 0; };
  const auto tap = [&](int sum) { return sum >= 0 ? step_of(filter, filter_axis::of::sum, sum) : 0; };
  const int run = c.run.sums ? 1 : c.run.count, terms = c.run.sums ? c.run.count : 1;
  std::int64_t turns = 1;
  for (const turn_axis& x : turn_axes(s, c)) turns *= x.pieces;
  shared_bytes = static_cast<int>((filter_count(s, c) * static_cast<std::int64_t>(size_of(s.a)) + 15) / 16 * 16);
  std::string t = "#include \"element.cuh\"\nstruct window_type {\n";
  t += "  using A = " + element_text(s.a) + ";\n  using B = " + element_text(s.b) + ";\n  using C = " + element_text(s.c) + ";\n";
  t += constant_text("has_a", s.has_a) + constant_text("conj_a", s.conj_a) + constant_text("conj_b", s.conj_b) + constant_text("beta", s.beta);
  const auto add = [&](const char* name, std::int64_t value) { t += constant_text("int", name, value); };
  add("block", c.block), add("blocks", c.blocks);
  add("rows", rows.each), add("cols", cols.each), add("own", c.each_own), add("run", run), add("terms", terms);
  add("taps_rows", rows.terms), add("taps_cols", cols.terms);
  add("places_rows", static_cast<std::int64_t>(rows.offsets.size())), add("places_cols", static_cast<std::int64_t>(cols.offsets.size()));
  add("chunk", chunk_of(s, c)), add("filter", filter_count(s, c));
  add("tap_row", tap(c.rows.sum)), add("tap_col", tap(c.cols.sum)), add("tap_term", c.run.sums && c.run.count > 1 ? tap(c.run.axis) : 0);
  t += constant_text("along_run", filter_has_run(s, c)) + constant_text("words_b", c.run.count == 1 || at.b >= c.run.count * static_cast<int>(size_of(s.b)));
  add("out_own", run == 1 && c.own >= 0 ? out_along(free, c.own, c.each_own, s.c, at.c) : 1);
  add("out_run", run > 1 ? out_along(free, c.run.axis, run, s.c, at.c) : 1);
  t += constant_text("i64", "c_row", c_step(c.rows.free)) + constant_text("i64", "c_col", c_step(c.cols.free)) + constant_text("i64", "c_own", c_step(c.own)) + constant_text("i64", "turns", turns);
  t += row_text(rows) + col_text(cols) + offsets_text("at_row(int y)", rows, "y") + offsets_text("at_col(int x)", cols, "x");
  return t + place_text(s, c, filter) + term_text(s, c, filter) + origin_text(c, free, filter) + "};\n#include \"window.cuh\"\n";
}

std::string to_string(const window_config& c, const step_shape& s) {
  const int run = c.run.sums ? 1 : c.run.count;
  const std::int64_t rows = c.rows.free >= 0 ? c.rows.each : 1, cols = c.cols.free >= 0 ? c.cols.each : 1;
  std::string t = "windows that overlap, " + number(rows) + " x " + number(cols) + " of them a thread";
  if (c.each_own > 1) t += ", " + number(c.each_own) + " sums each";
  if (run > 1) t += ", " + number(run) + " neighbours each";
  if (c.run.sums && c.run.count > 1) t += ", " + number(c.run.count) + " terms together";
  return t + (s.has_a ? ", the " + std::string(s.swapped ? "second" : "first") + " factor in shared memory" : "");
}

}  // namespace ricci::cuda
