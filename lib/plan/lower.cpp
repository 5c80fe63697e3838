// One pairwise product on one machine: which axis the lanes run along, what is packed, how it is cut into tiles.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "plan/cost.hpp"
#include "plan/narrow.hpp"
#include "plan/plan.hpp"

namespace ricci::planning {
namespace {

using kernels::lanes;

std::int64_t stride_of(const operand& x, int label) {
  for (std::size_t d = 0; d < x.labels.size(); ++d)
    if (x.labels[d] == label) return x.strides[d];
  return 0;
}

bool has(const operand& x, int label) { return std::find(x.labels.begin(), x.labels.end(), label) != x.labels.end(); }

std::int64_t divide_up(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

/// The axes of a step with their groups; labels of extent 1 (block labels, mostly) are left out.
std::vector<step_axis> axes_of(const pair_op& op, const std::vector<std::int64_t>& extents) {
  std::vector<step_axis> axes;
  const auto add = [&](int label) {
    if (extents[label] == 1 || label == op.parts_label) return;
    for (const step_axis& x : axes)
      if (x.label == label) return;
    step_axis x{label, extents[label], extents[label], stride_of(op.a, label), stride_of(op.b, label),
                stride_of(op.c, label), group::batch};
    const bool in_a = has(op.a, label), in_b = has(op.b, label);
    if (!has(op.c, label)) x.role = group::k;
    else if (in_a && !in_b) x.role = group::m;
    else if (in_b && !in_a) x.role = group::n;
    if (label == op.cut_label) x.tile = op.part, x.part = stride_of(op.c, op.parts_label);
    axes.push_back(x);
  };
  for (int l : op.c.labels) add(l);
  for (int l : op.a.labels) add(l);
  for (int l : op.b.labels) add(l);
  return axes;
}

struct candidate {
  const machine& m;
  const options& o;
  const std::vector<int>& block_labels;
  plan_step step;

  step_axis& axis(int label) {
    return *std::find_if(step.axes.begin(), step.axes.end(), [&](const step_axis& x) { return x.label == label; });
  }

  std::int64_t tile_size(std::int64_t step_axis::*stride, bool with_lane_only_in_c) const {
    std::int64_t n = 1;
    for (const step_axis& x : step.axes)
      if (x.*stride != 0 || (x.label == step.lane_label && with_lane_only_in_c)) n *= x.tile;
    return n;
  }

  std::int64_t packed_bytes() const {
    const auto size = static_cast<std::int64_t>(size_of(compute_type(step.op.c.type)));
    std::int64_t n = 0;
    if (step.pack_a) n += tile_size(&step_axis::a, step.lanes != lanes::n);
    if (step.pack_b) n += tile_size(&step_axis::b, true);
    if (step.buffer_c) n += tile_size(&step_axis::c, false);
    return n * size;
  }

  /// Halves tiles until what is packed fits: batch labels down to L1, the others to half of L2.
  void fit_tiles() {
    if (!step.pack_a && !step.pack_b && !step.buffer_c) return;
    const std::int64_t near = m.caches.empty() ? 24576 : m.caches[0].bytes * 3 / 4;
    const std::int64_t far = m.caches.size() < 2 ? 131072 : m.caches[1].bytes / 2;
    const std::int64_t width = m.vector_bytes / static_cast<std::int64_t>(size_of(compute_type(step.op.c.type)));
    while (packed_bytes() > near) {
      const bool over = packed_bytes() > far;
      step_axis* best = nullptr;
      double worth = 0;
      for (step_axis& x : step.axes) {
        const bool is_lane = x.label == step.lane_label;
        const std::int64_t least = is_lane ? 4 * width : x.role == group::k ? 32 : x.role == group::batch ? 1 : 8;
        if (x.part != 0 || x.tile <= least || (!over && x.role != group::batch)) continue;
        const double span = static_cast<double>(x.tile) * (x.role == group::batch && !is_lane ? 1e6 : 1) *
                            (x.role == group::k ? 0.01 : 1);
        if (span > worth) worth = span, best = &x;
      }
      if (!best) break;
      const std::int64_t pieces = divide_up(best->extent, best->tile) * 2;
      std::int64_t tile = divide_up(best->extent, pieces);
      if (best->label == step.lane_label) tile = divide_up(tile, width) * width;
      best->tile = std::min(tile, best->tile - 1);
    }
  }

  /// Cuts an outer axis so that every thread has several pieces.
  void cut_for_threads(double cycles) {
    const int threads = o.threads > 0 ? std::min(o.threads, m.cores) : m.cores;
    if (threads < 2 || !block_labels.empty() || cycles < 60000 || step.op.cut_label >= 0) return;
    std::int64_t pieces = 1;
    for (const step_axis& x : step.axes)
      if (x.role != group::k) pieces *= divide_up(x.extent, x.tile);
    const auto wanted = static_cast<std::int64_t>(std::min(cycles / 20000, threads * 4.0));
    if (pieces >= wanted) return;
    step_axis* best = nullptr;
    for (step_axis& x : step.axes) {
      if (x.role == group::k || x.c == 0 || x.tile < 2) continue;
      const bool is_lane = x.label == step.lane_label && x.tile < 64;
      if (is_lane) continue;
      if (!best || (x.role == group::batch) > (best->role == group::batch) ||
          ((x.role == group::batch) == (best->role == group::batch) && x.tile * std::abs(x.c) > best->tile * std::abs(best->c)))
        best = &x;
    }
    if (!best) return;
    std::int64_t tile = divide_up(best->tile, std::min(best->tile, divide_up(wanted, pieces)));
    if (best->label == step.lane_label) tile = divide_up(tile, 64) * 64;
    best->tile = std::min(best->tile, tile);
  }

  shape inner() const {
    shape s;
    s.lanes = step.lanes;
    s.type = compute_type(step.op.c.type);
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
    fuse_lane(s);
    return s;
  }

  /// n labels whose strides nest with the lane axis will be one axis in the kernel.
  void fuse_lane(shape& s) const {
    const auto lane = std::find_if(step.axes.begin(), step.axes.end(),
                                   [&](const step_axis& x) { return x.label == step.lane_label; });
    if (lane == step.axes.end() || step.lanes == lanes::k) return;
    std::int64_t reach = lane->tile, cols = s.cols;
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
        if (x.role == group::n && x.tile == cols) s.cols = 1;
        else s.loops = std::max<std::int64_t>(1, s.loops / x.tile);
        grown = true;
        break;
      }
    }
    s.lane = reach;
  }

