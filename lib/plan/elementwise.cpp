// Statements without a sum: in tiles, in which what lies another way round is packed first, or behind a copy of that.
#include <algorithm>
#include <cmath>

#include "plan/candidate.hpp"
#include "plan/copies.hpp"
#include "plan/layout.hpp"

namespace ricci::planning {
namespace {

bool is_wide(const operand& x) { return compute_type(x.type) == x.type; }

class tiler {
 public:
  tiler(const pair_op& op, const std::vector<std::int64_t>& extents, const machine& m, const options& o) : op_(op), m_(m), options_(o) {
    step_.op = op;
    step_.how = method::pointwise;
    step_.in_tiles = true;
    for (int l : op.c.labels)
      if (const std::int64_t n = extents[static_cast<std::size_t>(l)]; n > 1) step_.axes.push_back({l, n, n, 0, 0, stride_of(op.c, l), group::batch});
    join_nested();
    size_ = static_cast<std::int64_t>(size_of(compute_type(op.c.type)));
  }

  /// Everything that is read and written, once.
  double bytes() const {
    double n = (is_zero(op_.beta) ? 1 : 2) * elements(op_.c) * static_cast<double>(size_of(op_.c.type));
    for (const operand& x : op_.inputs) n += elements(x) * static_cast<double>(size_of(x.type));
    return n;
  }

  plan_step run() {
    beyond_ = m_.caches.size() > 1 && bytes() >= 1.25 * last_cache(m_);
    step_.stream_c = streams();
    choose_lane();
    const auto lane = std::find_if(step_.axes.begin(), step_.axes.end(), [&](const step_axis& a) { return a.label == step_.lane_label; });
    for (std::size_t i = 0; i < op_.inputs.size(); ++i)
      if (const operand& x = op_.inputs[i]; !fits(x, step_.lane_label))
        (lane != step_.axes.end() && can_turn(x, *lane) ? step_.turned : step_.packed).push_back(static_cast<int>(i));
    step_.buffer_c = !is_wide(op_.c) || (step_.lane_label >= 0 && stride_of(op_.c, step_.lane_label) != 1);
    estimate();
    cut_for_caches();
    cut_for_threads();
    std::stable_sort(step_.axes.begin(), step_.axes.end(), [](const step_axis& x, const step_axis& y) { return std::abs(x.c) > std::abs(y.c); });
    return std::move(step_);
  }

 private:
  /// Labels that nest in all operands are one axis.
  void join_nested() {
    join_axes(step_.axes, [&](const step_axis& out, const step_axis& in) {
      const auto in_operand = [&](const operand& x) { return stride_of(x, out.label) == stride_of(x, in.label) * in.extent; };
      return in_operand(op_.c) && std::all_of(op_.inputs.begin(), op_.inputs.end(), in_operand);
    });
  }

  /// Read as it lies. lane -1: there is a single element.
  static bool fits(const operand& x, int lane) {
    const std::int64_t s = stride_of(x, lane);
    return is_wide(x) && (s == 0 || s == 1);
  }

  double elements(const operand& x) const {
    double n = 1;
    for (const step_axis& a : step_.axes)
      if (stride_of(x, a.label) != 0) n *= static_cast<double>(a.extent);
    return n;
  }

  /// The axis for which the fewest elements are packed and the fewest lanes stay empty.
  void choose_lane() {
    double least = 0;
    for (const step_axis& a : step_.axes) {
      const auto width = static_cast<double>(m_.vector_bytes / size_), n = static_cast<double>(a.extent);
      double moved = fits(op_.c, a.label) && a.c == 1 ? 0 : 1.2 * elements(op_.c);
      for (const operand& x : op_.inputs) moved += fits(x, a.label) ? 0 : (can_turn(x, a) ? 0.5 : 1) * elements(x);
      moved += (0.01 / n + 0.3 * (std::ceil(n / width) * width / n - 1)) * elements(op_.c);
      if (step_.lane_label < 0 || moved < least) step_.lane_label = a.label, least = moved;
    }
  }

