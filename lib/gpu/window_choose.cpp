// Which windows of an operand overlap, and what kernels/window.cuh takes about, by counting its accesses.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "gpu/long_text.hpp"
#include "gpu/window.hpp"

namespace ricci::cuda {
namespace {

constexpr std::int64_t most_filter = 96 << 10;  // bytes of shared memory
constexpr std::int64_t most_terms = 16;         // of a direction
constexpr double clock = 1.7e9;

const axis& axis_at(const std::vector<axis>& free, int n) { return free[static_cast<std::size_t>(n)]; }

/// What one thread does, counted.
struct work {
  double reads = 0, filter = 0, writes = 0, multiply_adds = 0;  // accesses; scalar operations
  double converted = 0;
  double registers = 0, unrolled = 0, kept = 0;
};

double words_of(dtype t) { return std::max(1.0, static_cast<double>(size_of(t)) / 4); }

work work_of(const step_shape& s, const window_config& c) {
  const direction_places rows = places_of(s, c.rows), cols = places_of(s, c.cols);
  const double run = c.run.sums ? 1 : c.run.count, terms = c.run.sums ? c.run.count : 1, own = static_cast<double>(c.each_own);
  const double taps = static_cast<double>(rows.terms * cols.terms), elements = static_cast<double>(rows.each * cols.each);
  double turns = 1 / (taps * terms);
  for (const axis& x : s.k) turns *= static_cast<double>(x.extent);
  const double chunk = s.has_a ? chunk_of(s, c) : 0, width = run * terms, wide = words_of(s.c);
  const double places_cols = static_cast<double>(cols.offsets.size()), places = static_cast<double>(rows.offsets.size()) * places_cols;
  work w;
  w.reads = turns * places;
  w.filter = turns * taps * terms * std::ceil(chunk * static_cast<double>(size_of(s.a)) / 16);
  w.unrolled = elements * own * run * taps * terms;
  w.multiply_adds = turns * w.unrolled * (is_complex(s.c) ? 4 : 1);
  w.writes = elements * own * run * (s.beta ? 2 : 1);
  if (size_of(s.b) == 2) w.converted = turns * (places * width + (s.has_a ? taps * terms * chunk : 0)) + w.writes;
  w.kept = taps * terms * (c.own >= 0 ? own : chunk) * wide;
  w.registers = elements * own * run * wide + w.kept + 1.5 * places_cols * width * wide + 30;
  return w;
}

/// What the threads of a warp touch at once, `width` neighbours each: lines of 128 bytes, sectors of 32 that they fill and do not fill.
struct touched {
  double lines = 0, whole = 0, partial = 0;
};

/// On average over some warps, each at another of its `places`.
touched touched_by_warps(const step_shape& s, const window_config& c, const std::vector<counted_axis>& counted, stride_of_axis stride, dtype t, std::int64_t width, const std::vector<std::int64_t>& places) {
  constexpr std::int64_t sector = 32, line = 128, warp = 32, samples = 6;
  const std::vector<axis> free = free_axes(s);
  const auto size = static_cast<std::int64_t>(size_of(t));
  const std::int64_t warps = divide_up(window_threads(s, c), warp);
  touched sum;
  double tried = 0;
  std::vector<std::int64_t> bytes;  // where each thread begins
  for (std::int64_t n = 0; n < std::min(samples, warps); ++n, ++tried) {
    bytes.clear();
    for (std::int64_t thread = 0; thread < warp; ++thread) {
      std::int64_t rest = n * 5 % warps * warp + thread, offset = (std::int64_t{1} << 40) + places[static_cast<std::size_t>(n * 3) % places.size()];
      for (const counted_axis& x : counted) offset += rest % x.pieces * x.each * (axis_at(free, x.axis).*stride), rest /= x.pieces;
      if (rest == 0) bytes.push_back(offset * size);
    }
    std::sort(bytes.begin(), bytes.end());
    std::int64_t at_sector = -1, filled = 0, at_line = -1, end = -1;
    const auto close = [&] { (filled >= sector ? sum.whole : sum.partial) += at_sector >= 0; };
    for (const std::int64_t begin : bytes)
      for (std::int64_t at = std::max(begin, end); at < begin + width * size;) {
        const std::int64_t next = std::min(begin + width * size, (at / sector + 1) * sector);
        if (at / sector != at_sector) close(), at_sector = at / sector, filled = 0;
        if (at / line != at_line) at_line = at / line, ++sum.lines;
        filled += next - at, at = end = next;
      }
    close();
  }
  return {sum.lines / tried, sum.whole / tried, sum.partial / tried};
}

/// The widths in which neighbours of b along an axis may move.
std::vector<neighbours> runs_of(const step_shape& s) {
  const std::vector<axis> free = free_axes(s);
  std::vector<neighbours> out{{}};
  for (const bool sums : {false, true}) {
    const std::vector<axis>& list = sums ? s.k : free;
    for (int n = 0; n < static_cast<int>(list.size()); ++n) {
      const axis& x = axis_at(list, n);
      if (x.b != 1 || (!sums && x.c != 1)) continue;
      for (int count = 2; count * static_cast<int>(size_of(s.b)) <= 16; count *= 2) {
        bool fits = x.extent % count == 0;
        for (const auto* group : {&free, &s.k})
          for (const axis& y : *group) fits = fits && (&y == &x || y.b % count == 0);
        if (fits) out.push_back({sums, n, count});
      }
    }
  }
  return out;
}

bool is_possible(const step_shape& s, const window_config& c, const work& w, const gpu_machine& m) {
  constexpr double most_registers = 200, most_unrolled = 1300, most_kept = 100;
  return w.registers <= most_registers && w.unrolled <= most_unrolled && w.kept <= most_kept && filter_count(s, c) * static_cast<std::int64_t>(size_of(s.a)) <= std::min<std::int64_t>(most_filter, m.shared_most);
}

/// Rows that follow one another without a gap are one axis with their columns: of terms that are rows apart, rows and columns again.
step_shape unfused(step_shape s) {
  for (std::size_t n = 0; n < s.n.size(); ++n)
    for (const axis& k : s.k) {
      const axis x = s.n[n];
      if (x.b == 0 || k.b % x.b != 0) continue;
      const std::int64_t columns = std::abs(k.b / x.b);
      if (columns <= most_terms || x.extent % columns != 0 || x.extent / columns < 2) continue;
      s.n[n] = {x.extent / columns, x.a * columns, x.b * columns, x.c * columns};
      s.n.insert(s.n.begin() + static_cast<std::ptrdiff_t>(n) + 1, {columns, x.a, x.b, x.c});
    }
  return s;
}

}  // namespace

std::vector<overlap_of_axes> overlaps_in(const step_shape& s) {
  std::vector<overlap_of_axes> out;
  const std::vector<axis> free = free_axes(s);
  std::vector<bool> taken(s.k.size(), false);
  const int first = static_cast<int>(s.batch.size() + s.m.size());
  for (int n = first; n < static_cast<int>(free.size()); ++n)
    for (std::size_t k = 0; k < s.k.size(); ++k) {
      if (taken[k] || !meet_again(axis_at(free, n).b, axis_at(free, n).extent, s.k[k].b, s.k[k].extent)) continue;
      out.push_back({n, static_cast<int>(k)}), taken[k] = true;
      break;
    }
  std::stable_sort(out.begin(), out.end(), [&](const overlap_of_axes& x, const overlap_of_axes& y) { return std::abs(axis_at(free, x.free).b) > std::abs(axis_at(free, y.free).b); });
  return out;
}

step_shape arranged_for_windows(const step_shape& s) {
  step_shape turned = s;
  if (!s.has_a || !s.has_b) return unfused(turned);
  swap_factors(turned);
  return unfused(overlaps_in(s).size() < overlaps_in(turned).size() ? turned : s);
}

namespace {

/// Threads that stay on a multiprocessor.
double resident_of(const step_shape& s, const window_config& c, const work& w, const gpu_machine& m) {
  constexpr double own_of_block = 1024;  // bytes that the hardware keeps
  const double filter = static_cast<double>(filter_count(s, c)) * static_cast<double>(size_of(s.a));
  return std::min({static_cast<double>(m.threads), m.registers / std::max(32.0, 8 * std::ceil(w.registers / 8)), std::max(1.0, std::floor(m.shared_bytes / (filter + own_of_block))) * c.block});
}

/// Neighbours that leave a thread together: a word of its sums, or a direction if there is one sum, where they are neighbours, or a run.
std::int64_t leaving_together(const step_shape& s, const window_config& c) {
  const std::vector<axis> free = free_axes(s);
  const auto is_unit = [&](int axis) { return axis >= 0 && axis_at(free, axis).c == 1; };
  if (is_unit(c.own)) return std::min(c.each_own, 16 / static_cast<std::int64_t>(size_of(s.c)));
  if (c.each_own == 1 && is_unit(c.rows.free)) return c.rows.each;
  if (c.each_own == 1 && is_unit(c.cols.free)) return c.cols.each;
  return c.run.sums ? 1 : c.run.count;
}

/// What it takes if the warps' accesses are these.
double seconds_with(const step_shape& s, const window_config& c, const work& w, const touched& in, const touched& out, const gpu_machine& m) {
  constexpr double share = 0.92, overhead = 1.25, staging = 2e-6, wait = 0.7e-6, whole_sector = 1.65, part_of_sector = 2.8;  // cycles of a multiprocessor
  constexpr double enough = 400, of_h200_single = 67000.0 / 132, of_h200_double = 34000.0 / 132;
  const std::vector<axis> free = free_axes(s);
  const double leaving = static_cast<double>(leaving_together(s, c));
  const double reads = w.reads * std::max(in.lines, (in.whole + in.partial) / 4);
  const double writes = w.writes / leaving * std::max(out.lines, (out.whole + out.partial) / 4);
  // Sectors that are written in pieces cost more, the more so the more rows of the result are written at once.
  const double rows = c.own >= 0 && axis_at(free, c.own).c == 1 ? 1.0 : static_cast<double>(c.each_own);
  const double leaves = w.writes / leaving * (whole_sector * out.whole + part_of_sector * std::pow(rows, 0.3) * out.partial);
  const bool is_double = s.c == dtype::f64 || s.c == dtype::c128;
  const double rate = is_double ? 2 * m.peak_f64 / (of_h200_double * m.multiprocessors) : 4 * m.peak_f32 / (of_h200_single * m.multiprocessors);
  const double arithmetic = w.multiply_adds / rate + w.converted / 2;
  const double digits = static_cast<double>(free.size());
  const double issued = (w.reads * 1.3 + w.filter + w.writes * 2 + w.multiply_adds + w.converted + 12 * digits + 20) / 4;
  const double cycles = overhead * std::max({reads + w.filter + writes, arithmetic, issued});
  const double warps = std::max(static_cast<double>(window_threads(s, c)) / 32, static_cast<double>(m.multiprocessors) * 4);
  const double busy = (is_double ? 1.4 : 1) * warps / m.multiprocessors * cycles / clock * std::max(1.0, enough / resident_of(s, c, w, m));
  double turns = 1;
  for (int k = 0; k < static_cast<int>(s.k.size()); ++k)
    if (k != c.rows.sum && k != c.cols.sum) turns *= static_cast<double>(axis_at(s.k, k).extent);
  const double read_bytes = (s.has_a ? distinct_elements(s, &axis::a) * static_cast<double>(size_of(s.a)) : 0) + distinct_elements(s, &axis::b) * static_cast<double>(size_of(s.b));
  const auto [least, most] = std::minmax({(read_bytes / (1e9 * m.bandwidth) + warps / m.multiprocessors * leaves / clock) / share, std::max(busy, turns * wait)});
  return most + 0.2 * least + (s.has_a ? staging : 0);
}

/// As window_seconds() says, but without a look at the warps: as if all lines were read and written whole.
double least_seconds(const step_shape& s, const window_config& c, const work& w, const gpu_machine& m) {
  constexpr double sector = 32, some_warps_are_not_full = 0.5;
  const double bytes = static_cast<double>(leaving_together(s, c)) * static_cast<double>(size_of(s.c)) * 32;
  return seconds_with(s, c, w, {1, 1, 0}, {1, some_warps_are_not_full * bytes / sector, 0}, m);
}

}  // namespace

double window_seconds(const step_shape& s, const window_config& c, const gpu_machine& m) {
  const std::vector<counted_axis> counted = counted_axes(s, c);
  const std::vector<axis> free = free_axes(s);
  std::vector<std::int64_t> read_at, written_at;
  for (const std::int64_t row : places_of(s, c.rows).offsets)
    for (const std::int64_t col : places_of(s, c.cols).offsets) read_at.push_back(row + col);
  const std::int64_t step = c.rows.free >= 0 && axis_at(free, c.rows.free).c != 1 ? axis_at(free, c.rows.free).c : 0;
  for (std::int64_t row = 0; row < c.rows.each; ++row) written_at.push_back(row * step);
  const touched in = touched_by_warps(s, c, counted, &axis::b, s.b, c.run.count, read_at), out = touched_by_warps(s, c, counted, &axis::c, s.c, leaving_together(s, c), written_at);
  return seconds_with(s, c, work_of(s, c), in, out, m);
}

namespace {

/// Blocks of 128 threads that the compiler leaves registers for.
void settle(const step_shape& s, const gpu_machine& m, window_config& c) {
  work w = work_of(s, c);
  w.registers = 1.15 * w.registers + 24;
  c.blocks = std::clamp(static_cast<int>(resident_of(s, c, w, m)) / c.block, 1, m.threads / c.block);
}

class search {
 public:
  search(const step_shape& s, const gpu_machine& m) : s_(s), m_(m), free_(free_axes(s)) {}

