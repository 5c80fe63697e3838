// From plan steps to kernel arguments: strides inside tiles, fused axes, roles, tables of summed offsets, scratch.
#include <ricci/core/error.hpp>
#include <ricci/core/memory.hpp>

#include <algorithm>
#include <numeric>

#include "engine/chain.hpp"
#include "engine/flat.hpp"
#include "engine/inner.hpp"
#include "engine/other.hpp"
#include "engine/single.hpp"
#include "plan/rows.hpp"

namespace ricci {
namespace {

using kernels::lanes;

class step_binder {
 public:
  step_binder(const plan& p, const segment& s, const plan_step& step, const kernels::kernel_set& k)
      : plan_(p), segment_(s), step_(step), kernels_(k) {}

  bound_step run() {
    bound_step& b = out_;
    b.how = step_.how;
    b.lanes = step_.lanes;
    b.type = compute_type(step_.op.c.type);
    b.type_a = type_of(step_.op.a), b.type_b = type_of(step_.op.b), b.type_c = step_.op.c.type;
    b.conj_a = step_.op.a.conj, b.conj_b = step_.op.b.conj;
    b.a = place_of(step_.op.a), b.b = place_of(step_.op.b), b.c = place_of(step_.op.c);
    b.scale = place_of(step_.op.scale), b.scaled = step_.op.scale.where != operand::kind::one;
    b.alpha = step_.op.alpha, b.beta = step_.op.beta;
    b.seconds = std::max(step_.seconds, step_.memory_seconds);
    b.slices = step_.slices, b.slice_steps = step_.slice_steps;
    b.vector_bytes = kernels_.vector_bytes;
    b.keep_a = step_.keep_a, b.keep_b = step_.keep_b;
    b.contract = contract_of();
    const auto mover = [&](dtype from, dtype to) { return kernels_.move[static_cast<int>(from)][static_cast<int>(to)]; };
    b.move_a = mover(b.type_a, b.type), b.move_b = mover(b.type_b, b.type);
    b.move_c = mover(step_.how == method::move ? b.type_b : b.type, b.type_c);
    if (step_.stream_c) b.stream_c = kernels_.stream;
    b.far = step_.far, b.fetch_next = step_.fetch_next, b.ask = step_.ask, b.in_pieces = step_.in_pieces;
    const bool other = step_.op.what != action::contract || step_.how == method::halves;
    if (other) b.other = bind_other(plan_, segment_, step_, kernels_);
    else if (step_.how == method::blocked) bind_blocked();
    else bind_tiles();
    if ((b.in_parts = adds_parts())) b.contract = kernels_.contract[static_cast<int>(part_type(b.type))][static_cast<int>(lanes::n)];
    if (step_.in_tiles) {
      bytes_a = b.other->tile_bytes;
      for (const tile_loop& l : b.other->tile_loops) b.free_count *= l.count;
    }
    if (step_.how == method::halves) {
      bytes_a = codegen::halves_bytes(b.other->halves, b.type);
      b.keep_a = std::all_of(b.a.blocks.begin(), b.a.blocks.end(), [](std::int64_t x) { return x == 0; });
    }
    if (has_fibres(step_)) {
      bytes_a = fibres_bytes(*b.other, b.type);
      b.keep_a = std::all_of(b.other->ends.begin(), b.other->ends.end(), [&](const matrix_end& x) {
        const std::vector<std::int64_t>& moves = b.other->inputs[static_cast<std::size_t>(x.input)].blocks;
        return std::all_of(moves.begin(), moves.end(), [](std::int64_t y) { return y == 0; });
      });
    }
    return std::move(out_);
  }

  /// Bytes this step needs for packing, by operand; assigned to places by the caller.
  std::int64_t bytes_a = 0, bytes_b = 0, bytes_c = 0;

 private:
  dtype type_of(const operand& x) const { return x.where == operand::kind::one ? compute_type(step_.op.c.type) : x.type; }

  place place_of(const operand& x) const { return ricci::place_of(plan_, segment_, x, step_.slice_label); }

  /// Dot products convert what is stored in 16 bits and lies along the lanes; packed operands are converted.
  kernels::contract_fn contract_of() const {
    const auto is_narrow = [&](dtype t, bool packed) { return !packed && t != out_.type; };
    if (step_.lanes != lanes::k || !is_narrow(out_.type_b, step_.pack_b)) return kernels_.contract[static_cast<int>(out_.type)][static_cast<int>(step_.lanes)];
    return kernels_.narrow_dots[out_.type_b == dtype::bf16][is_narrow(out_.type_a, step_.pack_a)];
  }

