// The cost function of tiles.
#include "codegen/tile_cost.hpp"

#include <algorithm>

#include "kernels/core.hpp"

namespace ricci::codegen {
namespace {

using kernels::lanes;

constexpr tile_times double_pumped_times{0.056, 0.07, 0.32, 0.24, 0.015, 1.95, 5.9, 0.91, 1.24, {1.24, 1.35}, 0, 0, 0.8};  // Zen 4
constexpr tile_times double_pumped_complex_times{0.21, 0.16, 0.39, 0.57, 0.59, 1.2, 9.8, 0.69, 0.92, {3, 1.6}, 0, 0, 2.5};
constexpr tile_times full_width_times{0.03, 0.004, 2.6, 0, 0.003, 0, 0, 1.15, 3.2, {1.15, 1.15}, 5, 8};  // a Xeon
constexpr tile_times zen_3_times{0.02, 0.046, 0.54, 0.48, 0.11, 5.2, 6, 1.17, 3.75, {1, 1}, 0, 0};  // registers of 32 bytes alone
constexpr tile_times of_problems{0.1, 0, 1.2, 0, 0, 3, 12, 1, 1.2, {1, 1}, 0, 0};  // in the lanes; without a fit

const tile_times& times_here(bool complex) {
  if (kernels::this_core() == kernels::core::zen_3) return zen_3_times;
  return !double_pumped() ? full_width_times : complex ? double_pumped_complex_times : double_pumped_times;
}

/// Estimated cycles of one tile of `mr` rows by nv vectors whose instructions weigh `weight` together.
double tile_cost(std::int64_t mr, std::int64_t nv, double weight, double k, const geometry& g, bool embeds) {
  const double sums = static_cast<double>(mr * nv * g.sets), rows = static_cast<double>(mr * g.sets);
  const double madds = (rows + (g.real_b < g.real ? 1 : 0)) * weight;  // a conversion takes as long
  const bool direct = embeds && nv == 1;  // the broadcast is part of the multiply-add
  const double loads = rows * (g.vector < 64 ? 1 : g.batch ? g.wide : g.times.wide_broadcast) + weight, issued = sums + (direct ? 1 : mr == 1 ? rows : rows + static_cast<double>(nv));
  const double read = mr == 1 ? rows + madds : loads;
  const tile_times& t = g.times;
  const std::int64_t rest = g.registers - 1 - static_cast<std::int64_t>(sums) - (mr == 1 ? 1 : nv) - 2;
  const double strands = static_cast<double>(strands_of(static_cast<std::int64_t>(sums), static_cast<std::int64_t>(k), rest));
  const double step = std::max({madds / 2, read / 2, issued / 5, k > 12 ? 4.0 / strands : 1.0}) + t.per_load * read + t.per_issued * issued;
  const double stores = static_cast<double>(mr) * weight;
  return k * step + t.per_sum * sums + t.per_store * stores + t.square * stores * stores + t.per_tile;
}

/// Rows whose sums fit beside the vectors of b, a's element (and its parts for a complex problem a lane) and the mask.
std::int64_t most_rows(std::int64_t nv, const geometry& g, bool masked, bool batch) {
  const std::int64_t all = g.registers - (masked && g.registers == 16 ? 1 : 0);
  const std::int64_t rows = std::max<std::int64_t>(0, (all - nv - (batch && g.sets == 2 ? 2 : 1)) / (nv * g.sets));
  const bool one_row = !batch && g.sets == 1 && nv + 2 <= all;  // it takes its vectors from memory
  return one_row ? std::max<std::int64_t>(rows, 1) : rows;
}

/// Tiles of as many vectors that weigh alike.
struct weighed_run {
  std::int64_t size = 0;
  double weight = 0;
  std::int64_t count = 0;
};

std::vector<weighed_run> weighed(const std::vector<lane_vector>& vectors, std::int64_t tile, const geometry& g) {
  std::vector<weighed_run> out;
  for (const tile_run& v : runs_of(static_cast<std::int64_t>(vectors.size()), tile))
    for (std::int64_t j = 0; j < v.count; ++j) {
      const lane_vector* const first = vectors.data() + v.first + j * v.size;
      double weight = 0;
      for (std::int64_t i = 0; i < v.size; ++i) weight += g.weight(first[i].width);
      if (out.empty() || out.back().size != v.size || out.back().weight != weight) out.push_back({v.size, weight, 0});
      ++out.back().count;
    }
  return out;
}

/// Cycles in which c comes and goes between the caches, if nothing else has to be waited for: its lines, and those that a
/// cut of a row between two tiles divides, which have two stores far from each other.
double store_time(const nest& n, const std::vector<weighed_run>& runs, const geometry& g) {
  std::int64_t pieces = 0, lanes = n.tail ? n.tail->columns : n.packed ? n.packed->columns : 0;
  for (const weighed_run& v : runs) pieces += v.count;
  for (const lane_vector& v : n.vectors) lanes += v.count;
  const std::int64_t row = lanes * g.real_c, cuts = row % 64 ? n.rows * (pieces - 1) : 0;
  return g.times.per_line * static_cast<double>(n.rows * row) / 64 + g.times.per_split * static_cast<double>(cuts);
}

}  // namespace

bool double_pumped() {
  const kernels::core here = kernels::this_core();
  return here == kernels::core::zen_3 || here == kernels::core::zen_4 || here == kernels::core::narrow_zen_5;
}

bool c_first_and_alternate() { return !double_pumped() && kernels::this_core() != kernels::core::zen_5; }

bool in_pairs(const request& r, target t) {
  // Others multiply pairs at half the rate of floats.
  static const bool fast = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_is("amd");
  const kernels::contract_args& x = r.args;
  return fast && r.in_pairs && t == target::avx512 && r.lanes == lanes::n && r.type == dtype::f32 && r.type_a == dtype::bf16 &&
         r.type_b == dtype::bf16 && x.k_outer == 1 && x.k_a == 1 && x.k > 1;
}

bool embeds(const request& r, target t) {
  return t == target::avx512 && r.lanes == lanes::n && !is_complex(r.type);
}

geometry geometry_of(const request& r, target t) {
  const bool single = r.type == dtype::f32 || r.type == dtype::c64;
  const int real = single ? 4 : 8;
  const auto stored = [&](dtype x) { return x == r.type ? real : 2; };
  const int registers = t == target::avx512 ? in_pairs(r, t) ? 31 : 32 : 16;  // pairs: one keeps places
  return {real, t == target::avx512 && r.tile.widest != 32 ? 64 : 32, registers, is_complex(r.type) ? 2 : 1,
          stored(r.type_b), stored(r.type_c), double_pumped() ? 2.0 : 1.0, r.lanes != lanes::n ? of_problems : times_here(is_complex(r.type)),
          r.beta == factor::one && r.lanes == lanes::n && !is_complex(r.type),
          r.beta == factor::zero && r.lanes == lanes::n && !is_complex(r.type), r.lanes == lanes::batch};
}

double tail_cost(const summed_tail& s, std::int64_t rows, const geometry& g) {
  const std::int64_t at_once = s.rows_at_once(g.real), whole = rows / at_once, last = rows % at_once;
  const std::int64_t registers = s.blocks * s.group;
  const double whole_madds = static_cast<double>(rows * registers) * g.weight(s.width) * (s.group == 4 ? 2 : 1);
  const double madds = whole_madds + static_cast<double>(rows * s.rest);
  const std::int64_t joins = 3 * whole * (at_once - 1) + (last ? 2 * (last - 1) + 6 : 0), gathers = registers * at_once;
  return g.times.tail * (madds + static_cast<double>(joins + gathers)) / 2 + g.times.per_tail_row * static_cast<double>(rows);
}

double packed_cost(const packed_tail& p, std::int64_t rows, const geometry& g) {
  const std::int64_t most = g.sets == 2 ? most_complex_rows : most_packed_rows;
  const std::int64_t rest = std::min<std::int64_t>(p.rest, 2), groups = (rows + most - 1) / most;
  const std::int64_t madds = rows * (p.chunks + rest) * g.sets, gathers = groups * (p.alone ? 2 * (p.chunks + rest) : p.chunks * p.steps + p.rest);
  const std::int64_t joins = (rows + p.steps - 1) / p.steps * (p.steps == 2 ? 4 : 10) + (g.sets == 2 ? 4 * rows : 0);
  return g.times.packed[p.steps / 4] * static_cast<double>(madds + gathers + joins) * g.wide / 2 + g.times.per_tail_row * static_cast<double>(rows);
}

std::vector<costed_tile> tiles_of(const nest& n, const geometry& g, bool batch, bool embeds) {
  const bool masked = std::any_of(n.vectors.begin(), n.vectors.end(), [&](const auto& v) { return partial(v, g); });
  const auto count = static_cast<std::int64_t>(n.vectors.size());
  const auto sums = n.k * static_cast<std::int64_t>(n.outer.size());
  const double k = static_cast<double>(sums);
  const bool waits = g.adds && masked && sums < begins_below;
  std::vector<costed_tile> out;
  for (std::int64_t nv = 1; nv <= std::min<std::int64_t>(count, 14); ++nv) {
    const std::vector<weighed_run> runs = weighed(n.vectors, nv, g);
    for (std::int64_t mr = 1; mr <= std::min<std::int64_t>(most_rows(nv, g, masked, batch), n.rows); ++mr) {
      // A long tile's stores are in the cache before the next tile needs a partial vector, unless that is all it reads.
      const bool brief = static_cast<double>(mr * nv) * g.weight(g.vector) * k / 2 < 50 || runs.back().size == 1;
      double cost = waits && nv < count && brief ? g.times.wait : 0;
      for (const tile_run& r : runs_of(n.rows, mr))
        for (const weighed_run& v : runs)
          cost += static_cast<double>(r.count * v.count) * tile_cost(r.size, v.size, v.weight, k, g, embeds);
      if (g.stores) cost = std::max(cost, store_time(n, runs, g) + cost / 10);
      out.push_back({cost, static_cast<int>(mr), static_cast<int>(nv)});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const costed_tile& x, const costed_tile& y) { return x.cost < y.cost; });
  return out;
}

}  // namespace ricci::codegen
