// Which kernels of a bound step are written at run time.
#include "codegen/apart.hpp"
#include "codegen/turns.hpp"
#include "engine/bound.hpp"
#include "plan/cost.hpp"
#include "plan/narrow.hpp"
#include "plan/turned_small.hpp"
#include "tune/tune.hpp"

#include <algorithm>
#include <optional>

namespace ricci {
namespace {

static_assert(planning::most_converted == codegen::most_staged && planning::most_dot_pieces == codegen::most_dot_pieces && planning::most_lone_pieces == codegen::most_lone_pieces);
static_assert(planning::most_apart_terms == codegen::most_apart_terms && planning::most_apart_step == codegen::most_apart_step);
constexpr std::int64_t most_in_order = 32 << 10;  // bytes
constexpr std::int64_t far_step = 1536;           // bytes
constexpr std::int64_t most_in_first = 20000;       // bytes of a piece that waits in the first cache beside the one before

/// What was measured for products of these extents: in a batch of them, contiguous and in the second cache. What is converted
/// on the way has other kernels than its compute type.
codegen::tile_choice tuned_tile(const bound_step& s, const kernels::contract_args& x) {
  if (s.lanes != kernels::lanes::n || s.in_parts || x.k_outer != 1 || s.type_a != s.type || s.type_b != s.type || s.type_c != s.type) return {};
  const bool reads_c = s.buffer_c < 0 && known_factor(s.beta) != codegen::factor::zero;
  return tune::find(tune::remembered(), {s.type, reads_c, x.row.extent, x.lane_extent, x.col.extent, x.k});
}

/// A copy between problems one after the other and some side by side: which neighbours go where.
std::optional<codegen::turn_request> turn_of(const kernels::move_args& g, dtype type) {
  codegen::turn_request r;
  r.size = static_cast<std::int64_t>(size_of(type));
  int loops = 0;
  bool x = false, y = false;
  for (int i = 0; i < g.axis_count; ++i) {
    const kernels::axis& a = g.axes[i];
    if (a.extent == 1) continue;
    if (a.c == 1 && a.b != 1 && !x) r.x = a.extent, r.from_x = a.b, x = true;
    else if (a.b == 1 && a.c != 1 && !y) r.y = a.extent, r.to_y = a.c, y = true;
    else if (loops == 2) return {};
    else r.loops[loops] = a.extent, r.from_loops[loops] = a.b, r.to_loops[loops] = a.c, ++loops;
  }
  if (!x || !y || std::min(r.x, r.y) > planning::most_side_by_side) return {};
  return r;
}

void generate_turn(bound_step& s, codegen::target t) {
  if (s.type_b != s.type_c || s.conj_b || known_factor(s.beta) != codegen::factor::zero || size_of(s.type_b) < 4) return;
  constexpr std::int64_t small = 8192, short_run = 8;  // bytes, elements: beyond, movers are as fast
  for (tile_args& x : s.tiles) {
    const auto turn = turn_of(x.store_c, s.type_b);
    if (!turn || (s.parallel && turn->x * turn->y * turn->size > small && (s.vector_bytes >= 64 || turn->y > short_run))) continue;
    x.first = codegen::make(*turn, t);
  }
}

/// What packs b, if that is small matrices to be turned: as planning::candidate::turned_cycles() has it.
std::shared_ptr<const codegen::kernel> packing_of(const bound_step& s, const tile_args& x, codegen::target t) {
  if (s.pack_b < 0 || s.lanes != kernels::lanes::n || s.type_b != s.type) return nullptr;
  auto turn = turn_of(x.pack_b, s.type);
  if (turn && x.contract.row.extent < 2 && !planning::is_turned_for_one_row(turn->y, turn->size, s.vector_bytes)) return nullptr;
  if (!turn || !planning::is_turned_small(turn->x, turn->from_x, turn->y, turn->size, s.vector_bytes)) return nullptr;
  turn->scratch = true;  // unless other matrices lie between the rows
  for (int l = 0; l < 2; ++l) turn->scratch = turn->scratch && (turn->loops[l] == 1 || turn->to_loops[l] >= turn->y * turn->to_y);
  return codegen::make(*turn, t);
}

/// Sums of one tensor whose numbers lie apart, such as diagonals: a kernel for each tile that reads them where they lie, and nothing is packed.
/// None, and false, unless all tiles have one.
bool generate_apart(bound_step& s, codegen::factor alpha, codegen::target t) {
  const bool plain = s.lanes == kernels::lanes::n && s.pack_b >= 0 && s.a.where == operand::kind::one && s.buffer_c < 0 && s.sum_count == 1 && !s.scaled && !s.conj_b && s.type_b == s.type && s.type_c == s.type;
  if (!plain) return false;
  std::vector<std::shared_ptr<const codegen::kernel>> made;
  for (const tile_args& x : s.tiles) {
    const kernels::contract_args& g = x.contract;
    if (g.row.extent != 1 || g.col.extent != 1 || g.loop_count != 0 || g.k_outer != 1 || x.pack_b.axis_count != 2) return false;
    const bool first = x.pack_b.axes[0].c == 1;
    const kernels::axis &lane = x.pack_b.axes[first ? 0 : 1], &sum = x.pack_b.axes[first ? 1 : 0];
    if (lane.c != 1 || lane.extent * (s.in_parts ? 2 : 1) != g.lane_extent || sum.extent != g.k) return false;
    made.push_back(codegen::make(codegen::apart_request{s.type, lane.extent, sum.extent, lane.b, sum.b, alpha, known_factor(s.beta)}, t));
    if (!made.back()) return false;
  }
  for (std::size_t i = 0; i < made.size(); ++i) s.tiles[i].first = std::move(made[i]);
  s.pack_b = -1, s.keep_b = false;
  s.in_place = s.free_count == 1;
  return true;
}

/// Steps between neighbours if all are alike and positive, else 0.
std::int64_t whole_step(const std::vector<std::int64_t>& offsets) {
  const std::int64_t step = offsets.size() > 1 ? offsets[1] - offsets[0] : 1;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] - offsets[i - 1] != step) return 0;
  return std::max<std::int64_t>(step, 0);
}