  void add_outer(const step_axis& x, std::int64_t tile, int tail_bit) {
    const auto bytes = [](std::int64_t stride, std::int64_t count, dtype t) {
      return stride * count * static_cast<std::int64_t>(size_of(t));
    };
    if (x.part != 0) {
      const std::int64_t tiles = x.part_extent / tile, parts = divide_up(x.extent, x.part_extent), all = divide_up(x.extent, tile);
      out_.free_loops.push_back({parts, bytes(x.a, x.part_extent, out_.type_a), bytes(x.b, x.part_extent, out_.type_b), bytes(x.part, 1, out_.type_c), last_part});
      out_.sum_loops.insert(out_.sum_loops.begin(), {tiles, bytes(x.a, tile, out_.type_a), bytes(x.b, tile, out_.type_b), 0, 0});
      out_.free_count *= parts, out_.sum_count *= tiles;
      out_.last_tiles = all - (parts - 1) * tiles, out_.last_tail = tail_bit;
      return;
    }
    outer_loop l{divide_up(x.extent, tile), bytes(x.a, tile, out_.type_a), bytes(x.b, tile, out_.type_b), bytes(x.c, tile, out_.type_c), tail_bit};
    if (l.count == 1) return;
    const bool sums = x.role == group::k;
    (sums ? out_.sum_loops : out_.free_loops).push_back(l);
    (sums ? out_.sum_count : out_.free_count) *= l.count;
  }

  /// Strides of a packed operand: the axes that move it, innermost first in the given order; `pitch` from one row of lanes to the next, 0: its extent.
  template <class Moves, class Set>
  std::int64_t pack(std::vector<inner_axis>& axes, const std::vector<std::size_t>& order, Moves moves, Set set, std::int64_t pitch = 0) {
    std::int64_t step = 1;
    for (std::size_t i : order) {
      if (!moves(axes[i])) continue;
      set(axes[i].eff, step);
      step *= axes[i].is_lane && pitch > 0 ? pitch : axes[i].eff.extent;
    }
    return step;
  }