  /// All that fit, the least that they may take first.
  std::vector<window_config> all() {
    find();
    std::vector<window_config> out;
    for (estimated& x : found_) settle(s_, m_, x.config), out.push_back(x.config);
    return out;
  }

  std::optional<window_config> best() {
    find();
    std::optional<window_config> out;
    double seconds = 0;
    for (const estimated& x : found_) {
      if (out && x.least >= seconds) break;
      const double here = window_seconds(s_, x.config, m_);
      if (!out || here < seconds) seconds = here, out = x.config;
    }
    if (out) settle(s_, m_, *out);
    return out;
  }

 private:
  void find() {
    const std::vector<overlap_of_axes> pairs = overlaps_in(s_);
    for (const overlap_of_axes& x : pairs) {
      if (!is_short(x)) continue;
      along(x, {});
      for (const overlap_of_axes& y : pairs)
        if (is_short(y) && &x < &y) along(x, y);
    }
    std::stable_sort(found_.begin(), found_.end(), [](const estimated& x, const estimated& y) { return x.least < y.least; });
  }

  bool is_short(const overlap_of_axes& x) const { return axis_at(s_.k, x.sum).extent <= most_terms; }

  std::vector<std::int64_t> boxes(int n) const {
    std::vector<std::int64_t> out{1};
    if (n >= 0)
      for (const std::int64_t each : {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16})
        if (each <= axis_at(free_, n).extent) out.push_back(each);
    return out;
  }