/// Which tiles of a blocked product go to c as they are.
void find_rows(bound_step& s) {
  blocked_product& x = s.blocked;
  x.plain = whole_step(x.lists.row_c) > 0 && whole_step(x.lists.col_c) == 1 && s.type == s.type_c;
  x.row_step = x.lists.row_c.size() > 1 ? std::max<std::int64_t>(x.lists.row_c[1] - x.lists.row_c[0], 0) : 1;
}

/// How the columns of each tile lie in c, and in which order the tiles of a block lie there.
void find_columns(bound_step& s) {
  blocked_product& x = s.blocked;
  if (x.plain && !x.streams) return;
  const std::vector<std::int64_t>& at = x.lists.col_c;
  const auto end = static_cast<std::int64_t>(at.size());
  const auto offset = [&](std::int64_t j) { return at[static_cast<std::size_t>(j)]; };
  for (std::int64_t j = 0; j < end; j += x.cut.tile_cols) {
    const std::int64_t last = std::min(j + x.cut.tile_cols, end);
    tile_columns y{false, static_cast<std::int32_t>(x.pieces_of_columns.size()), 0};
    for (std::int64_t n = j, run = 1; n < last; n += run, ++y.count) {
      for (run = 1; n + run < last && offset(n + run) == offset(n) + run;) ++run;
      x.pieces_of_columns.push_back({(n - j) * x.reals, offset(n) * x.reals, run * x.reals});
    }
    y.neighbours = y.count == 1 && s.type == s.type_c;
    x.columns.push_back(y);
  }
  const std::int64_t in_block = x.cut.cols / x.cut.tile_cols, tiles = static_cast<std::int64_t>(x.columns.size());
  for (std::int64_t t = 0; t < tiles; t += in_block) {
    const std::int64_t some = std::min(in_block, tiles - t), first = static_cast<std::int64_t>(x.order.size());
    for (std::int64_t i = 0; i < some; ++i) x.order.push_back(static_cast<std::int32_t>(i));
    std::sort(x.order.begin() + first, x.order.end(), [&](std::int32_t y, std::int32_t z) { return offset((t + y) * x.cut.tile_cols) < offset((t + z) * x.cut.tile_cols); });
  }
}