  double pack_cycles(const operand& x, std::int64_t step_axis::*stride, bool lane_extra, std::int64_t calls) const {
    bool same = false, any = x.where == operand::kind::one;
    for (const step_axis& a : step.axes) {
      if (a.*stride == 1 && a.label == step.lane_label) same = true;
      if (a.*stride == 1 && a.tile >= 4) any = true;
    }
    return static_cast<double>(calls) *
           move_cycles(tile_size(stride, lane_extra), same, any, x.type != compute_type(x.type));
  }

  /// A panel of b beyond the caches whose rows lie far apart costs misses of cache and address translation. Written
  /// kernels, which wait for nothing else, bear it from the second cache (64 x 64 x 7 panel, rows 36 KiB apart: 92 % of
  /// the speed of a packed one).
  double strided_penalty(double panel) const {
    const std::size_t near = m.writes_kernels ? 1 : 0;
    if (step.pack_b || m.caches.size() <= near || panel < 0.75 * static_cast<double>(m.caches[near].bytes)) return 1;
    std::int64_t widest = 0;
    for (const step_axis& x : step.axes)
      if (x.role == group::k && x.tile > 16) widest = std::max(widest, std::abs(x.b));
    return widest * static_cast<std::int64_t>(size_of(step.op.b.type)) >= 1024 ? 1.8 : 1.2;
  }