  /// Whether a written kernel turns the input in registers: its neighbours lie along an axis of rows, or there is but one row of a few
  /// registers. Out of memory it is better packed in long pieces.
  bool can_turn(const operand& x, const step_axis& lane) const {
    const auto has_rows = [&](const step_axis& a) { return a.label != lane.label && stride_of(x, a.label) == 1; };
    const auto is_exp = [](const pointwise_term& t) { return std::any_of(t.factors.begin(), t.factors.end(), [](const auto& f) { return f.second == function::exp; }); };
    const bool masks = m_.vector_bytes == 64;
    const std::int64_t width = m_.vector_bytes / size_ / (masks ? 2 : 1);  // where there are masks vectors may be half empty
    const bool ragged = masks || !divides(op_);
    const bool few = ragged && elements(op_.c) <= 512;                       // to call what packs would take longer
    return m_.writes_kernels && (!beyond_ || size_ == 16 || !has_whole_rows()) && x.type == op_.c.type && is_wide(x) && (few || lane.extent >= width) && lane.c == 1 &&
           (std::any_of(step_.axes.begin(), step_.axes.end(), has_rows) || (step_.axes.size() == 1 && lane.extent <= 8 * m_.vector_bytes / size_)) && std::none_of(op_.terms.begin(), op_.terms.end(), is_exp);
  }

  /// Every row of the result begins at a register if the first one does.
  bool has_whole_rows() const {
    return std::all_of(step_.axes.begin(), step_.axes.end(), [&](const step_axis& a) { return a.c == 1 || a.c * size_ % m_.vector_bytes == 0; });
  }

  /// A result that is not read leaves past the caches.
  bool streams() const {
    return beyond_ && !streams_read(m_) && is_zero(op_.beta) && is_wide(op_.c);
  }

  std::int64_t packed_bytes() const {
    std::int64_t n = step_.buffer_c ? tile_of(op_.c) : 0;
    for (int i : step_.packed) n += tile_of(op_.inputs[static_cast<std::size_t>(i)]);
    return n * size_;
  }
  std::int64_t tile_of(const operand& x) const {
    std::int64_t n = 1;
    for (const step_axis& a : step_.axes)
      if (stride_of(x, a.label) != 0) n *= a.tile;
    return n;
  }

  /// Down to what an axis may be cut. Along rows of memory: in caches what is packed comes in short pieces and goes to long ones, out of
  /// memory the other way round. Measured.
  std::int64_t least_tile(const step_axis& a) const {
    const auto is_row = [&](const operand& x) { return stride_of(x, a.label) == 1; };
    const bool lane = a.label == step_.lane_label;
    if (!lane && !is_row(op_.c) && std::none_of(op_.inputs.begin(), op_.inputs.end(), is_row)) return 1;
    if (beyond_ && lane) return std::min<std::int64_t>(a.extent, 16);
    return std::min(a.extent, (beyond_ || lane ? 4096 : 256) / size_);
  }

  /// Halves the axis of the largest steps in c that is no row of memory, or else the longest row.
  bool halve() {
    step_axis* best = nullptr;
    for (step_axis& a : step_.axes) {
      if (a.tile <= least_tile(a)) continue;
      const bool row = least_tile(a) > 1, best_row = best && least_tile(*best) > 1;
      if (!best || (best_row && !row) || (best_row == row && (row ? a.tile > best->tile : std::abs(a.c) > std::abs(best->c)))) best = &a;
    }
    if (!best) return false;
    cut(*best, 2 * divide_up(best->extent, best->tile));
    return true;
  }

  void cut(step_axis& a, std::int64_t pieces) const {
    const std::int64_t step = least_tile(a) > 1 ? 64 / size_ : 1, tile = divide_up(a.extent, pieces);
    a.tile = std::max(std::min(divide_up(tile, step) * step, a.tile - 1), std::min(least_tile(a), a.tile - 1));
  }