  void along(const overlap_of_axes& rows, const overlap_of_axes& cols) {
    constexpr std::int64_t most_elements = 32, most_columns = 8;
    for (const neighbours& run : runs_of(s_))
      for (const std::int64_t i : boxes(rows.free))
        for (const std::int64_t j : boxes(cols.free)) {
          if (i * j > most_elements || j > most_columns) continue;
          window_config c;
          c.rows = {rows.free, i, rows.sum}, c.cols = {cols.free, j, cols.sum}, c.run = run;
          if (run.count > 1 && !run.sums && (run.axis == rows.free || run.axis == cols.free)) continue;
          if (run.count > 1 && run.sums && (run.axis == rows.sum || run.axis == cols.sum)) continue;
          consider(c);
          if (filter_has_run(s_, c)) continue;
          for (int n = static_cast<int>(s_.batch.size()); n < static_cast<int>(s_.batch.size() + s_.m.size()); ++n)
            for (const std::int64_t own : {2, 3, 4, 5, 6, 8, 12, 16}) {
              if (own > axis_at(free_, n).extent || axis_at(free_, n).a == 0) break;
              window_config with = c;
              with.own = n, with.each_own = own;
              consider(with);
            }
        }
  }

  void consider(const window_config& c) {
    const work w = work_of(s_, c);
    if (is_possible(s_, c, w, m_)) found_.push_back({least_seconds(s_, c, w, m_), c});
  }

  const step_shape& s_;
  const gpu_machine& m_;
  std::vector<axis> free_;
  struct estimated {
    double least = 0;
    window_config config;
  };
  std::vector<estimated> found_;
};

}  // namespace

std::vector<window_config> window_candidates(const step_shape& s, const gpu_machine& m) {
  if (!s.has_b || s.k.empty()) return {};
  return search(s, m).all();
}

std::optional<window_config> choose_window(const step_shape& s, const gpu_machine& m) {
  if (!s.has_b || s.k.empty()) return std::nullopt;
  return search(s, m).best();
}

}  // namespace ricci::cuda