/// Tiles of a blocked product for every mixture of whole and last rows, columns and sums that it has.
void generate_blocked(bound_step& s, codegen::target t) {
  blocked_product& x = s.blocked;
  const cache_blocks& cut = x.cut;
  const auto rows = static_cast<std::int64_t>(x.lists.row_a.size()), cols = static_cast<std::int64_t>(x.lists.col_b.size());
  const auto sums = static_cast<std::int64_t>(x.lists.sum_a.size());
  codegen::request r;
  r.type = r.type_a = r.type_b = r.type_c = s.type;
  r.alpha = known_factor(s.alpha);
  if (r.alpha == codegen::factor::zero) r.alpha = codegen::factor::any;
  for (const bool last_rows : {false, true})
    for (const bool last_cols : {false, true})
      for (const bool last_sums : {false, true}) {
        const auto extent = [](bool last, std::int64_t n, std::int64_t tile) { return last ? n % tile : n >= tile ? tile : 0; };
        const std::int64_t m = extent(last_rows, rows, cut.tile_rows), n = extent(last_cols, cols, cut.tile_cols), k = extent(last_sums, sums, cut.sums);
        if (m == 0 || n == 0 || k == 0) continue;
        r.args = {};
        r.args.lane_extent = n;
        r.args.k = k, r.args.k_a = cut.tile_rows, r.args.k_b = cut.tile_cols;
        r.args.conj_a = s.conj_a, r.args.conj_b = s.conj_b;
        r.tile = {0, static_cast<int>(m), static_cast<int>(n * static_cast<std::int64_t>(size_of(s.type)) / s.vector_bytes)};
        for (const sums_into kind : {sums_into::first, sums_into::later, sums_into::buffer}) {
          if (kind == sums_into::later && sums <= cut.sums) continue;
          if (kind == sums_into::buffer ? x.plain && !x.streams : s.type != s.type_c || x.row_step == 0) continue;
          r.args.row = {m, 1, 0, kind == sums_into::buffer ? cut.tile_cols : x.row_step};
          r.beta = kind == sums_into::first ? known_factor(s.beta) : kind == sums_into::later ? codegen::factor::one : codegen::factor::zero;
          x.tile(last_rows, last_cols, last_sums, kind) = codegen::make(r, t);
        }
      }
  const std::int64_t row_step = whole_step(x.lists.row_a);
  if (row_step <= 1 || whole_step(x.lists.sum_a) != 1 || s.type_a != s.type || size_of(s.type) > 8) return;
  const auto size = static_cast<std::int64_t>(size_of(s.type));
  if (cut.tile_rows * size < 64) t = codegen::target::avx2;  // the rows fill no register of 64 bytes
  for (const bool last : {false, true}) {
    const std::int64_t k = last ? sums % cut.sums : sums >= cut.sums ? cut.sums : 0;
    if (k > 0) x.turn_a[last] = codegen::make(codegen::turn_request{size, cut.tile_rows, k, row_step, cut.tile_rows}, t);
  }
}

/// What goes past the caches from a buffer may go there from the kernel, where every piece of c stands at a line.
void generate_past(bound_step& s, const std::vector<codegen::request>& first, codegen::target t) {
  const bool straight = s.stream_c && s.buffer_c >= 0 && s.sum_count == 1 && s.type_a == s.type && s.type_b == s.type && s.type_c == s.type;
  const auto in_lines = [](std::int64_t step) { return step % 64 == 0; };
  if (!straight || !std::all_of(s.c.blocks.begin(), s.c.blocks.end(), in_lines)) return;
  if (!std::all_of(s.free_loops.begin(), s.free_loops.end(), [&](const outer_loop& l) { return in_lines(l.c); })) return;
  for (std::size_t i = 0; i < s.tiles.size(); ++i) {
    codegen::request r = first[i];
    r.past_caches = true;
    s.tiles[i].past = codegen::make(r, t);
    if (s.tiles[i].past) continue;
    for (tile_args& x : s.tiles) x.past = nullptr;
    return;
  }
}

}  // namespace

