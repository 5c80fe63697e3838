// What a candidate costs: its kernels, what is packed, and where they wait for caches and memory.
#include "plan/candidate.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "plan/narrow.hpp"
#include "plan/rows.hpp"
#include "plan/turned_small.hpp"

namespace ricci::planning {

double memory_cycles(const pair_op& op, const std::vector<step_axis>& axes, const machine& m) {
  const double bytes = bytes_of(op.a, axes, &step_axis::a) + bytes_of(op.b, axes, &step_axis::b) + bytes_of(op.c, axes, &step_axis::c);
  return bytes / stream_rate(bytes, m);
}

shape candidate::inner() const {
  shape s;
  s.lanes = step.lanes;
  s.type = compute_type(op.c.type);
  if (s.lanes == lanes::k) s.converts_a = is_narrow(op.a) && !step.pack_a, s.converts_b = is_narrow(op.b) && !step.pack_b;
  std::int64_t row = 1, col = 1;
  for (const step_axis& x : step.axes) {
    if (x.label == step.lane_label) s.lane = x.tile;
    else if (x.role == group::k) s.k *= x.tile;
    else if (x.role == group::m) row = std::max(row, x.tile), s.loops *= x.tile;
    else if (x.role == group::n) col = std::max(col, x.tile), s.loops *= x.tile;
    else if (step.lanes == lanes::batch || x.a == 0) s.loops *= x.tile;
    else s.loops *= x.tile;
  }
  s.rows = row, s.cols = col;
  s.loops /= row * col;
  if (s.lanes == lanes::k) s.neighbours = results_in_a_row(), s.only_sums = op.a.where == operand::kind::one, s.lone = are_lone_dots();
  if (s.lanes == lanes::k && is_one_run()) s.lane *= std::exchange(s.k, 1);
  fuse_lane(s);
  return s;
}

void candidate::fuse_lane(shape& s) const {
  const auto lane = std::find_if(step.axes.begin(), step.axes.end(),
                                 [&](const step_axis& x) { return x.label == step.lane_label; });
  if (lane == step.axes.end() || step.lanes == lanes::k) return;
  std::int64_t reach = lane->tile;
  if (lane->tile != lane->extent) return;
  std::vector<const step_axis*> joined;
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& x : step.axes) {
      if (std::find(joined.begin(), joined.end(), &x) != joined.end()) continue;
      if (x.label == step.lane_label || x.role == group::k || x.tile != x.extent) continue;
      const bool nests = (step.buffer_c || x.c == reach) && (step.pack_b || x.b == reach) &&
                         (step.lanes == lanes::n ? x.a == 0 : step.pack_a || x.a == reach);
      if (!nests || x.c == 0 || x.b == 0) continue;
      reach *= x.tile;
      joined.push_back(&x);
      if (x.role == group::n && x.tile == s.cols) s.cols = 1;  // the first of several as long: the others are loops
      else s.loops = std::max<std::int64_t>(1, s.loops / x.tile);
      grown = true;
      break;
    }
  }
  s.lane = reach;
}

double candidate::result_bytes() const { return bytes_of(op.c, step.axes, &step_axis::c); }

const step_axis* candidate::row_axis() const {
  constexpr std::int64_t enough = 8;
  const bool far = m.caches.size() > 1 && result_bytes() >= static_cast<double>(m.caches[1].bytes);
  const bool by_result = far && rows_by_result(step, op.a, &step_axis::a);
  const auto stride = [&](const step_axis& x) { return std::abs(by_result ? x.c : x.a); };
  const step_axis* row = nullptr;
  for (const step_axis& x : step.axes) {
    if (x.role != group::m || x.tile < 2) continue;
    const std::int64_t length = std::min(x.tile, enough), other = row ? std::min(row->tile, enough) : 0;
    if (length > other || (length == other && stride(x) < stride(*row))) row = &x;
  }
  return row;
}

double candidate::waits_for_c() const {
  if (!m.writes_kernels || step.lanes != lanes::n || step.buffer_c || step.pack_a || !block_labels.empty() || m.caches.size() < 2) return 0;
  if (result_bytes() < static_cast<double>(m.caches[1].bytes)) return 0;
  const step_axis* const row = row_axis();
  const auto axes = std::count_if(step.axes.begin(), step.axes.end(), [](const step_axis& x) { return x.role == group::m && x.tile > 1; });
  constexpr std::int64_t page = 4096;
  const double line = 64, wait = result_bytes() > last_cache(m) ? 25 : 5;
  const auto size = static_cast<std::int64_t>(size_of(op.c.type));
  const bool apart = row && axes > 1 && std::abs(row->c) * size >= page;
  const bool along = row && row->tile <= rows_at_once && row_of(step.axes, group::n) * size >= long_row;  // a few long rows at a time
  return apart && !along ? wait * result_bytes() / line : 0;
}

