// Which requests are tiny problems one behind the other, and what their registers take from where.
#include "codegen/spread_shape.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace ricci::codegen {
namespace {

constexpr std::int64_t most_terms = 8, most_spread_products = 96, most_spread_offset = 1 << 30;
constexpr std::size_t most_spread_masks = 7, most_constants = 48;

/// The terms of a sum: all summed indices.
bool take_terms(const kernels::contract_args& x, bool along_sums, spread& s) {
  const std::int64_t along = along_sums ? x.lane_extent : 1, size = s.element();
  if (x.k * x.k_outer * along * s.parts > most_terms) return false;
  for (const bool imaginary : {true, false})
    for (std::int64_t o = 0; o < x.k_outer; ++o)
      for (std::int64_t k = 0; k < x.k; ++k)
        for (std::int64_t i = 0; i < along; ++i) {
          if (imaginary && (s.parts == 1 || s.ones)) continue;
          s.terms.push_back({((x.k_outer_a ? x.k_outer_a[o] : 0) + k * x.k_a + i) * size, ((x.k_outer_b ? x.k_outer_b[o] : 0) + k * x.k_b + i) * size, imaginary});
        }
  return true;
}

std::int64_t offset_of(const spread& s, std::int64_t result, std::int64_t dots::axis::*stride) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i + 1 < s.dense.size(); ++i) offset += result % s.dense[i].extent * s.dense[i].*stride, result /= s.dense[i].extent;
  return offset + result * s.dense.back().*stride;
}

/// Where lane l of all lanes of results has a factor.
std::int64_t place_of(const spread& s, std::int64_t l, int factor, const spread_term& t) {
  const std::int64_t at = offset_of(s, l / s.parts, factor == 0 ? &dots::axis::a : &dots::axis::b) + (factor == 0 ? t.a : t.b);
  if (s.parts == 1) return at;
  const std::int64_t own = l % 2, part = s.ones ? own : factor == s.common ? t.imaginary : t.imaginary ? 1 - own : own;
  return at + part * s.real;
}

/// Of a factor the offsets of lanes, for each term.
using lane_offsets = std::vector<std::vector<std::int64_t>>;

/// Whether the lanes take the same few bytes again and again.
bool are_pieces(const std::vector<std::int64_t>& at, int real, int bytes) {
  const std::size_t n = static_cast<std::size_t>(bytes / real);
  if (at.size() <= n) return false;
  for (std::size_t l = 0; l < at.size(); ++l)
    if (at[l] != at[0] + static_cast<std::int64_t>(l % n) * real) return false;
  return true;
}

/// All numbers of a factor that so many results take, in order.
std::vector<std::int64_t> elements_of(const spread& s, int factor, std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t l = 0; l < count * s.parts; ++l)
    for (const spread_term& t : s.terms) all.push_back(place_of(s, l, factor, t));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Whether two neighbouring elements of a factor in [low, high] have more than a little between them: rows are padded to whole words.
bool has_gaps(const std::vector<std::int64_t>& own, std::int64_t low, std::int64_t high) {
  constexpr std::int64_t farthest = 16;
  for (auto x = std::lower_bound(own.begin(), own.end(), low); *x < high; ++x)
    if (x[1] - x[0] > farthest) return true;
  return false;
}

