// From a request to registers, tiles and loops.
#include "codegen/nest.hpp"
#include "codegen/tile_cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ricci::codegen {
namespace {

using kernels::lanes;

/// Multiply-adds that are written one after the other before loops are preferred: the code has to fit the cache of
/// decoded instructions, and the time to write it must stay small.
constexpr std::int64_t most_unrolled = 1400, most_in_tile = 700;
constexpr std::int64_t most_with_requests = 1024;  // the same in a tile that asks ahead: between written steps lines are asked for one by one

constexpr tail_kind tail_kinds[] = {tail_kind::lanes, tail_kind::sums, tail_kind::packed};

/// More columns than are listed are listed in parts, in a loop.
constexpr std::int64_t most_columns = 4096, columns_of_part = 1024;

constexpr std::int64_t most_offset = std::int64_t{1} << 30;

/// 16-bit numbers in memory, floats in registers.
bool is_narrow(const request& r) { return r.type_a != r.type || r.type_b != r.type || r.type_c != r.type; }

/// The registers that hold `reals` neighbouring lanes: whole ones, then the narrowest that holds the rest.
std::vector<lane_vector> chunks(std::int64_t reals, const geometry& g) {
  std::vector<lane_vector> out;
  const int width = g.vector / g.real;
  std::int64_t at = 0;
  for (; at + width <= reals; at += width) out.push_back({at * g.real_b, at * g.real_c, width, g.vector});
  if (const int rest = static_cast<int>(reals - at); rest > 0) {
    int bytes = g.vector;
    while (bytes > 16 && rest * g.real <= bytes / 2) bytes /= 2;
    out.push_back({at * g.real_b, at * g.real_c, rest, bytes});
  }
  return out;
}

/// The last columns as summed_tail, if they and the request allow it.
std::optional<summed_tail> tail_of(const request& r, const lane_vector& last, const geometry& g) {
  const kernels::contract_args& x = r.args;
  const std::int64_t width = g.vector / g.real;
  if (r.lanes != lanes::n || is_complex(r.type) || is_narrow(r)) return {};
  if (x.col.extent != 1 || x.k_outer != 1 || x.k_a != 1 || x.k < width || last.count > 16 / g.real) return {};
  summed_tail s{last.count, last.count > 2 ? 4 : last.count, g.vector, last.b, last.c, x.k / width, x.k % width};
  const std::int64_t registers = s.blocks * s.group + s.rest + s.rows_at_once(g.real) + 1;
  if (registers > g.registers || x.row.extent * (s.blocks * s.group + s.rest) > most_unrolled) return {};
  return s;
}

/// The same as packed_tail.
std::optional<packed_tail> packed_of(const request& r, target t, const lane_vector& last, const geometry& g) {
  const kernels::contract_args& x = r.args;
  if (t != target::avx512 || g.vector != 64 || r.lanes != lanes::n || is_narrow(r)) return {};
  if (x.col.extent != 1 || x.k_outer != 1 || x.k_a != 1 || last.count * g.real > 32) return {};
  if (is_complex(r.type) && ((r.alpha != factor::one && r.alpha != factor::minus_one) || r.beta == factor::any)) return {};
  packed_tail p;
  const int number = g.real * g.sets;
  p.columns = last.count / g.sets, p.group = last.count * g.real > 16 ? 32 / number : 16 / number, p.steps = 64 / number / p.group;
  p.b = last.b, p.c = last.c, p.chunks = x.k / p.steps, p.rest = x.k % p.steps;
  p.alone = x.lane_extent == p.columns;
  if (p.chunks < 2 || (g.sets == 2 && x.k < 8)) return {};
  if (p.alone) return p.columns > 1 && x.k_b == p.columns ? std::optional(p) : std::nullopt;
  constexpr std::int64_t most_bytes = 32768;  // of b, whose lines the last columns read again
  if (x.row.extent * (p.chunks + p.rest) > most_unrolled || x.k * std::abs(x.k_b) * number > most_bytes) return {};
  return p;
}

/// The cheapest tile; of those as wide as b if it is to be read in order; or the one that was asked for, if it fits.
/// far: tiles read from beyond the first cache, so that few loads are worth a little.
void choose_tile(nest& n, const std::vector<costed_tile>& tiles, const tile_choice& wanted, bool in_order, bool far) {
  if (n.vectors.empty()) return;
  n.tile_rows = n.tile_vectors = 0;
  if (tiles.empty()) return;
  n.tile_rows = tiles[0].rows, n.tile_vectors = tiles[0].vectors;
  if (in_order) {
    const auto all = static_cast<int>(n.vectors.size());
    const auto wide = std::find_if(tiles.begin(), tiles.end(), [&](const costed_tile& x) { return x.vectors == all; });
    if (wide != tiles.end()) n.tile_rows = wide->rows, n.tile_vectors = wide->vectors;
    in_order = wide != tiles.end();
  }
  if (far) {
    // For each multiply-add, those of b twice: they come from further away.
    const auto loads = [&](int rows, int vectors) {
      return 2.0 * std::ceil(static_cast<double>(n.rows) / rows) / static_cast<double>(n.rows) + 1.0 / vectors;
    };
    for (const costed_tile& x : tiles)
      if ((!in_order || x.vectors == n.tile_vectors) && x.cost <= 1.2 * tiles[0].cost &&
          loads(x.rows, x.vectors) < 0.999 * loads(n.tile_rows, n.tile_vectors))
        n.tile_rows = x.rows, n.tile_vectors = x.vectors;
  }
  if (in_order || far) return;
  for (const costed_tile& x : tiles)
    if (x.rows == wanted.rows && x.vectors == wanted.vectors) n.tile_rows = x.rows, n.tile_vectors = x.vectors;
}

/// Loops of one are dropped, nested ones fused.
void add_loop(std::vector<code_loop>& loops, const code_loop& x) {
  if (x.count == 1) return;
  if (!loops.empty()) {
    code_loop& l = loops.back();
    if (x.a == l.a * l.count && x.b == l.b * l.count && x.c == l.c * l.count) {
      l.count *= x.count;
      return;
    }
  }
  loops.push_back(x);
}

std::int64_t reach(std::int64_t count, std::int64_t stride) { return (count - 1) * std::abs(stride); }

/// Every offset that becomes a displacement is small enough.
bool fits(const nest& n) {
  std::int64_t a = reach(n.rows, n.row_a) + reach(n.k, n.k_a), b = reach(n.k, n.k_b), c = reach(n.rows, n.row_c);
  std::int64_t vb = 0, vc = 0, oa = 0, ob = 0;
  for (const lane_vector& v : n.vectors) vb = std::max(vb, std::abs(v.b)), vc = std::max(vc, std::abs(v.c));
  for (const auto& [x, y] : n.outer) oa = std::max(oa, std::abs(x)), ob = std::max(ob, std::abs(y));
  if (n.tail) vb = std::max(vb, n.tail->b), vc = std::max(vc, n.tail->c);
  if (n.packed) vb = std::max(vb, n.packed->b), vc = std::max(vc, n.packed->c);
  bool small = a + oa < most_offset && b + vb + ob < most_offset && c + vc < most_offset && n.start < most_offset;
  for (const std::optional<staged_block>& s : {n.stage_a, n.stage_b}) small = small && (!s || reach(s->rows + 1, s->from) < most_offset);
  for (const code_loop& l : n.loops)
    for (std::int64_t s : {l.a, l.b, l.c}) small = small && std::abs(s) < most_offset && std::abs(s * l.count) < most_offset && l.count < most_offset;
  return small;
}

bool asks_ahead(const request& r, const nest& n) {
  const code_loop once{1, r.next_a, r.next_b, 0}, &l = n.loops.empty() ? once : n.loops[0];
  const auto asks = [](std::int64_t step, std::int64_t most) { return step != 0 && std::abs(step) <= most; };
  return r.fetch_ahead > 0 && (asks(l.a, r.fetch_a) || asks(l.b, r.fetch_b) || asks(l.c, r.fetch_c));
}

void decide_loops(nest& n, const geometry& g, bool asks) {
  const auto vectors = static_cast<std::int64_t>(n.vectors.size());
  const std::int64_t sums = n.k * static_cast<std::int64_t>(n.outer.size());
  n.whole_sums = sums * n.tile_rows * n.tile_vectors * g.sets <= (asks ? most_with_requests : most_in_tile) && sums <= 512;
  const std::int64_t written = n.rows * vectors * g.sets * (n.whole_sums ? sums + 2 : 8);
  n.unrolled = written <= most_unrolled || (n.rows <= n.tile_rows && vectors <= n.tile_vectors);
  if (n.unrolled || !n.whole_sums) return;
  // Tiles run in loops now; distinct ones are at most four.
  const std::int64_t distinct = asks ? static_cast<std::int64_t>(runs_of(n.rows, n.tile_rows).size() * runs_of(vectors, n.tile_vectors).size()) : 4;
  if (distinct * sums * n.tile_rows * n.tile_vectors * g.sets > 2 * most_unrolled) n.whole_sums = false;
}

}  // namespace