std::int64_t candidate::rows_of_tile() const {
  std::int64_t rows = 1;
  for (const step_axis& x : step.axes)
    if (x.role == group::m) rows *= x.tile;
  return rows;
}

bool candidate::reads_b_once() const {
  if (!m.writes_kernels || step.lanes != lanes::n || step.pack_b) return false;
  const std::int64_t rows = rows_of_tile(), at_once = m.vector_registers >= 32 ? 8 : 4;
  return rows <= at_once || (rows <= 2 * at_once && stays(inner()));
}

bool candidate::few_groups() const {
  if (!m.writes_kernels || step.lanes != lanes::n || step.pack_b || !block_labels.empty() || m.caches.size() < 2 || rows_come_anew()) return false;
  constexpr std::int64_t few_rows = 200, ways = 16;
  const std::int64_t most_rows = has_wide_registers() ? 500 : few_rows;
  std::int64_t sums = 1, apart = 0;
  for (const step_axis& x : step.axes) {
    if (x.role != group::k || x.tile < 2) continue;
    sums *= x.tile;
    apart = std::max(apart, std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type)));
  }
  // Rows of b that are a power of two apart share few sets of the second cache, and leave before the next rows of c want them.
  const std::int64_t way = std::max<std::int64_t>(64, m.caches[1].bytes / ways), sets = way / std::clamp<std::int64_t>(apart & -apart, 64, way);
  return rows_of_tile() <= most_rows && sums <= sets * ways * 3 / 4 && strip_bytes(inner()) < 0.45 * static_cast<double>(m.caches[1].bytes);
}

double candidate::share_of_b() const {
  return step.pack_b ? 1 : distinct_share(step.axes, [](const step_axis& x) { return strided_axis{x.tile, x.b}; });
}

double candidate::strip_bytes(const shape& s) const {
  constexpr std::int64_t widest = 3;  // vectors
  return static_cast<double>(s.k * (s.rows * static_cast<std::int64_t>(size_of(s.type)) + widest * m.vector_bytes));
}

double candidate::strided_penalty(double panel) const {
  const std::size_t near = m.writes_kernels ? 1 : 0;
  if (step.pack_b || m.caches.size() <= near || reads_b_once()) return 1;
  const double shares = sharing_of_sets();
  if (panel < 0.75 * static_cast<double>(m.caches[near].bytes)) return rows_turn_pages() || short_rows_apart() ? 1.4 : shares;
  std::int64_t widest = 0;
  for (const step_axis& x : step.axes)
    if (x.role == group::k && x.tile > 16) widest = std::max(widest, std::abs(x.b));
  return std::max(shares, widest * static_cast<std::int64_t>(size_of(op.b.type)) >= 1024 ? 1.8 : 1.2);
}

bool candidate::rows_turn_pages() const {
  if (!m.writes_kernels || m.fetches_blocks || step.lanes != lanes::n) return false;
  constexpr std::int64_t page = 4096, hundreds = 256, least_rows = 128;
  std::int64_t rows = 1, pages = 1, widest = 0;
  bool apart = false;
  for (const step_axis& x : step.axes) {
    const std::int64_t bytes = std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type));
    if (x.role == group::m) rows *= x.tile;
    if (x.role == group::k && x.tile > 16 && bytes > 0 && bytes % page == 0) pages *= x.tile, apart = true;
    if (x.role == group::n && x.tile > 1) widest = std::max(widest, x.tile * bytes);
  }
  return apart && rows >= least_rows && pages * std::max<std::int64_t>(1, widest / page) >= hundreds;
}

bool candidate::rows_come_anew() const { return rows_turn_pages() || short_rows_apart() || sharing_of_sets() > 1; }

double candidate::sharing_of_sets() const {
  if (!m.writes_kernels || !m.fetches_blocks || m.vector_bytes != 32 || step.lanes != lanes::n || step.pack_b) return 1;
  constexpr std::int64_t page = 4096, least_rows = 20, least_sums = 64;
  std::int64_t rows = 1, sums = 1, apart = page;
  for (const step_axis& x : step.axes) {
    if (x.role == group::m) rows *= x.tile;
    if (x.role != group::k || x.tile < 2) continue;
    const std::int64_t bytes = std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type));
    sums *= x.tile, apart = std::min(apart, bytes & -bytes);
  }
  if (rows < least_rows || sums < least_sums) return 1;
  return apart >= page ? 2.2 : apart >= page / 2 ? 1.35 : 1;
}

