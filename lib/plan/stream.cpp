// Results far larger than the caches are written past them: their lines need not be read before they are written.
#include <algorithm>
#include <tuple>

#include "plan/cost.hpp"
#include "plan/plan.hpp"
#include "plan/rows.hpp"

namespace ricci::planning {
namespace {

constexpr std::int64_t stream_piece = 2048, most_piece = 4096, most_whole = 8192;  // bytes that one call of the kernel leaves in the buffer

constexpr std::int64_t least_rows = 4, few_sums = 8, most_sums = 64, short_run = 128;  // of a piece of a result with axes outside; bytes

constexpr double least_fetched = 1e4;  // bytes of a block: smaller ones overlap by themselves

/// Whether the kernel writes rows of whole vectors: neighbours of c among the lanes and the columns.
bool whole_rows(const plan_step& s, const machine& m) {
  return row_of(s.axes, group::n) * static_cast<std::int64_t>(size_of(s.op.c.type)) % m.vector_bytes == 0;
}

/// In a chain of small blocks the caches of AMD processors write results back while the next block computes, where stores
/// past them hold up those of the next block; only a chain that mostly writes gains, in whole rows. On Intel the lines that
/// are read to be written cost half of the speed. Measured.
bool left_to_caches(const segment& g, const traffic& t, const plan_step& s, const machine& m) {
  if (!m.fetches_blocks || g.steps.size() < 2) return false;
  return t.in + t.out <= least_fetched && (t.out < 2 * t.in || !whole_rows(s, m));
}

/// Another step reads or writes the result of this one, by this name or another: the last line of a streamed piece may
/// still be on its way then.
bool is_shared(const plan& p, const segment& g, const plan_step& s) {
  int uses = 0;
  for (const plan_step& other : g.steps)
    for_each_operand(other.op, [&](const operand& x) { uses += x.where == s.op.c.where && x.id == s.op.c.id; });
  const bool overlaps = std::any_of(p.source.overlaps.begin(), p.source.overlaps.end(), [&](const overlap& x) {
    return x.verdict != overlap::kind::disjoint && (x.left_slot == s.op.c.id || x.other_slot == s.op.c.id);
  });
  return uses > 1 || (overlaps && !p.block_labels.empty());
}

bool reads_c(const pair_op& op) { return !is_zero(op.beta); }

/// Elements that are packed if pieces of c, with `tile` of the axis `cut` and one each of those outside, follow one another.
std::int64_t packed_again(const plan_step& s, const std::vector<step_axis*>& axes, std::size_t cut, std::int64_t tile, std::int64_t step_axis::*stride) {
  std::int64_t elements = 1, pieces = 1, tiles = 1;
  for (const step_axis& x : s.axes)
    if (x.role == group::k) elements *= x.extent;
  for (std::size_t i = 0; i < cut; ++i)
    if (axes[i]->*stride != 0) elements *= axes[i]->extent;
  for (std::size_t i = axes.size(); i-- > cut;) {
    pieces *= i == cut ? (axes[i]->extent + tile - 1) / tile : axes[i]->extent;
    if (axes[i]->*stride != 0) tiles = pieces;
  }
  return elements * (axes[cut]->*stride != 0 ? tile : 1) * tiles;
}

/// Bytes of a factor that are neighbours within a piece.
std::int64_t run_in_piece(const plan_step& s, const std::vector<step_axis*>& axes, std::size_t cut, std::int64_t tile, const operand& x, std::int64_t step_axis::*stride) {
  std::int64_t run = 1;
  for (bool grown = true; grown;) {
    grown = false;
    for (const step_axis& y : s.axes) {
      const auto at = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), &y) - axes.begin());
      const std::int64_t extent = y.role == group::k || at < cut ? y.extent : at == cut ? tile : 1;
      if (y.*stride == run && extent > 1) run *= extent, grown = true;
    }
  }
  return run * static_cast<std::int64_t>(size_of(x.type));
}