  /// Estimated cycles of the whole step on one core.
  double cycles() {
    std::int64_t calls = 1, calls_b = 1, calls_c = 1;
    double work = 2;
    for (const step_axis& x : step.axes) {
      const std::int64_t outer = divide_up(x.extent, x.tile);
      calls *= outer;
      if (x.b != 0 || calls_b > 1) calls_b *= outer;
      if (x.role != group::k) calls_c *= outer;
      work *= static_cast<double>(x.extent);
    }
    const shape s = inner();
    const auto size = static_cast<double>(size_of(s.type));
    double per_call = kernel_cycles(s, m);
    const double panel = static_cast<double>(s.lane * s.cols * s.k) * size;  // of b, read again by every group of rows
    const double rereads = std::max(1.0, static_cast<double>(s.rows) / 4);
    per_call = std::max(per_call, static_cast<double>(s.loops) * panel * rereads / stream_rate(panel, m));
    per_call *= strided_penalty(panel);
    double total = static_cast<double>(calls) * (per_call + call_cycles(m));
    const bool lane_in_a = step.lanes != lanes::n;
    if (step.pack_a && !step.keep_a) total += pack_cycles(step.op.a, &step_axis::a, lane_in_a, calls);
    if (step.pack_b && !step.keep_b) total += pack_cycles(step.op.b, &step_axis::b, true, std::max(calls_b, calls_c > 1 ? calls_b : 1));
    if (step.buffer_c) total += pack_cycles(step.op.c, &step_axis::c, false, calls_c);
    step.flops = work * (is_complex(s.type) ? 4 : 1);
    if (step.op.scale.where != operand::kind::one) {
      const auto elements = static_cast<double>(tile_size(&step_axis::c, false));
      step.flops += elements;
      total += elements / static_cast<double>(m.vector_bytes) * size;
    }
    return total;
  }
};

bool depends(const operand& x, const std::vector<int>& labels) {
  if (x.where == operand::kind::temporary) return true;
  return std::any_of(labels.begin(), labels.end(), [&](int l) { return has(x, l); });
}

/// Batch labels first, then n, m and last the summed ones; within a group the larger steps in c outside.
void order_axes(plan_step& s) {
  const auto rank = [](group g) { return g == group::batch ? 0 : g == group::n ? 1 : g == group::m ? 2 : 3; };
  std::stable_sort(s.axes.begin(), s.axes.end(), [&](const step_axis& x, const step_axis& y) {
    if (rank(x.role) != rank(y.role)) return rank(x.role) < rank(y.role);
    if (x.role == group::k) return std::abs(x.a) + std::abs(x.b) > std::abs(y.a) + std::abs(y.b);
    return std::abs(x.c) > std::abs(y.c);
  });
}

std::string describe(const plan_step& s) {
  static constexpr const char* kinds[] = {"", " (a problem a lane)", " (dot products)"};
  std::string text = s.how == method::move ? "copy" : s.how == method::blocked ? "blocked GEMM" : "scalar kernel";
  if (s.how == method::direct && s.lane_label >= 0)
    text = "lanes along #" + std::to_string(s.lane_label) + kinds[static_cast<int>(s.lanes)];
  if (s.pack_a) text += s.keep_a ? ", a packed once" : ", a packed";
  if (s.pack_b) text += s.keep_b ? ", b packed once" : ", b packed";
  if (s.buffer_c) text += ", c buffered";
  return text;
}

class chooser {
 public:
  chooser(const pair_op& op, const std::vector<std::int64_t>& extents, const std::vector<int>& block_labels,
          const machine& m, const options& o)
      : op_(op), extents_(extents), block_(block_labels), m_(m), o_(o) {}

  plan_step best() {
    if (try_move()) return std::move(best_);  // a copy along both unit strides: nothing is faster
    pair_op swapped = op_;
    std::swap(swapped.a, swapped.b);
    for (const pair_op* op : {&std::as_const(op_), &std::as_const(swapped)}) {
      const auto axes = axes_of(*op, extents_);
      if (axes.empty()) try_direct(*op, axes, -1, lanes::n);
      for (const step_axis& x : axes) {
        const bool in_a = has(op->a, x.label), in_b = has(op->b, x.label);
        if (x.role == group::k) {
          if (in_b && op->b.where != operand::kind::one) try_direct(*op, axes, x.label, lanes::k);
        } else if (in_a && in_b) {
          try_direct(*op, axes, x.label, lanes::batch);
        } else if (!in_a) {
          try_direct(*op, axes, x.label, lanes::n);
        }
      }
      if (std::all_of(axes.begin(), axes.end(), [](const step_axis& x) { return x.role == group::k; }))
        try_direct(*op, axes, -1, lanes::n);
      try_blocked(*op, axes);
    }
    for (const auto& [text, seconds] : tried_)
      if (text != describe(best_)) best_.rejected.push_back(text + ", about " + format(seconds));
    return std::move(best_);
  }

 private:
  static std::string format(double seconds) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3g us", seconds * 1e6);
    return buffer;
  }

  void offer(plan_step s, double cycles) {
    s.seconds = cycles / cycles_per_second(m_);
    const std::string text = describe(s);
    const auto known = std::find_if(tried_.begin(), tried_.end(), [&](const auto& t) { return t.first == text; });
    if (known == tried_.end()) tried_.push_back({text, s.seconds});
    else known->second = std::min(known->second, s.seconds);
    if (s.seconds < least_) least_ = s.seconds, best_ = std::move(s);
  }