bool candidate::short_rows_apart() const {
  if (!m.writes_kernels || m.fetches_blocks || step.lanes != lanes::n) return false;
  constexpr std::int64_t page = 4096, longest = 1024, few_rows = 32, few_sums = 16, most = 64 << 10;
  const auto size = static_cast<std::int64_t>(size_of(op.b.type));
  std::int64_t rows = 1, row = 1, sums = 1;
  bool apart = false;
  for (const step_axis& x : step.axes) {
    if (x.role == group::m) rows *= x.tile;
    if (x.role == group::n) row *= x.tile;
    if (x.role == group::k) sums *= x.tile, apart = apart || (x.tile > few_sums && std::abs(x.b) * size >= page);
  }
  return apart && rows >= few_rows && row * size <= longest && row * sums * size <= most;
}

bool candidate::rows_far_apart() const {
  if (rows_come_anew()) return true;
  const shape s = inner();
  for (const step_axis& x : step.axes)
    if (x.role == group::k && x.tile > 1 && std::abs(x.b) * static_cast<std::int64_t>(size_of(op.b.type)) < 1024) return false;
  return strided_penalty(static_cast<double>(s.lane * s.cols * s.k) * static_cast<double>(size_of(s.type))) > 1.5;
}

double candidate::bytes_in_play() const {
  return bytes_of(op.a, step.axes, &step_axis::a) + bytes_of(op.b, step.axes, &step_axis::b) + bytes_of(op.c, step.axes, &step_axis::c);
}

double candidate::crowding(double panel) const {
  if (!m.writes_kernels || step.lanes != lanes::n || !step.pack_b || m.caches.size() < 2) return 1;
  const auto second = static_cast<double>(m.caches[1].bytes);
  const double in_play = bytes_in_play();
  if (panel <= 0.25 * second || in_play <= second) return 1;
  const bool cut = std::any_of(step.axes.begin(), step.axes.end(), [](const step_axis& x) { return x.b != 0 && x.tile < x.extent; });
  if (m.fetches_blocks) return cut || in_play > last_cache(m) ? 1.25 : 1;
  // Rows of a that are runs of sums come by themselves beside half of that cache.
  const bool across = std::any_of(step.axes.begin(), step.axes.end(), [](const step_axis& x) { return x.role == group::m && x.a == 1 && x.tile > 1; });
  return !has_wide_registers() || across || cut || panel > 0.5 * second ? 1.2 : 1.05;
}

std::int64_t candidate::problems() const {
  std::int64_t n = 1;
  for (const step_axis& x : step.axes)
    if (x.role == group::batch) n *= x.extent;
  return n;
}

double candidate::among_others() const {
  if (!has_wide_registers() || step.lanes != lanes::n || step.pack_b || !block_labels.empty() || reads_b_once() || m.caches.size() < 2) return 1;
  constexpr std::int64_t line = 64, few_sums = 48, many_sums = 128, many_rows = 96, far = 1024;
  const auto size = static_cast<std::int64_t>(size_of(op.b.type));
  std::int64_t rows = 1, sums = 1, apart = 0, longest = 0;
  bool across = false, whole = true;  // a's neighbours are rows; b's rows are whole lines apart
  for (const step_axis& x : step.axes) {
    if (x.role == group::m) rows *= x.extent;
    if (x.role == group::m && x.a == 1 && x.tile > 1) across = true;
    if (x.b != 1 && x.tile > 1 && x.b * size % line != 0) whole = false;
    if (x.role != group::k || x.tile < 2) continue;
    sums *= x.tile;
    if (x.tile > longest) longest = x.tile, apart = std::abs(x.b) * size;
  }
  if (sums < few_sums) return 1;
  const double in_play = bytes_in_play();
  const double second = static_cast<double>(m.caches[1].bytes * problems());
  const bool shares = (apart & -apart) >= far;  // sets of the caches
  // Down the columns of what is larger than the second cache, no hardware follows.
  const bool large = bytes_of(op.b, step.axes, &step_axis::b) > 0.75 * second, within = op.b.within_line && !o.deterministic;
  const double factor = large ? (shares ? 1.6 : 1.25) : in_play <= second ? 1 : across ? 1.15 : 1.08;
  if (rows < many_rows || (whole && !within)) return factor;
  if (!whole) return factor * (sums < many_sums ? 1.03 : 1.06);
  return factor * (sums < many_sums ? 1.06 : 1.12) * (shares ? 1.1 : 1);
}