/// Makes loops of the axes outside of pieces that have `tile` of the axis `cut`, of `bytes` each. False if a piece has too few rows
/// for its sums, what is packed would be packed too often, or short runs of a large factor would be read.
bool cut_outside(plan_step& s, const std::vector<step_axis*>& axes, std::size_t cut, std::int64_t bytes, std::int64_t& tile, const machine& m) {
  std::int64_t rows = axes[cut]->role == group::m ? tile : 1, sums = 1, all = 1;
  for (std::size_t i = 0; i < cut; ++i)
    if (axes[i]->role == group::m) rows *= axes[i]->extent;
  for (const step_axis& x : s.axes) (x.role == group::k ? sums : all) *= x.extent;
  if (rows < least_rows && axes[cut]->role == group::m) {
    const std::int64_t more = std::min(least_rows / rows * tile, axes[cut]->extent);
    if (more * bytes <= most_whole) rows = rows / tile * more, tile = more;
  }
  if ((rows < least_rows && sums > few_sums) || sums > most_sums) return false;
  if (s.pack_a && packed_again(s, axes, cut, tile, &step_axis::a) > all / 4) return false;
  if (s.pack_b && packed_again(s, axes, cut, tile, &step_axis::b) > all / 4) return false;
  for (const auto& [x, stride, packed] : {std::tuple{&s.op.a, &step_axis::a, s.pack_a}, {&s.op.b, &step_axis::b, s.pack_b}}) {
    const bool large = bytes_of(*x, s.axes, stride) > 0.5 * static_cast<double>(m.caches[1].bytes);
    if (large && !packed && run_in_piece(s, axes, cut, tile, *x, stride) < short_run) return false;
  }
  for (std::size_t i = cut + 1; i < axes.size(); ++i) axes[i]->tile = 1;
  return true;
}

/// Cuts the axes of c so that a piece stays in the first cache, beside what else a chain has there. False if c is not dense or
/// cannot be cut.
bool cut_result(plan_step& s, bool alone, const machine& m) {
  const auto size = static_cast<std::int64_t>(size_of(s.op.c.type));
  std::vector<step_axis*> axes;
  for (step_axis& x : s.axes) {
    if (x.role == group::k && x.tile != x.extent) return false;
    if (x.role != group::k) axes.push_back(&x);
  }
  if (axes.empty()) return false;
  std::sort(axes.begin(), axes.end(), [](const step_axis* x, const step_axis* y) { return x->c < y->c; });
  std::int64_t all = 1;
  for (const step_axis* x : axes) {
    if (x->c != all) return false;
    all *= x->extent;
  }
  const auto is_whole = [](const step_axis* x) { return x->tile == x->extent; };
  if (std::all_of(axes.begin(), axes.end(), is_whole) && all * size <= most_whole) return true;
  const auto fits = [&](std::int64_t step) { return step * size <= (alone ? most_whole : most_piece); };
  // The axes within a piece, the one that is cut, and those outside, which the piece does not see.
  std::size_t cut = axes.size() - 1;
  std::int64_t step = all / axes[cut]->extent;
  const bool elementwise = s.lanes == kernels::lanes::batch && std::none_of(s.axes.begin(), s.axes.end(), [](const step_axis& x) { return x.role == group::k; });
  const bool problems = !elementwise && std::any_of(axes.begin(), axes.end(), [](const step_axis* x) { return x->role == group::batch; });
  while (alone && !problems && cut > 0 && !fits(step)) step /= axes[--cut]->extent;
  if (!fits(step) || (axes[cut]->label == s.lane_label && axes.size() > 1 && !elementwise)) return false;
  if (!std::all_of(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(cut), is_whole)) return false;
  std::int64_t tile = std::max<std::int64_t>(stream_piece / (step * size), 2 * step * size <= most_whole ? m.least_streamed : 1);
  if (axes[cut]->label == s.lane_label) tile = tile / 64 * 64;
  tile = std::min(tile, axes[cut]->tile);
  if (elementwise && tile < std::min(packed_line(s, s.op, *axes[cut]), axes[cut]->extent)) return false;
  if (tile == 0 || (cut + 1 < axes.size() && !cut_outside(s, axes, cut, step * size, tile, m))) return false;
  axes[cut]->tile = tile;
  if (cut + 1 < axes.size())  // one piece after the other, as they lie
    std::stable_sort(s.axes.begin(), s.axes.end(), [](const step_axis& x, const step_axis& y) {
      return x.role == group::k || y.role == group::k ? y.role == group::k && x.role != group::k : x.c > y.c;
    });
  return true;
}