std::vector<tile_run> runs_of(std::int64_t n, std::int64_t tile) {
  const std::int64_t tiles = (n + tile - 1) / tile, size = n / tiles, more = n - size * tiles;
  std::vector<tile_run> out;
  if (more > 0) out.push_back({0, size + 1, more});
  out.push_back({more * (size + 1), size, tiles - more});
  return out;
}

namespace {

/// What no code is written for, however its tiles are.
bool is_refused(const request& r, target t, tail_kind tail) {
  const kernels::contract_args& x = r.args;
  if (t == target::none || r.lanes == lanes::k || x.k_outer > 65536 || x.lane_extent > 1 << 20) return true;
  const bool narrow = is_narrow(r), in_rows = tail != tail_kind::sums && tail != tail_kind::packed;
  if (r.alpha == factor::tensor && (narrow || is_complex(r.type) || !in_rows)) return true;
  return narrow && (t != target::avx512 || r.lanes != lanes::n || r.type != dtype::f32);
}

/// The nests of a request that is not refused, without their tiles.
class nest_maker {
 public:
  nest_maker(const request& r, target t) : r_(r), x_(r.args), t_(t), g_(geometry_of(r, t)), pieces_(chunks(x_.lane_extent * g_.sets, g_)) {}

  /// None if the last columns cannot be done in that way.
  std::vector<nest> make(tail_kind tail) {
    if (!take_rows_and_sums() || !take_last_columns(tail) || pieces_.size() > 4096) return {};
    if (r_.lanes == lanes::n && pieces_.size() == 1 && x_.col.extent > most_columns) return columns_in_parts();
    if (r_.lanes == lanes::n) return {along_columns()};
    if (x_.col.extent > most_columns) return {};
    std::vector<nest> out;
    const bool last = partial(pieces_.back(), g_) || pieces_.back().width < g_.vector;
    if (const std::int64_t whole = std::ssize(pieces_) - (last ? 1 : 0); whole > 0) out.push_back(across_problems(whole));
    if (last) out.push_back(across_last_problems());
    return out;
  }