  /// Axis indices with the lane axis first, then by the groups given, each by growing stride of c (or of a and b).
  std::vector<std::size_t> order(const std::vector<inner_axis>& axes, std::initializer_list<group> groups) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i].is_lane) out.push_back(i);
    for (group g : groups) {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < axes.size(); ++i)
        if (!axes[i].is_lane && axes[i].role == g) members.push_back(i);
      const auto key = [&](std::size_t i) {
        const axis& r = axes[i].raw;
        return r.c != 0 ? std::abs(r.c) : std::abs(r.b) + std::abs(r.a);
      };
      std::stable_sort(members.begin(), members.end(), [&](std::size_t x, std::size_t y) { return key(x) < key(y); });
      out.insert(out.end(), members.begin(), members.end());
    }
    return out;
  }

  /// Axis indices by growing steps of a: its elements are broadcast one by one, so any order does, and this one is a copy.
  static std::vector<std::size_t> as_in_memory(const std::vector<inner_axis>& axes) {
    std::vector<std::size_t> out(axes.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t x, std::size_t y) { return std::abs(axes[x].raw.a) < std::abs(axes[y].raw.a); });
    return out;
  }

  bool make_tile(const std::vector<step_axis>& axes, int tails, tile_args& out) {
    std::vector<inner_axis> inner;
    int bit = 0;
    for (const step_axis& x : axes) {
      const bool cut = x.tile < x.extent, ragged = cut && x.extent % x.tile;
      const std::int64_t extent = ragged && (tails >> bit & 1) ? x.extent % x.tile : x.tile;
      if (ragged) ++bit;
      if (extent == 1 && x.label != step_.lane_label) continue;
      inner_axis a;
      a.eff = a.raw = {extent, x.a, x.b, x.c};
      a.is_lane = x.label == step_.lane_label;
      a.role = x.role;
      inner.push_back(a);
    }
    using enum group;
    const bool lane_in_a = step_.lanes != lanes::n;
    const std::int64_t size = static_cast<std::int64_t>(size_of(out_.type));
    if (step_.pack_a) {
      for (inner_axis& x : inner) x.eff.a = 0;
      bytes_a = std::max(bytes_a, size * pack(inner, lane_in_a ? order(inner, {m, k, batch, n}) : as_in_memory(inner),
                                              [&](const inner_axis& x) { return x.raw.a != 0 || (x.is_lane && lane_in_a); },
                                              [](axis& x, std::int64_t s) { x.a = s; }));
    }
    if (step_.pack_b) {
      for (inner_axis& x : inner) x.eff.b = 0;
      const bool rows = step_.lanes == lanes::n && !step_.buffer_c, turned = step_.lanes == lanes::n && out_.type_b == out_.type && turns_b(inner, size, out_.vector_bytes);
      bytes_b = std::max(bytes_b, size * pack(inner, turned ? order(inner, {n, k, batch, m}) : order(inner, {n, batch, k, m}),
                                              [](const inner_axis& x) { return x.raw.b != 0 || x.is_lane; },
                                              [](axis& x, std::int64_t s) { x.b = s; }, rows ? row_pitch(inner, size, out_.vector_bytes, turned) : 0));
    }
    if (step_.stream_c && step_.buffer_c) {  // the buffer has the layout of c
      out.stream_bytes = size;
      for (const inner_axis& x : inner)
        if (x.raw.c != 0) out.stream_bytes *= x.raw.extent;
      bytes_c = std::max(bytes_c, out.stream_bytes);
    } else if (step_.buffer_c)
      bytes_c = std::max(bytes_c, size * pack(inner, order(inner, {n, m, batch}),
                                              [](const inner_axis& x) { return x.raw.c != 0; },
                                              [](axis& x, std::int64_t s) { x.c = s; }));
    return make_moves(inner, out) && make_contract(fused(inner), out.contract);
  }

  bool make_moves(const std::vector<inner_axis>& inner, tile_args& out) const {
    const auto list = [&](auto from, auto to, auto used) {
      std::vector<inner_axis> axes;
      for (const inner_axis& x : inner)
        if (used(x)) axes.push_back(x), axes.back().eff.b = from(x), axes.back().eff.c = to(x);
      return axes;
    };
    bool fits = true;
    if (step_.pack_a)
      fits = fits && make_move(list([](const auto& x) { return x.raw.a; }, [](const auto& x) { return x.eff.a; },
                                    [](const auto& x) { return x.eff.a != 0; }), out.pack_a);
    if (step_.pack_b)
      fits = fits && make_move(list([](const auto& x) { return x.raw.b; }, [](const auto& x) { return x.eff.b; },
                                    [](const auto& x) { return x.eff.b != 0; }), out.pack_b);
    if (step_.buffer_c && !step_.stream_c)
      fits = fits && make_move(list([](const auto& x) { return x.eff.c; }, [](const auto& x) { return x.raw.c; },
                                    [](const auto& x) { return x.eff.c != 0; }), out.store_c);
    out.store_c.streams = step_.how == method::move && step_.stream_c;
    if (step_.how == method::move)
      fits = fits && make_move(list([](const auto& x) { return x.raw.b; }, [](const auto& x) { return x.raw.c; },
                                    [](const auto&) { return true; }), out.store_c);
    return fits;
  }

  bool make_contract(std::vector<inner_axis> axes, kernels::contract_args& out) {
    if (step_.how == method::move) return true;
    std::vector<axis> sums, rest;
    const bool rows_by_result = step_.far && planning::rows_by_result(step_, step_.op.a, &step_axis::a);
    const bool cols_by_result = step_.far && planning::rows_by_result(step_, step_.op.b, &step_axis::b);
    const std::int64_t size = static_cast<std::int64_t>(size_of(out_.type)), sweep = step_.lanes == lanes::n ? first_cache / size : 0;
    const auto take = [&](std::vector<axis>& from, const tile_axis& wanted, auto fits, axis& to) {
      const std::size_t best = wanted.among(from, fits);
      if (best == from.size()) return;
      to = from[best];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(best));
    };
    for (const inner_axis& x : axes) {
      if (x.is_lane) out.lane_extent = x.eff.extent, out.ones_a = step_.lanes == lanes::k && step_.op.a.where == operand::kind::one;
      else (x.eff.c == 0 ? sums : rest).push_back(x.eff);
    }
    take(rest, {8, rows_by_result, sweep}, [](const axis& x) { return x.b == 0 && x.a != 0; }, out.row);
    take(rest, {8, cols_by_result, sweep}, [](const axis& x) { return x.a == 0 && x.b != 0; }, out.col);
    const planning::lines_touched lines{out.row.extent, out.col.extent, step_.lanes == lanes::n ? out.lane_extent : 1, size};
    if (!sums.empty()) {
      const auto along = sums.begin() + static_cast<std::ptrdiff_t>(lines.along(sums));
      out.k = along->extent, out.k_a = along->a, out.k_b = along->b;
      sums.erase(along);
    }
    std::sort(sums.begin(), sums.end(), [&](const axis& x, const axis& y) { return lines.distance(x) < lines.distance(y); });
    if (rest.size() > kernels::max_loops) return false;
    std::sort(rest.begin(), rest.end(), [](const axis& x, const axis& y) { return std::abs(x.c) < std::abs(y.c); });
    out.loop_count = static_cast<int>(rest.size());
    std::copy(rest.begin(), rest.end(), out.loops);
    out.conj_a = out_.conj_a, out.conj_b = out_.conj_b;
    add_sum_table(sums, out);
    if (adds_parts()) to_parts(out);
    return true;
  }

  /// Sums of complex numbers, which are those of their parts: 1 + 0i times infinity would be NaN, and the work twice as much.
  bool adds_parts() const {
    const pair_op& op = step_.op;
    return is_complex(out_.type) && step_.how == method::direct && step_.lanes == lanes::n && op.a.where == operand::kind::one && !op.b.conj &&
           op.b.type == op.c.type && is_known(op.alpha) && is_known(op.beta) && !out_.scaled && !step_.pack_a;
  }

  /// Strides of complex numbers become those of parts, which are neighbours along the lanes. All of a are 0.
  static void to_parts(kernels::contract_args& g) {
    g.lane_extent *= 2, g.k_b *= 2;
    for (kernels::axis* x : {&g.row, &g.col}) x->b *= 2, x->c *= 2;
    for (int i = 0; i < g.loop_count; ++i) g.loops[i].b *= 2, g.loops[i].c *= 2;
  }

  /// The offsets of all summed axes but the inner one. Pointers are set when the step has its final address.
  void add_sum_table(const std::vector<axis>& sums, kernels::contract_args& out) {
    out.k_outer = 1;
    for (const axis& x : sums) out.k_outer *= x.extent;
    if (out.k_outer == 1) return;
    if (out.k_outer > std::int64_t{1} << 26) throw error(errc::no_memory, "too many summed axes that do not nest");
    const std::size_t at = out_.offsets.size(), n = static_cast<std::size_t>(out.k_outer);
    out_.offsets.resize(at + 2 * n);
    for (std::size_t i = 0; i < n; ++i) {
      std::int64_t rest = static_cast<std::int64_t>(i), a = 0, b = 0;
      for (const axis& x : sums) a += rest % x.extent * x.a, b += rest % x.extent * x.b, rest /= x.extent;
      if (adds_parts()) b *= 2;
      out_.offsets[at + i] = a, out_.offsets[at + n + i] = b;
    }
    out.k_outer_a = reinterpret_cast<const std::int64_t*>(at);      // positions for now; see resolve_tables
    out.k_outer_b = reinterpret_cast<const std::int64_t*>(at + n);
  }

  void bind_tiles() {
    std::vector<step_axis> axes = step_.axes;
    for (;;) {
      out_.free_loops.clear(), out_.sum_loops.clear(), out_.offsets.clear();
      out_.free_count = out_.sum_count = 1;
      int bits = 0;
      for (const step_axis& x : axes) {
        const bool ragged = x.tile < x.extent && x.extent % x.tile;
        add_outer(x, x.tile, ragged ? 1 << bits : 0);
        bits += ragged;
      }
      if (bits > 12) throw error(errc::no_memory, "more than 12 axes of a step are cut");
      out_.tiles.assign(std::size_t{1} << bits, {});
      bool fits = true;
      for (int t = 0; t < (1 << bits) && fits; ++t) fits = make_tile(axes, t, out_.tiles[t]);
      if (fits) return;
      // Too many axes for one kernel call: the one with the largest steps becomes a loop outside; a summed one if there
      // is no other, and if sums of parts keep their precision in c.
      step_axis* widest = nullptr;
      const auto is_wider = [](const step_axis& x, const step_axis& y) {
        return x.role == group::k ? std::abs(x.a) + std::abs(x.b) > std::abs(y.a) + std::abs(y.b) : std::abs(x.c) > std::abs(y.c);
      };
      const bool adds = step_.buffer_c || out_.type_c == out_.type;
      for (const bool sums : {false, true})
        for (step_axis& x : axes)
          if (x.tile > 1 && (x.role == group::k) == sums && x.part == 0 && (adds || !sums) && x.label != step_.lane_label &&
              (!widest || (widest->role == x.role && is_wider(x, *widest))))
            widest = &x;
      if (!widest) throw error(errc::no_memory, "a step has more axes than its kernel can take");
      widest->tile = 1;
      out_.keep_a = out_.keep_a && widest->a == 0, out_.keep_b = out_.keep_b && widest->b == 0;
    }
  }

  void bind_blocked() {
    blocked_product& y = out_.blocked;
    y.lists = flattened(step_);
    y.cut = step_.cut;
    y.streams = step_.stream_c;
    const std::size_t size = size_of(out_.type);
    if (size <= 8) y.turn = kernels_.turn[size == 8], y.pieces = kernels_.pieces[size == 8];
    y.reals = is_complex(out_.type) ? 2 : 1;
    if (out_.type_c == out_.type) y.spread = kernels_.pieces[size / static_cast<std::size_t>(y.reals) == 8];
    if (y.reals == 2)
      for (std::int64_t row : y.lists.row_c) y.real_rows.push_back(2 * row);
    for (const step_axis& x : step_.axes)
      if (x.role == group::batch) add_outer(x, 1, 0);
    bytes_a = blocked_scratch(out_);
  }

  const plan& plan_;
  const segment& segment_;
  const plan_step& step_;
  const kernels::kernel_set& kernels_;
  bound_step out_;
};