  void cut_for_caches() {
    // A kernel that turns has up to eight registers of lanes.
    for (step_axis& a : step_.axes)
      if (!step_.turned.empty() && a.label == step_.lane_label) a.tile = std::min(a.tile, 8 * m_.vector_bytes / size_);
    const std::int64_t second = m_.caches.size() < 2 ? most_packed : m_.caches[1].bytes / 4;
    while (packed_bytes() > std::min(most_packed, second) && halve()) {}
    // Moves have so many loops.
    const auto is_loop = [](const step_axis& a) { return a.tile > 1; };
    while (std::count_if(step_.axes.begin(), step_.axes.end(), is_loop) > kernels::max_loops && halve()) {}
    const auto turned_bytes = [&](int i) { return tile_of(op_.inputs[static_cast<std::size_t>(i)]) * size_; };
    while (std::any_of(step_.turned.begin(), step_.turned.end(), [&](int i) { return turned_bytes(i) > most_turned; }) && halve()) {}
  }

  /// Several pieces for each thread, where there is work for more than one.
  void cut_for_threads() {
    const int threads = options_.threads > 0 ? std::min(options_.threads, m_.cores) : m_.cores;
    if (threads < 2 || std::max(step_.seconds, step_.memory_seconds) < least_shared) return;
    const auto pieces = [&] {
      std::int64_t n = 1;
      for (const step_axis& a : step_.axes) n *= divide_up(a.extent, a.tile);
      return n;
    };
    while (pieces() < 4 * threads && halve()) {}
  }

  void estimate() {
    const double count = elements(op_.c), width = static_cast<double>(m_.vector_bytes) / static_cast<double>(size_);
    step_.flops = count * pointwise_flops(op_);
    double cycles = count / width * pointwise_cycles(op_) + other_call_cycles;
    for (int i : step_.packed) cycles += elements(op_.inputs[static_cast<std::size_t>(i)]) * packing_cycles;
    for (int i : step_.turned) cycles += elements(op_.inputs[static_cast<std::size_t>(i)]) * turning_cycles;
    if (step_.buffer_c) cycles += count * packing_cycles;
    step_.seconds = cycles / cycles_per_second(m_);
    step_.memory_seconds = bytes() / stream_rate(bytes(), m_) / cycles_per_second(m_);
  }

  static constexpr std::int64_t most_packed = 1 << 16, most_turned = 1 << 18;  // bytes
  static constexpr double least_shared = 25e-6;                         // seconds
  static constexpr double packing_cycles = 0.6, turning_cycles = 0.4;   // of an element