 private:
  std::int64_t element() const { return g_.real * g_.sets; }
  std::int64_t element_b() const { return g_.real_b * g_.sets; }
  std::int64_t element_c() const { return g_.real_c * g_.sets; }

  bool take_rows_and_sums() {
    base_.rows = x_.row.extent, base_.row_a = x_.row.a * element(), base_.row_c = x_.row.c * element_c();
    base_.k = x_.k, base_.k_a = x_.k_a * element(), base_.k_b = x_.k_b * element_b();
    base_.dense_b = r_.lanes == lanes::n && !is_narrow(r_) && !is_complex(r_.type) && x_.col.extent == 1 && x_.k_b == x_.lane_extent;
    if (in_pairs(r_, t_)) {
      base_.pairs = true, base_.odd = x_.k % 2;
      base_.row_a = x_.row.a * 2, base_.k_a = 4;
      base_.k = x_.k / 2, base_.k_b *= 2;
    } else if (r_.type_a != r_.type) {
      if (x_.k_outer != 1 || x_.k_a != 1 || x_.k * x_.row.extent > most_staged) return false;
      base_.stage_a = staged_block{x_.row.extent, x_.k, 2 * x_.row.a, 4 * x_.k, 0};
      base_.row_a = 4 * x_.k, base_.k_a = 4;
    }
    for (std::int64_t o = 0; o < x_.k_outer; ++o)
      base_.outer.push_back({x_.k_outer_a ? x_.k_outer_a[o] * element() : 0, x_.k_outer_b ? x_.k_outer_b[o] * element_b() : 0});
    return true;
  }