void resolve_tables(bound_step& s) {
  for (tile_args& t : s.tiles) {
    if (t.contract.k_outer == 1) continue;
    t.contract.k_outer_a = s.offsets.data() + reinterpret_cast<std::uintptr_t>(t.contract.k_outer_a);
    t.contract.k_outer_b = s.offsets.data() + reinterpret_cast<std::uintptr_t>(t.contract.k_outer_b);
  }
}

/// Bytes of temporaries that are asked for, and given back, before lists as long as they are written.
constexpr std::int64_t large_scratch = std::int64_t{1} << 30;

}  // namespace

bound_plan bind(const plan& p, const kernels::kernel_set& kernels, const options& o) {
  bound_plan out;
  out.has_blocks = !p.block_labels.empty();
  std::int64_t shared = 0;  // packs that live for one step, at the start of the thread's scratch
  std::vector<std::int64_t*> kept;
  std::vector<std::int64_t> kept_bytes;
  for (const segment& s : p.segments) {
    bound_segment& segment = out.segments.emplace_back();
    segment.block = s.block;
    segment.steps.reserve(s.steps.size());
    out.temporaries_bytes = std::max(out.temporaries_bytes, s.scratch_bytes);
    if (s.scratch_bytes > large_scratch) detail::release(detail::allocate(static_cast<std::size_t>(s.scratch_bytes), 4096, false, "a workspace"));
    for (const plan_step& step : s.steps) {
      step_binder binder(p, s, step, kernels);
      segment.steps.push_back(binder.run());
      bound_step& b = segment.steps.back();
      out.scatters = out.scatters || b.how == method::scatter;
      resolve_tables(b);
      std::int64_t at = 0;
      const auto assign = [&](std::int64_t& where, std::int64_t bytes, bool keep) {
        if (bytes == 0) return;
        bytes = round_up(bytes + 64, 64);
        if (keep) {
          kept.push_back(&where);
          kept_bytes.push_back(bytes);
        } else {
          where = at;
          at += bytes;
        }
      };
      assign(b.pack_a, binder.bytes_a, b.keep_a);
      assign(b.pack_b, binder.bytes_b, b.keep_b);
      const bool late = out.has_blocks && step.stream_c;  // the last line may wait for the next block
      assign(b.buffer_c, step.stream_c ? line_writer::needs(binder.bytes_c) : binder.bytes_c, late);
      shared = std::max(shared, at);
      b.parallel = !out.has_blocks;
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) *kept[i] = shared, shared += kept_bytes[i];
  for (bound_segment& s : out.segments) {
    for (bound_step& b : s.steps) generate_kernels(b, o);
    generate_halves(s);
  }
  out.packs_bytes = shared;
  if (out.has_blocks)
    for (const bound_segment& s : out.segments) out.runs_bytes = std::max(out.runs_bytes, kept_runs::bytes(s.steps.size()));
  for (int l : p.block_labels) out.block_counts.push_back(p.source.labels[l].extent);
  if (out.has_blocks) out.block_counts.back() /= p.segments[0].block;
  out.max_threads = o.threads;
  out.calls = calls_of(out, kernels);
  const auto needs_scratch = [](const single_call& x) { return x.needs_scratch(); };
  if (std::any_of(out.calls.begin(), out.calls.end(), needs_scratch)) out.calls_bytes = out.temporaries_bytes + out.packs_bytes;
  return out;
}

}  // namespace ricci