  const pair_op& op_;
  const machine& m_;
  const options& options_;
  plan_step step_;
  std::int64_t size_ = 8;
  bool beyond_ = false;  // the last cache
};

/// A copy in memory, in another order perhaps.
bool is_permutation(const pair_op& op) {
  const bool first = op.b.where == operand::kind::one;
  const operand &from = first ? op.a : op.b, &unit = first ? op.b : op.a;
  return op.what == action::contract && op.alpha == coefficient{1, -1, {}} && unit.where == operand::kind::one && from.where == operand::kind::external &&
         op.c.where == operand::kind::external && !from.conj && from.type == op.c.type &&
         from.labels.size() == op.c.labels.size();
}

/// What a pointwise kernel turns in registers faster than a mover does, whose calls take long before they begin. Measured: 60 doubles, 250
/// floats a side, any number of complex doubles.
bool is_small_turn(const plan_step& s) {
  const auto size = static_cast<std::int64_t>(size_of(s.op.c.type));
  std::int64_t bytes = size;
  for (const step_axis& a : s.axes) bytes *= a.extent;
  constexpr std::int64_t few = 64;  // elements, which a mover's kernel copies one by one
  if (bytes <= few * size && s.axes.size() > 2) return false;
  // Many tiny matrices are no call each.
  std::int64_t matrix = 1;
  for (const step_axis& a : s.axes)
    if (a.label == s.lane_label || std::any_of(s.turned.begin(), s.turned.end(), [&](int i) { return stride_of(s.op.inputs[static_cast<std::size_t>(i)], a.label) == 1; })) matrix *= a.extent;
  if (!s.stream_c && matrix <= few && bytes >= 8 * matrix * size) return false;
  return !s.turned.empty() && s.packed.empty() && !s.buffer_c && (size == 16 || bytes <= (size == 4 ? 1 << 18 : 1 << 15));
}

/// A permutation as a pointwise step, if that is faster. shares: nothing that is read is written.
std::optional<plan_step> small_turn(pair_op op, bool shares, const std::vector<std::int64_t>& extents, const machine& m, const options& o) {
  make_pointwise(op);
  plan_step s = tiler(op, extents, m, o).run();
  if (!is_small_turn(s)) return {};
  s.repeats = shares && is_zero(op.beta);
  return s;
}

/// The input that is better copied first, in the order of the result, or -1: movers of whole tensors know short rows, tiles pack them row
/// by row. One as long as the result that tiles would pack, or any that lies another way round where they would keep the result aside.
/// Measured: level beyond the second cache.
int copied_first(const plan_step& s) {
  const pair_op& op = s.op;
  if (!is_wide(op.c)) return -1;
  const auto is_packed = [&](std::size_t i) { return std::find(s.packed.begin(), s.packed.end(), static_cast<int>(i)) != s.packed.end(); };
  const auto lies_as_c = [&](const operand& x) { return std::all_of(x.labels.begin(), x.labels.end(), [&](int l) { return stride_of(x, l) == stride_of(op.c, l); }); };
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if (const operand& x = op.inputs[i]; x.labels.size() == op.c.labels.size() && x.type == op.c.type && (s.buffer_c ? !lies_as_c(x) : is_packed(i))) return static_cast<int>(i);
  return -1;
}

}  // namespace

bool is_elementwise(const work& w) {
  const auto is_external = [](const operand& x) { return x.where == operand::kind::external; };
  return w.ops.size() == 1 && w.ops[0].what == action::pointwise && is_external(w.ops[0].c) &&
         std::all_of(w.ops[0].inputs.begin(), w.ops[0].inputs.end(), is_external);
}

segment lower_elementwise(const work& w, const std::vector<std::int64_t>& extents, const machine& m, const options& o) {
  const pair_op& op = w.ops[0];
  tiler tiles(op, extents, m, o);
  const bool stays = m.caches.size() > 1 && tiles.bytes() <= static_cast<double>(m.caches[1].bytes);
  segment s;
  s.steps.push_back(tiles.run());
  s.steps[0].repeats = w.shares && is_zero(op.beta);
  const int x = w.shares && stays ? copied_first(s.steps[0]) : -1;
  if (x < 0) return s;
  work copied = w;
  pair_op& rest = copied.ops[0];
  operand& from = rest.inputs[static_cast<std::size_t>(x)];
  operand t = new_copy(copied, op.c, outer_to_inner(op.c));
  const pair_op copy = copy_of(from, t, {0, -1, {}}, op.statement);
  t.conj = from.conj, from = std::move(t);
  plan_step last = tiler(rest, extents, m, o).run();
  if (last.buffer_c) return s;
  last.repeats = is_zero(op.beta);
  std::optional<plan_step> first = small_turn(copy, true, extents, m, o);
  s.steps = {first ? *std::move(first) : lower(copy, extents, {}, m, o), std::move(last)};
  s.temporaries = std::move(copied.temporaries);
  place_temporaries(s);
  return s;
}

std::optional<plan_step> lower_small_turn(const work& w, const std::vector<std::int64_t>& extents, const machine& m, const options& o) {
  if (w.ops.size() != 1 || !is_permutation(w.ops[0])) return {};
  return small_turn(w.ops[0], w.shares, extents, m, o);
}

}  // namespace ricci::planning