void generate_kernels(bound_step& s, const options& o) {
  const codegen::target t = codegen::best_target();
  if (s.how == method::move && !(s.parallel && s.stream_c && s.vector_bytes >= 64) && t != codegen::target::none) return generate_turn(s, t);
  if (s.how == method::blocked) {
    find_rows(s), find_columns(s);
    if (t != codegen::target::none) generate_blocked(s, t);
    return;
  }
  if (s.how != method::direct || t == codegen::target::none) return;
  codegen::request r;
  r.type = s.in_parts ? part_type(s.type) : s.type;
  r.lanes = s.lanes;
  r.type_a = s.in_parts || s.pack_a >= 0 || s.a.where == operand::kind::one ? r.type : s.type_a;
  r.type_b = s.in_parts || s.pack_b >= 0 || s.b.where == operand::kind::one ? r.type : s.type_b;
  r.type_c = s.in_parts || s.buffer_c >= 0 ? r.type : s.type_c;
  r.only_sums = s.lanes == kernels::lanes::n && s.a.where == operand::kind::one && !is_complex(r.type) && r.type_b == r.type;
  r.alpha = known_factor(s.alpha);
  if (r.alpha == codegen::factor::zero) r.alpha = codegen::factor::any;
  if (s.scaled) r.alpha = codegen::factor::tensor;
  const auto external = [&](const place& p) { return p.where == operand::kind::external; };
  const bool moves = s.scale.blocks.empty() || std::any_of(s.scale.blocks.begin(), s.scale.blocks.end(), [](std::int64_t step) { return step != 0; });
  if (s.scaled && external(s.scale) && moves) r.fetch_scale = s.ask.ahead;
  r.fetch_a = external(s.a) && s.pack_a < 0 ? s.ask.factors : 0, r.fetch_b = external(s.b) && s.pack_b < 0 ? s.ask.factors : 0;
  r.ask_rows = s.vector_bytes == 32 && s.far && external(s.a) && s.pack_a < 0;
  r.fetch_c = external(s.c) && s.buffer_c < 0 ? s.ask.result : 0;
  if (!s.free_loops.empty() && s.stream_c) {
    r.next_a = s.free_loops.back().a, r.next_b = s.free_loops.back().b;
  } else if (s.in_pieces) {
    r.next_a = s.sum_loops.back().a, r.next_b = s.sum_loops.back().b;
    r.next_to_second = std::max(std::abs(r.next_a), std::abs(r.next_b)) > most_in_first;
  } else if (s.free_count == 1) {
    const auto step = [](const place& p) { return p.blocks.size() == 1 ? p.blocks[0] : 0; };
    r.next_a = step(s.a), r.next_b = step(s.b);
  }
  if (generate_apart(s, r.alpha, t)) return;
  std::vector<codegen::request> first;  // of each tile
  for (tile_args& x : s.tiles) {
    r.args = x.contract;
    // Every tile of rows reads b again: in whole rows, if the first cache keeps those of a column.
    const kernels::contract_args& g = x.contract;
    const std::int64_t bytes_b = g.k * g.k_outer * g.lane_extent * static_cast<std::int64_t>(size_of(r.type));
    r.b_in_order = s.far && external(s.b) && s.pack_b < 0 && bytes_b <= most_in_order;
    // While a streamed result leaves nobody asks, so larger problems ask further ahead.
    const std::int64_t step = g.loop_count > 0 ? std::max(std::abs(g.loops[0].a), std::abs(g.loops[0].b)) * static_cast<std::int64_t>(size_of(r.type)) : 0;
    r.fetch_ahead = s.ask.ahead * (s.stream_c && s.buffer_c >= 0 && step >= far_step ? 2 : 1);
    r.tile = o.deterministic ? codegen::tile_choice{} : tuned_tile(s, x.contract);
    r.beta = s.buffer_c >= 0 ? codegen::factor::zero : known_factor(s.beta);
    x.first = codegen::make(r, t);
    first.push_back(r);
    x.turn_b = packing_of(s, x, t);
    const bool converted = s.lanes != kernels::lanes::k && (r.type_a != r.type || r.type_b != r.type);  // compiled dot products do that
    if (!x.first && (s.scaled || converted || r.type_c != r.type)) throw kernel_refused();
    if (s.sum_count == 1) continue;
    r.beta = codegen::factor::one;
    x.later = codegen::make(r, t);
  }
  generate_past(s, first, t);
  s.in_place = s.free_count == 1 && s.sum_count == 1 && s.tiles[0].first && s.pack_a < 0 && s.pack_b < 0 && s.buffer_c < 0;
}

}  // namespace ricci