/// The source of one term's lanes; [low, high] is what all terms' lanes take, `own` what is the factor's. False if it is none.
bool find_source(const std::vector<std::int64_t>& at, std::int64_t low, std::int64_t high, const spread& s, const std::vector<std::int64_t>& own, spread_source& out) {
  const std::int64_t reach = s.lanes * s.real;
  const auto is_run = [&] {
    for (std::size_t l = 0; l < at.size(); ++l)
      if (at[l] != at[0] + static_cast<std::int64_t>(l) * s.real) return false;
    return true;
  };
  out.at = at[0];
  if (std::all_of(at.begin(), at.end(), [&](std::int64_t x) { return x == at[0]; })) return true;
  if (is_run()) {
    out.how = spread_source::way::run, out.first = static_cast<int>(at.size());
    return true;
  }
  for (const int bytes : {16, 32})
    if (are_pieces(at, s.real, bytes)) {
      out.how = spread_source::way::pieces, out.bytes = bytes;
      return true;
    }
  const auto [least, most] = std::minmax_element(at.begin(), at.end());
  if (high - low >= 2 * reach || (high - low >= reach && *most - *least < reach)) low = *least, high = *most;
  if (high - low >= 2 * reach) return false;
  const int elements = static_cast<int>((high - low) / s.real) + 1;
  if ((high - low) % s.real != 0 || has_gaps(own, low, high)) return false;
  out.how = spread_source::way::places, out.at = low, out.first = std::min(elements, s.lanes), out.second = elements - out.first;
  for (const std::int64_t x : at) out.places.push_back(static_cast<int>((x - low) / s.real));
  out.places.resize(static_cast<std::size_t>(s.lanes), 0);
  return true;
}

/// The registers of so many results; none if a factor is spread too far.
std::vector<spread_results> registers_of(const spread& s, std::int64_t count) {
  std::vector<spread_results> out;
  const std::vector<std::int64_t> own[] = {s.ones ? std::vector<std::int64_t>{} : elements_of(s, 0, count), elements_of(s, 1, count)};
  for (std::int64_t first = 0; first < count * s.parts; first += s.lanes) {
    spread_results x;
    x.c = first * s.real, x.count = static_cast<int>(std::min<std::int64_t>(s.lanes, count * s.parts - first));
    x.terms.resize(s.terms.size());
    for (const int factor : {0, 1}) {
      if (factor == 0 && s.ones) continue;
      lane_offsets all;
      std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
      for (const spread_term& t : s.terms) {
        std::vector<std::int64_t>& at = all.emplace_back();
        for (int l = 0; l < x.count; ++l) at.push_back(place_of(s, first + l, factor, t));
        low = std::min(low, *std::min_element(at.begin(), at.end())), high = std::max(high, *std::max_element(at.begin(), at.end()));
      }
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!find_source(all[i], low, high, s, own[factor], x.terms[i][static_cast<std::size_t>(factor)])) return {};
    }
    out.push_back(std::move(x));
  }
  return out;
}

/// Masks and constants of these registers are few.
bool has_room(const std::vector<spread_results>& all, const spread& s) {
  std::set<int> masks;
  std::set<std::vector<int>> constants;
  const auto put = [&](int count) {
    if (count > 0 && count < s.lanes) masks.insert(count);
  };
  for (const spread_results& r : all) {
    put(r.count);
    for (const auto& term : r.terms)
      for (const spread_source& x : term) {
        put(x.first), put(x.second);
        if (!x.places.empty()) constants.insert(x.places);
      }
  }
  return masks.size() <= most_spread_masks && constants.size() <= most_constants;
}

/// Cycles of a period: permutations have one port, multiply-adds share it, loads have two (measured on Golden Cove).
double cycles_of(const spread& s) {
  constexpr double of_load = 0.5;
  double cycles = 0;
  std::set<std::vector<int>> constants;
  for (const spread_results& x : s.whole) {
    std::set<std::pair<int, std::int64_t>> loads;
    for (const auto& term : x.terms) {
      cycles += 1;
      for (const int factor : {0, 1}) {
        const spread_source& y = term[static_cast<std::size_t>(factor)];
        if (y.how != spread_source::way::places) continue;
        cycles += 1, loads.insert({factor, y.at}), constants.insert(y.places);
        if (y.second > 0) loads.insert({factor, y.at + s.lanes * s.real});
        if (static_cast<int>(constants.size()) > kept_constants(s)) cycles += of_load;
      }
    }
    cycles += of_load * static_cast<double>(loads.size());
  }
  return cycles;
}