  bool take_last_columns(tail_kind tail) {
    const bool sums = tail == tail_kind::sums, packed = tail == tail_kind::packed;
    if (!sums && !packed) return true;
    if ((pieces_.size() == 1 && sums) || pieces_.back().count == g_.vector / g_.real) return false;
    if (sums) base_.tail = tail_of(r_, pieces_.back(), g_);
    else base_.packed = packed_of(r_, t_, pieces_.back(), g_);
    pieces_.pop_back();
    return base_.tail || base_.packed;
  }

  nest along_columns() const {
    nest n = base_;
    const std::int64_t columns = x_.col.extent, several = std::ssize(pieces_);
    if (several == 0) {  // they are packed
    } else if (several == 1) {
      add_columns(n, pieces_[0], 0, columns);
    } else if (several * columns <= 12 && columns > 1) {
      for (std::int64_t j = 0; j < columns; ++j)
        for (const lane_vector& v : pieces_) n.vectors.push_back(column(v, j));
    } else {
      n.vectors = pieces_;
      n.even_vectors = true;
      add_loop(n.loops, {columns, 0, x_.col.b * element_b(), x_.col.c * element_c()});
    }
    add_loops(n);
    return n;
  }

  /// Of one vector each: the last ones in a nest of their own.
  std::vector<nest> columns_in_parts() const {
    const std::int64_t parts = x_.col.extent / columns_of_part;
    std::vector<nest> out{base_};
    add_columns(out[0], pieces_[0], 0, columns_of_part);
    add_loop(out[0].loops, {parts, 0, columns_of_part * x_.col.b * element_b(), columns_of_part * x_.col.c * element_c()});
    add_loops(out[0]);
    if (x_.col.extent % columns_of_part == 0) return out;
    add_columns(out.emplace_back(base_), pieces_[0], parts * columns_of_part, x_.col.extent);
    add_loops(out[1]);
    return out;
  }

  nest across_problems(std::int64_t registers) const {
    nest n = base_;
    add_all_columns(n, {0, 0, g_.vector / g_.real, g_.vector});
    add_loop(n.loops, {registers, g_.vector, g_.vector, g_.vector});
    if (registers > 1 && base_.k * x_.k_outer == 1 && x_.col.extent == 1) {  // rows share little without sums, and lie along memory
      n.rows = 1;
      add_loop(n.loops, {base_.rows, base_.row_a, 0, base_.row_c});
    }
    add_loops(n);
    return n;
  }

  nest across_last_problems() const {
    nest n = base_;
    add_all_columns(n, {0, 0, pieces_.back().count, pieces_.back().width});
    n.start = pieces_.back().b;
    add_loops(n);
    return n;
  }

  lane_vector column(const lane_vector& v, std::int64_t j) const {
    return {v.b + j * x_.col.b * element_b(), v.c + j * x_.col.c * element_c(), v.count, v.width};
  }

  void add_columns(nest& n, const lane_vector& v, std::int64_t first, std::int64_t last) const {
    for (std::int64_t j = first; j < last; ++j) n.vectors.push_back(column(v, j));
    n.even_vectors = true;
  }

  /// Long sums of problems have columns of two axes, such as the elements of a filter, in one tile: a, and what of b they have in
  /// common, come once for all of them.
  bool has_columns_inside() const {
    constexpr std::int64_t most = 64, long_sum = 64;
    const kernels::axis& l = x_.loops[0];
    return r_.lanes == lanes::batch && x_.loop_count > 0 && x_.row.extent == 1 && x_.col.extent > 1 && l.a == 0 && l.b != 0 && l.c != 0 &&
           l.extent * x_.col.extent <= most && x_.k * x_.k_outer >= long_sum;
  }

  void add_all_columns(nest& n, const lane_vector& v) const {
    add_columns(n, v, 0, x_.col.extent);
    if (!has_columns_inside()) return;
    const std::vector<lane_vector> first = n.vectors;
    for (std::int64_t i = 1; i < x_.loops[0].extent; ++i)
      for (const lane_vector& x : first) n.vectors.push_back({x.b + i * x_.loops[0].b * element_b(), x.c + i * x_.loops[0].c * element_c(), x.count, x.width});
    n.even_vectors = false;
  }

  void add_loops(nest& n) const {
    const std::int64_t element_a = r_.type_a == r_.type ? element() : 2;
    for (int i = has_columns_inside() ? 1 : 0; i < x_.loop_count; ++i)
      add_loop(n.loops, {x_.loops[i].extent, x_.loops[i].a * element_a, x_.loops[i].b * element_b(), x_.loops[i].c * element_c()});
  }