bool candidate::stays(const shape& s) const {
  if (!m.writes_kernels || s.lanes != lanes::n || step.pack_b || m.caches.empty()) return false;
  return strip_bytes(s) <= static_cast<double>(m.caches[0].bytes * 3 / 4);
}

double candidate::rows_beside(const shape& s) const {
  if (!m.writes_kernels || m.vector_bytes != 32 || step.lanes != lanes::n || step.pack_b || m.caches.size() < 2) return 0;
  std::int64_t cols = 1;
  for (const step_axis& x : step.axes)
    if (x.role == group::n) cols *= x.tile;
  const double bytes = static_cast<double>(s.k * rows_of_tile()) * static_cast<double>(size_of(s.type));
  return cols > s.lane * s.cols && bytes <= static_cast<double>(m.caches[1].bytes) ? bytes : 0;
}

double candidate::cycles() {
  std::int64_t calls = 1, calls_a = 1, calls_b = 1, calls_c = 1, without_a = 1;
  double work = 2;
  for (const step_axis& x : step.axes) {  // a packed tile stays until the next one is another
    const std::int64_t outer = divide_up(x.extent, x.tile);
    calls *= outer;
    if (x.a != 0 && outer > 1) calls_a = calls;
    if (x.b != 0 && outer > 1) calls_b = calls;
    if (x.role != group::k) calls_c *= outer;
    if (x.a == 0) without_a *= outer;
    work *= static_cast<double>(x.extent);
  }
  const shape s = inner();
  const auto size = static_cast<double>(size_of(s.type));
  if (are_sums_apart()) {
    step.apart = true, step.flops = work * (is_complex(s.type) ? 4 : 1);
    constexpr double an_element = 1.1;  // mostly a line of the second cache each
    return an_element * work / 2 + static_cast<double>(calls) * call_cycles(m);
  }
  double per_call = kernel_cycles(s, m);
  const double read = static_cast<double>(s.lane * s.cols * s.k) * size;  // of b, again by every group of rows
  const double panel = read * share_of_b();
  const double rereads = stays(s) ? 1 : std::max(1.0, static_cast<double>(s.rows) / (m.writes_kernels && m.vector_registers >= 32 ? 6 : 4));
  const bool near = few_groups();  // of rows, which find the columns of a tile in a cache
  const double again = near ? (rereads - 1) / stream_rate(strip_bytes(s), m) : (rereads - 1) / stream_rate(read, m);
  per_call = std::max(per_call, static_cast<double>(s.loops) * (panel / stream_rate(panel + rows_beside(s), m) + read * again));
  per_call *= std::max(among_others(), near ? 1 : strided_penalty(read)) * crowding(read);
  double total = static_cast<double>(calls) * (per_call + call_cycles(m));
  for (const auto& [x, stride] : {std::pair{&op.a, &step_axis::a}, {&op.b, &step_axis::b}})
    if (!block_labels.empty() && x->where == operand::kind::external && !moves_with_blocks(*x)) {
      const double bytes = bytes_of(*x, step.axes, stride);
      if (bytes > last_cache(m)) total = std::max(total, bytes / stream_rate(bytes, m));  // every block reads it anew
    }
  total += waits_for_a(s, without_a, total) + waits_for_b() + waits_for_c() + jumps_in_a() + skips_in_a() + waits_side_by_side() + waits_for_memory();
  const bool lane_in_a = step.lanes != lanes::n;
  if (step.pack_a && !step.keep_a) total += pack_cycles(op.a, &step_axis::a, lane_in_a, calls_a);
  if (step.pack_b && !step.keep_b) total += pack_cycles(op.b, &step_axis::b, true, calls_b);
  if (step.buffer_c) total += pack_cycles(op.c, &step_axis::c, false, calls_c);
  step.flops = work * (is_complex(s.type) ? 4 : 1);
  if (op.scale.where != operand::kind::one) {
    const auto elements = static_cast<double>(tile_size(&step_axis::c, false));
    step.flops += elements;
    total += elements / static_cast<double>(m.vector_bytes) * size;
  }
  return total;
}

}  // namespace ricci::planning