/// Whether products of halves are to ask for what the next block reads and writes: for elements side by side, in memory or
/// in the scratch. The hardware follows elements as they lie better by itself. Measured.
bool halves_ask(const plan& p, const segment& g) {
  if (p.block_labels.empty()) return false;
  const auto product = std::find_if(g.steps.begin(), g.steps.end(), [](const plan_step& s) { return s.how == method::halves; });
  if (product == g.steps.end()) return false;
  bool across = true;
  for (const plan_step& s : g.steps)
    for_each_operand(s.op, [&](const operand& x) {
      const bool moves = x.where == operand::kind::external && has(x, p.block_labels.back());
      across = across && (!moves || has(x, product->lane_label));
    });
  return across;
}

/// A pointwise step between products asks for as many of the tensors that it reads as its share of the time is; the products
/// ask for the others.
void share_out(segment& g, int block_label) {
  double own = 0, all = 0;
  plan_step* joined = nullptr;
  std::vector<int> tensors;
  for (plan_step& s : g.steps) {
    const bool between = s.op.before.at >= 0 || s.op.after.at >= 0;
    if (between && !joined) joined = &s, own = s.seconds;
    if (between || s.how == method::halves) all += s.seconds;
    for_each_operand(s.op, [&](const operand& x) {
      const bool moves = x.where == operand::kind::external && has(x, block_label);
      if (moves && !contains(tensors, x.id)) tensors.push_back(x.id);
    });
  }
  if (!joined || all <= 0) return;  // nothing to do where an extent is 0
  auto left = static_cast<std::int64_t>(own / all * static_cast<double>(tensors.size()) + 0.5);
  for (const operand& x : joined->op.inputs)
    if (x.where == operand::kind::external && has(x, block_label) && left-- > 0) joined->asks_for.push_back(x.id);
}

/// A blocked product whose sums make one block leaves through its tiles, which are rows of whole lines.
bool leaves_blocks(const plan_step& s, const machine& m) {
  std::int64_t sums = 1;
  for (const step_axis& x : s.axes)
    if (x.role == group::k) sums *= x.extent;
  return s.how == method::blocked && m.writes_kernels && sums <= s.cut.sums && whole_rows(s, m) && !reads_c(s.op) && compute_type(s.op.c.type) == s.op.c.type;
}

/// A copy whose kernel writes whole lines past the caches where it can.
bool leaves_copies(const plan_step& s, const machine& m) {
  return s.how == method::move && !streams_read(m) && !reads_c(s.op) && s.op.b.type == s.op.c.type;
}

}  // namespace

bool streams_read(const machine& m) { return m.isa == "NEON" || m.isa == "SVE" || m.isa == "VSX"; }

traffic traffic_of(const segment& g, const std::vector<int>& block) {
  traffic t;
  for (const plan_step& s : g.steps) {
    const auto bytes = [&](const operand& x, std::int64_t step_axis::*stride) {
      if (x.where != operand::kind::external) return 0.0;
      const auto shared = [&](int l) { return !has(x, l); };
      if (!block.empty() && std::all_of(block.begin(), block.end(), shared)) return 0.0;
      double n = static_cast<double>(size_of(x.type));
      for (const step_axis& a : s.axes)
        if (a.*stride != 0) n *= static_cast<double>(a.extent);
      return has(x, s.slice_label) ? n * static_cast<double>(s.slices) : n;
    };
    t.in += bytes(s.op.a, &step_axis::a) + bytes(s.op.b, &step_axis::b) + bytes(s.op.scale, &step_axis::c);
    t.out += bytes(s.op.c, &step_axis::c);
  }
  return t;
}

bool asks_early(const segment& g, const traffic& t, const machine& m) {
  return m.fetches_blocks && g.steps.size() > 1 && t.in + t.out > least_fetched;
}

std::optional<plan_step> streamed(const segment& g, const traffic& t, const plan_step& s, const machine& m, bool apart) {
  const bool plain = s.how == method::direct && s.op.scale.where == operand::kind::one && s.lanes != kernels::lanes::k && !s.buffer_c && !s.apart &&
                     !reads_c(s.op) && (apart || s.op.c.where == operand::kind::external) && compute_type(s.op.c.type) == s.op.c.type;
  plan_step cut = s;
  const bool alone = apart || g.steps.size() == 1;
  if (streams_read(m) || !plain || (!alone && left_to_caches(g, t, s, m)) || !cut_result(cut, alone, m)) return {};
  keep_whole(cut, cut.op);
  cut.buffer_c = cut.stream_c = true;
  return cut;
}