  const request& r_;
  const kernels::contract_args& x_;
  const target t_;
  const geometry g_;
  std::vector<lane_vector> pieces_;  // registers of the lanes, the last columns last
  nest base_;
};

/// The nests of a request without their tiles; none if the last columns cannot be done in that way.
std::vector<nest> untiled(const request& r, target t, tail_kind tail) {
  return is_refused(r, t, tail) ? std::vector<nest>{} : nest_maker(r, t).make(tail);
}

/// Estimated cycles of the first nest with its best tile: of all iterations, as columns are in a loop or in the tiles.
double cost_of(const nest& n, const request& r, target t) {
  const geometry g = geometry_of(r, t);
  const auto tiles = tiles_of(n, g, r.lanes == lanes::batch, embeds(r, t));
  double times = 1;
  for (const code_loop& l : n.loops) times *= static_cast<double>(l.count);
  return times * ((!tiles.empty() ? tiles[0].cost : n.vectors.empty() ? 0 : 1e30) + (n.tail ? tail_cost(*n.tail, n.rows, g) : 0) +
                  (n.packed ? packed_cost(*n.packed, n.rows, g) : 0));
}

/// Rows of b in lines that share sets of the first cache: every group of rows of c reads them from the second again, so
/// that wide registers, which leave room for more rows, win.
bool rows_far_apart(const request& r) {
  return std::abs(r.args.k_b) * static_cast<std::int64_t>(size_of(r.type_b)) >= 4096;
}

/// The request with the width of its registers and the way of its last columns: as asked for if that can be had, else the
/// cheapest.
request settled(const request& wanted, target t) {
  request best = wanted, r = wanted;
  double least = 1e300;
  for (const int widest : {64, 32})
    for (const tail_kind tail : tail_kinds) {
      if (wanted.tile.widest != 0 && wanted.tile.widest != widest) continue;
      if (widest == 32 && wanted.tile.widest == 0 && (t != target::avx512 || r.lanes != lanes::n || rows_far_apart(r))) continue;
      r.tile.widest = widest, r.tile.tail = tail;
      const std::vector<nest> nests = untiled(r, t, tail);
      if (nests.empty()) continue;
      const bool other = wanted.tile.tail != tail_kind::open && wanted.tile.tail != tail;
      const double cost = cost_of(nests[0], r, t) * (other ? 1e9 : 1);
      if (cost < least) least = cost, best = r;
    }
  if (wanted.tile.tail == tail_kind::open || best.tile.tail == wanted.tile.tail) return best;
  r = wanted, r.tile = {};  // a tile beside last columns of another kind is none for these
  return settled(r, t);
}

}  // namespace

std::vector<nest> shape(const request& wanted, target t) {
  const request r = settled(wanted, t);
  std::vector<nest> out = untiled(r, t, r.tile.tail);
  const geometry g = geometry_of(r, t);
  for (nest& n : out) {
    choose_tile(n, tiles_of(n, g, r.lanes == lanes::batch, embeds(r, t)), r.tile, r.b_in_order, rows_far_apart(r));
    decide_loops(n, g, asks_ahead(r, n));
    n.ragged = t == target::avx512 && r.lanes == lanes::n && !n.vectors.empty() && (n.vectors.back().width < 64 || partial(n.vectors.back(), g));
    settle_staging(n, r);
    if (!n.unrolled && !n.even_vectors) n.unrolled = true;
    if (!fits(n) || n.loops.size() > 12) return {};
    if (n.tile_rows * n.tile_vectors == 0) return {};
  }
  return out;
}

std::vector<tile_choice> tile_candidates(const request& wanted, target t, int most) {
  std::vector<tile_choice> out{{}};
  request r = wanted;
  for (int widest : {64, 32}) {
    if (widest == 64 && t != target::avx512) continue;
    for (const tail_kind tail : tail_kinds) {
      r.tile = {widest, 0, 0, tail};
      const std::vector<nest> nests = untiled(r, t, tail);
      if (nests.empty()) continue;
      int count = 0;
      for (const costed_tile& x : tiles_of(nests[0], geometry_of(r, t), r.lanes == lanes::batch, embeds(r, t)))
        if (count++ < most) out.push_back({widest, x.rows, x.vectors, tail});
    }
  }
  return out;
}

}  // namespace ricci::codegen