  void try_direct(const pair_op& op, const std::vector<step_axis>& axes, int lane, lanes mode) {
    candidate c{m_, o_, block_, {}};
    plan_step& s = c.step;
    s.op = op;
    s.axes = axes;
    s.lanes = mode;
    s.lane_label = lane;
    const std::int64_t a = stride_of(op.a, lane), b = stride_of(op.b, lane), cc = stride_of(op.c, lane);
    // Kernels written for AVX-512 convert 16-bit numbers on the way.
    const auto narrow = [](const operand& x) { return x.where != operand::kind::one && compute_type(x.type) != x.type; };
    const bool converts = m_.writes_kernels && m_.isa == "AVX-512" && mode == lanes::n && lane >= 0;
    s.pack_a = (narrow(op.a) && !(converts && rows_are_short(axes))) || (lane >= 0 && mode != lanes::n && a != 1);
    s.pack_b = (narrow(op.b) && !converts) || (lane >= 0 && b != 1);
    s.buffer_c = (narrow(op.c) && !converts) || (lane >= 0 && mode != lanes::k && cc != 1);
    s.keep_a = s.pack_a && !block_.empty() && !depends(op.a, block_);
    s.keep_b = s.pack_b && !block_.empty() && !depends(op.b, block_);
    c.fit_tiles();
    if (narrow(op.c) && std::any_of(s.axes.begin(), s.axes.end(), [](const step_axis& x) { return x.role == group::k && x.tile != x.extent; }))
      s.buffer_c = true;  // partial sums stay in float
    // A packed operand that is cut into tiles is not kept: its block changes within the step.
    for (const step_axis& x : s.axes)
      if (x.tile != x.extent) s.keep_a = s.keep_a && x.a == 0, s.keep_b = s.keep_b && x.b == 0;
    const double before = c.cycles();
    c.cut_for_threads(before);
    order_axes(s);
    offer(s, before);
  }

  /// Offers a copy, if the step is one. True: its unit strides agree.
  bool try_move() {
    const operand& from = op_.a.where == operand::kind::one ? op_.b : op_.a;
    const operand& unit = op_.a.where == operand::kind::one ? op_.a : op_.b;
    const bool plain = op_.alpha == coefficient{1, -1, {}} && unit.where == operand::kind::one && !from.conj &&
                       from.where != operand::kind::one;
    if (!plain || from.labels.size() != op_.c.labels.size()) return false;
    pair_op op = op_;
    op.a = unit, op.b = from;
    const auto axes = axes_of(op, extents_);
    if (axes.size() > kernels::max_loops) return false;
    candidate c{m_, o_, block_, {}};
    c.step.op = op;
    c.step.how = method::move;
    c.step.axes = axes;
    std::int64_t count = 1;
    bool same = false, any_b = false, any_c = false;
    for (const step_axis& x : axes) {
      if (x.role == group::k || x.b == 0) return false;
      count *= x.extent;
      same = same || (x.b == 1 && x.c == 1);
      any_b = any_b || x.b == 1, any_c = any_c || x.c == 1;
    }
    const double cycles = move_cycles(count, same, any_b && any_c, op.b.type != op.c.type);
    c.cut_for_threads(cycles);
    order_axes(c.step);
    offer(c.step, cycles);
    return same;
  }

  void try_blocked(const pair_op& op, const std::vector<step_axis>& axes) {
    double rows = 1, cols = 1, k = 1, batch = 1;
    for (const step_axis& x : axes)
      (x.role == group::m ? rows : x.role == group::n ? cols : x.role == group::k ? k : batch) *=
          static_cast<double>(x.extent);
    if (!block_.empty() || op.cut_label >= 0 || rows < 8 || cols < 8 || k < 8 || rows * cols * k < 40000) return;
    // The vector side is the one with the unit stride of c, if there is one.
    for (const step_axis& x : axes)
      if (x.c == 1 && x.role == group::m) return;
    if (compute_type(op.c.type) != op.c.type && k > 256) return;  // partial sums would be rounded to 16 bits
    plan_step s;
    s.op = op;
    s.how = method::blocked;
    s.axes = axes;
    s.pack_a = s.pack_b = true;
    const double per_cycle = 2.0 * m_.vector_bytes / static_cast<double>(size_of(compute_type(op.c.type))) /
                             (is_complex(op.c.type) ? 2 : 1);
    const double edge = std::ceil(rows / 4) * 4 / rows * std::ceil(cols / 12) * 12 / cols;
    s.flops = 2 * batch * rows * cols * k * (is_complex(op.c.type) ? 4 : 1);
    const double cycles = batch * (rows * cols * k / per_cycle * 1.02 * edge + 1.5 * (rows * k + cols * k) + rows * cols + 2000);
    order_axes(s);
    offer(s, cycles);
  }

  pair_op op_;
  const std::vector<std::int64_t>& extents_;
  const std::vector<int>& block_;
  const machine& m_;
  const options& o_;
  plan_step best_;
  double least_ = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::string, double>> tried_;
};

}  // namespace

plan_step lower(const pair_op& op, const std::vector<std::int64_t>& extents, const std::vector<int>& block_labels,
                const machine& m, const options& o) {
  if (op.what != action::contract) return lower_other(op, extents, m);
  plan_step best = chooser(op, extents, block_labels, m, o).best();
  try_halves(op, extents, m, best);
  return best;
}

}  // namespace ricci::planning