/// Several rows, columns and sums.
bool multiplies_matrices(const plan_step& s) {
  std::int64_t rows = 1, columns = 1, sums = 1;
  for (const step_axis& x : s.axes) {
    if (x.role == group::m) rows *= x.extent;
    if (x.role == group::n) columns *= x.extent;
    if (x.role == group::k) sums *= x.extent;
  }
  return rows > 1 && columns > 1 && sums > 1;
}

/// What kernels ask for ahead. Measured with square products of 2 to 64 a side: in the second cache factors of short sums, as far as
/// two of them leave room in the first; in the third every result, which nothing else fetches, and small factors; in memory everything but large results. Steps of
/// chains ask for what they read: their results are written a row of the block at a time, far from each other.
fetching fetching_of(double bytes, const plan_step& s, bool alone, const machine& m) {
  constexpr int line = 64;
  if (s.in_pieces) return {line, std::int64_t{1} << 20, 0};  // a piece for the next one
  if (m.fetches_blocks && !multiplies_matrices(s)) return {};  // what is read once in order comes by itself
  if (s.how != method::direct || m.caches.size() < 2 || bytes < static_cast<double>(m.caches[0].bytes)) return {};
  if (bytes >= static_cast<double>(m.caches[1].bytes)) {
    if (!alone) return {m.asks.memory, m.asks.memory_factors, 0};
    return bytes >= 1.25 * last_cache(m) ? fetching{m.asks.memory, m.asks.memory_factors, m.asks.memory_results} : fetching{m.asks.third, m.asks.third_factors, m.asks.third_results};
  }
  std::int64_t sums = 1;
  for (const step_axis& x : s.axes)
    if (x.role == group::k) sums *= x.extent;
  const std::int64_t longest = size_of(s.op.c.type) == 8 && !reads_c(s.op) ? 20 : 7;
  return alone && s.lanes == kernels::lanes::n && sums <= longest ? fetching{m.asks.second, m.caches[0].bytes / 4, 0} : fetching{};
}

/// Steps that run one after the other, each in one piece: each by what it touches itself.
void stream_each(segment& g, const machine& m) {
  if (m.caches.size() < 2) return;
  for (plan_step& s : g.steps) {
    double bytes = 0;
    for (const auto& [x, stride] : {std::pair{&s.op.a, &step_axis::a}, {&s.op.b, &step_axis::b}, {&s.op.c, &step_axis::c}}) bytes += bytes_of(*x, s.axes, stride);
    s.ask = fetching_of(bytes, s, true, m);
    s.far = bytes >= static_cast<double>(m.caches[1].bytes);
    if (bytes < 1.25 * last_cache(m)) continue;
    if (leaves_blocks(s, m) || leaves_copies(s, m)) s.stream_c = true;
    else if (auto cut = streamed(g, {}, s, m, true)) s = std::move(*cut);
  }
}

void stream_results(plan& p, const machine& m) {
  if (p.block_labels.empty() && p.stages.empty() && p.segments[0].steps.size() > 1 && are_products(p.segments[0])) return stream_each(p.segments[0], m);
  for (segment& g : p.segments) {
    const auto are_small = [&](const traffic& t) { return t.in + t.out <= least_fetched; };
    const bool alone = g.steps.size() == 1, in_small_blocks = !alone && m.fetches_blocks && are_small(traffic_of(g, p.block_labels));
    for (plan_step& s : g.steps) s.ask = in_small_blocks ? fetching{} : fetching_of(p.bytes, s, alone, m);
  }
  if (m.caches.size() < 2 || p.bytes < static_cast<double>(m.caches[1].bytes)) return;
  const bool beyond = p.bytes >= 1.25 * last_cache(m);
  for (segment& g : p.segments) {
    const traffic t = traffic_of(g, p.block_labels);
    const bool halves = halves_ask(p, g);
    if (halves) share_out(g, p.block_labels.back());
    for (plan_step& s : g.steps) {
      s.far = true;
      s.fetch_next = s.how == method::halves ? halves : beyond && asks_early(g, t, m);
      if (!beyond) continue;
      if (is_shared(p, g, s)) continue;
      if (leaves_blocks(s, m) || (p.block_labels.empty() && leaves_copies(s, m))) s.stream_c = true;
      else if (auto cut = streamed(g, t, s, m)) s = std::move(*cut);
    }
  }
}

}  // namespace ricci::planning