/// What rows of one problem after the other take by other kernels, or dot products: surely longer.
bool is_faster(const spread& s, const request& r) {
  constexpr double of_row = 1.35, of_term = 0.5, of_dot = 1.3, surely = 1.15, complex_rows = 2, complex_dots = 3.5;
  const double results = static_cast<double>(s.period), terms = static_cast<double>(s.terms.size()) / s.parts;
  const double dots = of_dot * results, rows = results / static_cast<double>(r.args.lane_extent) * (of_term * terms + of_row);
  const double now = r.lanes == kernels::lanes::k ? dots * (s.parts == 2 ? complex_dots : 1) : rows * (s.parts == 2 ? complex_rows : 1);
  return cycles_of(s) * surely < now;
}

/// Sets the registers of whole periods; false if there are none.
bool take_registers(spread& s) {
  s.whole = registers_of(s, s.period);
  return !s.whole.empty();
}

}  // namespace

int kept_constants(const spread& s) { return s.parts == 2 ? 14 : 17; }

std::vector<spread> spread_of(const request& r, target t) {
  const kernels::contract_args& x = r.args;
  const bool same = r.type_a == r.type && r.type_b == r.type && r.type_c == r.type, complex = r.type == dtype::c64 || r.type == dtype::c128;
  const bool along_sums = r.lanes == kernels::lanes::k;
  if (t != target::avx512 || !same || size_of(r.type) < 4 || r.alpha == factor::tensor || r.past_caches) return {};
  spread s;
  s.ones = r.only_sums || x.ones_a;
  if (complex && ((x.conj_a && x.conj_b) || (s.ones && x.conj_b))) return {};
  s.parts = complex ? 2 : 1;
  s.real = static_cast<int>(size_of(r.type)) / s.parts, s.lanes = 64 / s.real;
  if (along_sums ? x.lane_extent != 2 : x.lane_extent * s.parts >= s.lanes) return {};
  dots order;
  if (!take_terms(x, along_sums, s) || !take_axes(x, s.element(), {along_sums ? 1 : x.lane_extent, r.lanes == kernels::lanes::batch, 1, 1}, order)) return {};
  s.dense = std::move(order.dense), s.loops = std::move(order.loops);
  for (std::size_t i = 0; i + 1 < s.dense.size(); ++i) s.inner *= s.dense[i].extent;
  const std::int64_t results = s.lanes / s.parts;  // of a register
  s.count = s.inner * s.dense.back().extent, s.period = std::lcm<std::int64_t>(results, s.inner);
  const std::int64_t products = s.period / results * static_cast<std::int64_t>(s.terms.size());
  if (products > most_spread_products || s.count < 2 * results || !s.is_long() || s.loops.size() > std::size_t{most_dot_loops}) return {};
  for (const auto* axes : {&s.dense, &s.loops})
    for (const dots::axis& y : *axes)
      for (const std::int64_t stride : {y.a, y.b, y.c})
        if (std::abs(stride) >= most_spread_offset / std::max(y.extent, s.period)) return {};
  s.conj = complex && (x.conj_a || x.conj_b), s.common = x.conj_b ? 1 : 0;
  const bool taken = take_registers(s);
  if (complex && !s.conj && !s.ones) {  // either factor may be the common one
    spread other = s;
    other.common = 1;
    if (take_registers(other) && (!taken || cycles_of(other) < cycles_of(s))) s = std::move(other);
  }
  if (s.whole.empty() || !is_faster(s, r)) return {};
  if (const std::int64_t rest = s.count % s.period; rest > 0) {
    s.rest = registers_of(s, rest);
    if (s.rest.empty()) return {};
  }
  std::vector<spread_results> all = s.whole;
  all.insert(all.end(), s.rest.begin(), s.rest.end());
  return has_room(all, s) ? std::vector<spread>{s} : std::vector<spread>{};
}

}  // namespace ricci::codegen
