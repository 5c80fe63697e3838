// Choosing a kernel for a step.
#include "gpu/step.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include <ricci/core/error.hpp>

#include "gpu/long_text.hpp"
#include "gpu/small_cost.hpp"
#include "gpu/tile_fit.hpp"
#include "gpu/tile_planes.hpp"
#include "gpu/window.hpp"

namespace ricci::cuda {
namespace {

std::int64_t free_count(const step_shape& s) { return count_of(s.batch) * count_of(s.m) * count_of(s.n); }

/// Enough arithmetic for tiles in shared memory to pay.
constexpr std::int64_t least_tiled = 12;  // rows or columns

bool worth_tiling(const step_shape& s) {
  const std::int64_t m = count_of(s.m), n = count_of(s.n), k = count_of(s.k);
  return s.has_a && m >= least_tiled && n >= least_tiled && k >= 4;
}

/// Sides for tiles, and two or three terms.
bool is_brief(const step_shape& s) {
  const std::int64_t k = count_of(s.k);
  return s.has_a && s.has_b && std::min(count_of(s.m), count_of(s.n)) >= least_tiled && (k == 2 || k == 3);
}

/// Neighbours of the result are columns, and all rows of it begin at sectors.
bool begins_at_sectors(const step_shape& s) {
  const std::int64_t sector = 32 / static_cast<std::int64_t>(size_of(s.c));
  const std::vector<axis> axes = free_axes(s);
  return !s.n.empty() && std::any_of(s.n.begin(), s.n.end(), [](const axis& x) { return x.c == 1; }) &&
         std::all_of(axes.begin(), axes.end(), [&](const axis& x) { return x.c == 1 || x.c % sector == 0; });
}

/// Two or three terms beside short rows of the result and a factor that no first cache holds, which threads would read for a few rows
/// at a time: panels.
bool is_brief_panel(const step_shape& s) {
  if (!is_brief(s) || !begins_at_sectors(s)) return false;
  constexpr std::int64_t short_row = 2048, kept = 200000;  // bytes
  const auto size = static_cast<std::int64_t>(size_of(s.c));
  const auto near = std::find_if(s.n.begin(), s.n.end(), [](const axis& x) { return x.c == 1; });
  return near->extent * size < short_row && count_of(s.batch) * count_of(s.n) * count_of(s.k) * size > kept;
}

/// Two or three terms of 16 bits and long sides: by the tensor cores, unless threads read columns as they lie.
bool is_brief_tile(const step_shape& s) {
  constexpr std::int64_t long_side = 512;
  if (std::any_of(s.n.begin(), s.n.end(), [](const axis& x) { return x.b == 1 && x.c == 1; })) return false;
  return is_brief(s) && size_of(s.c) == 2 && s.a == s.c && s.b == s.c && begins_at_sectors(s) && std::min(count_of(s.m), count_of(s.n)) >= long_side;
}

/// Problems that are small by their sides, but leave room for few of them on a multiprocessor: tiles are faster (measured
/// on an H200, 33 to 64 a side).
bool is_heavy(const step_shape& s) {
  const auto [least, most] = std::minmax({count_of(s.m), count_of(s.n), count_of(s.k)});
  if (planes_of(s).any()) return least > 48;  // small products of theirs have no tensor cores
  switch (s.c) {
    case dtype::c128: return least >= 40 && most > 48;
    case dtype::c64: return least >= 48 && most > 48;
    case dtype::f64: return least >= 60;
    case dtype::f32: return false;
    default: return least > 64;
  }
}

double bound_of(const step_shape& s, double flops, double bytes, const gpu_machine& m) {
  const bool wide = s.c == dtype::f64 || s.c == dtype::c128;
  const double peak = wide ? (s.a == s.b && s.a == s.c ? m.tensor_f64 : m.peak_f64)
                           : size_of(s.a) == 2 && s.a == s.b ? m.tensor_16 : planes_of(s).any() ? m.tensor_16 / least_products(s) : m.peak_f32;
  return std::max(bytes / (m.bandwidth * 1e9), s.has_a ? flops / (peak * 1e9) : 0);
}

/// An operand has neighbours in a problem, or from problem to problem.
bool has_neighbours(const small_shape& s, std::int64_t axis::*stride, int beside) {
  if (beside > 0 || s.inner.*stride == 1) return true;
  for (const auto* group : {&s.step.m, &s.step.n, &s.step.k})
    if (std::any_of(group->begin(), group->end(), [&](const axis& x) { return x.*stride == 1; })) return true;
  return false;
}

/// What tiles of plain matrices take beside short sums: those of complex doubles wait longer than they are estimated to.
double short_tile_seconds(const step_shape& s, const gpu_machine& m, bool in_parts) {
  const double longer = s.c == dtype::c128 ? 13.6 : s.c == dtype::f32 ? 8 : 0;  // slices' waits, in terms (measured on an H200)
  return tile_seconds(s, choose_tile(s, m, in_parts), m) * (1 + longer / static_cast<double>(count_of(s.k)));
}

/// One matrix in a problem everywhere, columns neighbours in b and c: there the estimates of single threads' kernels are good enough to
/// choose by.
bool is_plain(const step_shape& s) {
  return s.has_a && s.a == s.b && s.a == s.c && size_of(s.c) > 2 && s.c != dtype::f64 && s.m.size() == 1 && s.n.size() == 1 && s.k.size() == 1 && s.n[0].b == 1 && s.n[0].c == 1;
}

/// Tiles are estimated to be faster than panels.
bool is_better_tiled(const step_shape& s, const panel_config& c, const gpu_machine& m, bool in_parts) {
  // Panels wait longer than they are estimated to, those of double less (measured on an H200).
  constexpr double waits = 4e-6, much = 0.7;
  if (best_tile_seconds(s, m, in_parts) < much * ((s.c == dtype::f64 ? 0.75 : 1) * panel_seconds(s, c, m) + waits)) return true;
  constexpr int narrow = 64;
  if (!is_plain(s) || (s.c == dtype::c64 && choose_tile(s, m, in_parts).cols < narrow)) return false;
  const double share = s.c == dtype::f32 ? 1 : s.c == dtype::c64 ? 1.1 : 0.98;  // tiles of complex single are faster than estimated
  return short_tile_seconds(s, m, in_parts) < share * panel_seconds(s, c, m);
}

/// Few problems: what a tile of small products takes when nobody else hides it (measured on an H200), or all of them.
double few_small_seconds(const step_plan& p, const gpu_machine& m) {
  constexpr double clock = 1.755e9, clocks_of_product = 1.7, once = 2e-6, warp = 32, schedulers = 4;
  const step_shape& s = p.small.step;
  const double products = static_cast<double>(count_of(s.m) * count_of(s.n) * count_of(s.k)) * p.config.problems * (is_complex(s.c) ? 4 : 1);
  const double lanes = warp * std::min(schedulers, std::ceil(p.config.group / warp));
  return std::max(small_seconds(p.small, p.config, m), once + clocks_of_product * products / lanes / clock);
}

/// Few problems beside one another are done sooner in several tiles each; many only where they are nearly too large for a multiprocessor.
bool is_better_in_tiles(const step_plan& p, const gpu_machine& m, bool in_parts) {
  const step_shape &s = p.shape, &one = p.small.step;
  if (p.small.rows > 1 || is_beside(p.small) || shares_small_factor(p.small) || count_of(one.m) != count_of(s.m) || count_of(one.n) != count_of(s.n) || count_of(one.k) != count_of(s.k)) return false;
  constexpr double much = 0.85;
  constexpr std::int64_t few = 4, large = 60;  // tiles of small products on a multiprocessor; a side
  const bool is_few = divide_up(count_of(s.batch), std::int64_t{p.config.problems}) <= few * m.multiprocessors;
  return (is_few || std::min({count_of(s.m), count_of(s.n), count_of(s.k)}) >= large) && best_tile_seconds(s, m, in_parts) < much * few_small_seconds(p, m);
}

/// Small products fit, and are better than what else the step could be. Their shape and configuration are put into p.
bool takes_small(step_plan& p, const step_shape& s, const gpu_machine& m, bool tiling, bool panels) {
  if (!make_small(s, p.small)) return false;
  p.config = choose_small(p.small, m);
  const std::int64_t rows = count_of(p.small.step.m), cols = count_of(p.small.step.n), sums = count_of(s.k);
  if ((rows * cols == 1 && sums == 1) || !fits(p.small, p.config, m)) return false;
  // A side that became a loop is read again for a few terms only.
  if (is_brief(s)) return shares_small_factor(p.small) || (rows == count_of(s.m) && cols == count_of(s.n));
  if (!tiling) return true;
  constexpr double much = 0.75;
  if (shares_small_factor(p.small)) return !is_plain(s) || short_tile_seconds(s, m, true) > much * small_seconds(p.small, p.config, m);
  // A factor whose neighbours are apart in every problem and from problem to problem is read better by panels and tiles.
  const bool apart = !has_neighbours(p.small, &axis::a, p.small.beside_a) || !has_neighbours(p.small, &axis::b, p.small.beside_b) ||
                     !has_neighbours(p.small, &axis::c, p.small.beside_c);
  if (apart && panels) return false;
  // A side that became a loop is read again for every turn; that pays while the other operand is small.
  const std::int64_t all_rows = count_of(s.m), all_cols = count_of(s.n);
  const bool cut = rows != all_rows || cols != all_cols, both = all_rows > 64 && all_cols > 64;
  constexpr std::int64_t few = 8;
  if (cut && std::min(rows, cols) < few) return false;
  return !cut || all_rows * all_cols * sums < 64 * 64 * 64 || (!both && !apart && sums <= 32);
}

/// Neighbours in memory are those of different problems.
bool is_across(const step_shape& s, stride_of_axis stride) {
  const axis* nearest = nullptr;
  for (const auto* group : {&s.batch, &s.m, &s.n, &s.k})
    for (const axis& x : *group)
      if (x.*stride != 0 && (!nearest || std::abs(x.*stride) < std::abs(nearest->*stride))) nearest = &x;
  return std::any_of(s.batch.begin(), s.batch.end(), [&](const axis& x) { return &x == nearest; });
}
bool is_across(const step_shape& s) { return is_across(s, &axis::a) || is_across(s, &axis::b) || is_across(s, &axis::c); }

/// Seconds for the bytes of a step whose problems are worked on one by one, at a share of the bandwidth, or half of it if something
/// lies across them: that comes in sectors of which one element is used (measured on an H100).
double one_by_one_seconds(const step_shape& s, double share, const gpu_machine& m) {
  constexpr double sector = 32;
  double bytes = counted_bytes_of(s);
  const auto add_waste = [&](dtype type, stride_of_axis stride) {
    double elements = 1;
    for (const auto* group : {&s.batch, &s.m, &s.n, &s.k})
      for (const axis& x : *group)
        if (x.*stride != 0) elements *= static_cast<double>(x.extent);
    if (is_across(s, stride)) bytes += elements * (sector - static_cast<double>(size_of(type)));
  };
  add_waste(s.a, &axis::a), add_waste(s.b, &axis::b), add_waste(s.c, &axis::c);
  return bytes / ((is_across(s) ? 0.5 : share) * 1e9 * m.bandwidth);
}

/// What tiles take about, in seconds, beside the launch. A result whose elements are written one to a sector is read as well.
double tiled_seconds(const step_shape& s, const gpu_machine& m, bool in_parts) {
  const double again = is_across(s, &axis::c) ? static_cast<double>(free_count(s)) * 32 / (0.5e9 * m.bandwidth) : 0;
  return std::max(tile_seconds(s, choose_tile(s, m, in_parts), m), one_by_one_seconds(s, 0.7, m) + again);
}

/// Threads that share elements and terms as they lie do better than small products, panels or tiles.
bool is_better_shared(const step_plan& p, bool small, bool panels, const gpu_machine& m, bool in_parts) {
  const step_shape& s = p.shape;
  if (!m.shares) return false;
  const double seconds = general_seconds(s, p.general, m, in_parts);
  if (small) {
    if (is_beside(p.small)) return false;
    if (count_of(s.k) == 1) return true;
    if (shares_small_factor(p.small)) return false;
    if (is_across(s)) return seconds < one_by_one_seconds(s, 0.7, m);
    if (shares_vectors(s, p.general)) return true;
    return std::max(count_of(s.m), count_of(s.n)) > 64 && seconds < one_by_one_seconds(s, 0.5, m);
  }
  return worth_tiling(s) && (!panels || is_across(s)) && seconds < 0.7 * tiled_seconds(s, m, in_parts);
}

/// The share of memory's bandwidth at which tiles do products of two to eleven rows or columns (measured on an H200): by the
/// tensor cores, or by single threads, whose short sums wait.
double thin_share(const step_shape& s) {
  // Neighbours of the larger factor.
  const bool larger_a = count_of(s.m) > count_of(s.n);
  const auto stride = larger_a ? &axis::a : &axis::b;
  const auto along = std::find_if(s.k.begin(), s.k.end(), [&](const axis& x) { return x.*stride == 1; });
  const bool across = along == s.k.end(), odd = !across && along->extent % 2 != 0;
  const std::int64_t k = count_of(s.k);
  if (s.a == s.b && size_of(s.a) == 2) return across ? 0.60 : odd ? (k < 64 ? 0.50 : 0.58) : k < 64 ? 0.58 : 0.66;
  if (s.a == dtype::f64 && s.b == dtype::f64) return across ? 0.86 : odd ? 0.46 : 0.60;
  if (is_complex(s.c)) return k < 128 ? 0.30 : 0.44;
  return k < 128 ? 0.38 : across || odd ? 0.45 : 0.62;
}

/// Few rows or columns beside many of the other, and sums long enough: tiles, if threads that have all of them read the smaller factor
/// too often.
bool is_thin(const step_shape& s, const general_config& shared, const gpu_machine& m, bool in_parts) {
  const auto [least, most] = std::minmax({count_of(s.m), count_of(s.n)});
  if (!m.shares || !s.has_a || !s.has_b || least < 2 || least >= least_tiled || most < 96 || count_of(s.k) < 32 || is_across(s)) return false;
  return counted_bytes_of(s) / (thin_share(s) * 1e9 * m.bandwidth) < 0.9 * general_seconds(s, shared, m, in_parts);
}

/// Which of the own kernels.
step_plan plan_own(const step_shape& s, const gpu_machine& m, bool in_parts) {
  step_plan p;
  p.shape = s;
  p.flops = flops_of(s), p.bytes = bytes_of(s);
  p.bound_seconds = bound_of(s, p.flops, p.bytes, m);
  if (p.turn = choose_turn(s, m); p.turn.used()) return p.kind = kernel_kind::permute, p;
  const bool tiling = worth_tiling(s);
  const step_shape for_panels = arranged_for_panels(s);
  const bool panels = (tiling || is_brief_panel(s)) && choose_panel(for_panels, m, p.panel) && !(tiling && is_better_tiled(for_panels, p.panel, m, in_parts));
  const bool small = !is_heavy(s) && !(panels && in_teams(for_panels)) && takes_small(p, s, m, tiling, panels);
  p.general = choose_general(s, m);
  const bool rows_of_16 = small && p.small.rows > 1 && size_of(s.a) == 2;
  if ((small && is_better_in_tiles(p, m, in_parts)) || (!panels && !rows_of_16 && is_thin(s, p.general, m, in_parts))) {
    p.kind = kernel_kind::tile;
    p.tile = fit_tile(s, choose_tile(s, m, in_parts), m, in_parts);
    p.shape = arranged_for_tiles(s, p.tile);
    return p;
  }
  if (s.has_a && is_better_shared(p, small, panels, m, in_parts)) {
    p.kind = kernel_kind::general;
  } else if (small) {
    p.kind = kernel_kind::small;
  } else if (panels) {
    p.kind = kernel_kind::panel;
    p.shape = for_panels;
  } else if (tiling || is_brief_tile(s)) {
    p.kind = kernel_kind::tile;
    p.tile = fit_tile(s, choose_tile(s, m, in_parts), m, in_parts);
    p.shape = arranged_for_tiles(s, p.tile);
  } else if (can_permute(s)) {
    p.kind = kernel_kind::permute;
  } else {
    p.kind = kernel_kind::general;
  }
  return p;
}

/// Windows that overlap are read once, if that is estimated to be faster.
bool take_windows(step_plan& p, const gpu_machine& m, bool in_parts) {
  if (!m.shares || m.blas == blas_use::always) return false;
  const step_shape s = arranged_for_windows(p.shape);
  const std::optional<window_config> c = choose_window(s, m);
  if (!c) return false;
  // What tiles take is known well, and what the tensor cores do for double; other kernels read every window anew, and take longer than
  // they are estimated to.
  const bool is_double = s.c == dtype::f64 || s.c == dtype::c128;
  double other = 0;
  switch (p.kind) {
    case kernel_kind::tile: other = (is_double ? 0.75 : 0.95) * tile_seconds(p.shape, choose_tile(p.shape, m, in_parts), m); break;
    case kernel_kind::panel: other = 0.95 * tiled_seconds(p.shape, m, in_parts); break;
    case kernel_kind::small: other = is_double ? std::max(p.bytes / (0.5e9 * m.bandwidth), p.flops / (0.35e9 * m.tensor_f64)) : (size_of(s.b) == 2 ? 2.5 : 1.5) * one_by_one_seconds(p.shape, 0.7, m); break;
    default: other = 1.5 * general_seconds(p.shape, p.general, m, in_parts);
  }
  if (window_seconds(s, *c, m) > other) return false;
  p.kind = kernel_kind::window, p.shape = s, p.window = *c;
  return true;
}

/// Problems that lie side by side are multiplied as they lie, if that is estimated to be faster.
bool take_abreast(step_plan& p, const gpu_machine& m, bool in_parts) {
  if (!m.shares || m.blas == blas_use::always || p.kind == kernel_kind::permute || (p.kind == kernel_kind::small && is_beside(p.small))) return false;
  const step_shape s = arranged_for_abreast(p.shape);
  const std::optional<abreast_config> c = choose_abreast(s, m);
  if (!c) return false;
  // Threads take longer than they are estimated to, those of 16 bits most (measured on an H200).
  const double longer = size_of(s.c) == 2 ? 1.35 : s.c == dtype::f64 || s.c == dtype::c128 ? 1.05 : 1;
  const double other = p.kind == kernel_kind::general ? longer * general_seconds(p.shape, p.general, m, in_parts) : estimated_seconds(p, m);
  if (abreast_seconds(s, *c, m) > other) return false;
  p.kind = kernel_kind::abreast, p.shape = s, p.abreast = *c;
  return true;
}

}  // namespace

step_plan plan_step(const step_shape& s, const gpu_machine& m, bool in_parts) {
  step_plan p = plan_own(s, m, in_parts);
  if (take_windows(p, m, in_parts)) return p;
  if (take_abreast(p, m, in_parts)) return p.tile.parts = 1, p;
  // Shared among threads although there is enough for tiles: only because that was estimated to take little longer than it must.
  const bool shared = is_brief(s) || (p.kind == kernel_kind::general && (!worth_tiling(s) || general_seconds(s, p.general, m, in_parts) < 2 * p.bound_seconds));
  if (m.blas != blas_use::never && s.has_a && p.kind != kernel_kind::permute && !shared) {
    const blas_call c = blas_call_of(s);
    // Long sums of few rows along many columns: 25 against 18 TFLOP/s in f64; 28 against 21 in f32 and 40 against 32 in c64, where tiles of
    // 64 rows are half empty. Rows beside a factor of some 72 a side: 32 against 19 in f32.
    const std::int64_t rows = count_of(p.shape.m), side = std::max(count_of(s.n), count_of(s.k));
    const bool by_teams = p.panel.keeps_b && p.panel.teams > 1, singles = (s.c == dtype::f32 || s.c == dtype::c64) && rows > 64;
    const bool passed = (p.kind == kernel_kind::panel && (by_teams || singles) && rows <= 96 && count_of(p.shape.n) > 96) ||
                        (p.kind == kernel_kind::small && p.small.rows > 1 && s.c == dtype::f32 && side > 64 && side <= 96);
    const bool wins = c.used && !passed && blas_wins(s, c, m.warpgroups);
    p.passes_blas = wins && p.kind == kernel_kind::tile && passes_library(s, c, m, in_parts);
    if (c.used && (m.blas == blas_use::always || (wins && !p.passes_blas))) p.blas = c;
  }
  // What neighbours do not add needs memory: the vendor's call has none.
  const std::int64_t tile_parts = p.tile.beside ? 1 : std::exchange(p.tile.parts, 1);
  if (!in_parts) return p;
  const std::int64_t parts = p.blas.used ? 1 : p.kind == kernel_kind::tile ? tile_parts : p.kind == kernel_kind::general ? parts_of(p.shape, p.general, m) : 1;
  if (sum_as_problems(p, parts, m)) return p;
  if (parts > 1) cut_sum(p, parts, m);
  return p;
}

namespace {

/// What small products and panels take: at least their bytes, at most of the bandwidth; where products weigh more, those are counted.
double counted_small_seconds(const step_plan& p, const gpu_machine& m) {
  if (is_beside(p.small)) return p.bytes / (0.9e9 * m.bandwidth);
  const double bytes = one_by_one_seconds(p.shape, 0.7, m);
  return keeps_factor(p.small, p.config) ? std::max(bytes, small_seconds(p.small, p.config, m)) : bytes;
}

constexpr double call_seconds = 5e-6;
double library_bound(const step_plan& p) { return p.bound_seconds / 0.7 + call_seconds; }

}  // namespace

double estimated_seconds(const step_plan& p, const gpu_machine& m) {
  if (p.blas.used) {
    const bool odd = size_of(p.shape.a) == 2 && elements_together(p.blas) < 8;  // at 0.12 of peak
    return std::max(library_bound(p), odd ? p.flops / (0.12e9 * m.tensor_16) + call_seconds : 0);
  }
  switch (p.kind) {
    case kernel_kind::small: return counted_small_seconds(p, m) + (p.last ? adding_seconds(p, m) : 0);
    case kernel_kind::panel: return p.shape.c == dtype::f64 ? tiled_seconds(p.shape, m, true) : panel_seconds(p.shape, p.panel, m);
    case kernel_kind::tile: return std::min(tiled_seconds(p.shape, m, true), p.passes_blas ? library_bound(p) : 1);
    case kernel_kind::general: return general_seconds(p.shape, p.general, m, true);
    case kernel_kind::window: return window_seconds(p.shape, p.window, m);
    case kernel_kind::abreast: return abreast_seconds(p.shape, p.abreast, m);
    default: return p.bytes / (0.6e9 * m.bandwidth);
  }
}

kernel_request request_of(const step_plan& p, const alignments& at) {
  kernel_request r;
  switch (p.kind) {
    case kernel_kind::small: {
      small_kernel k = small_text(p.small, p.config, at);
      return {std::move(k.text), "small", k.threads, k.shared_bytes};
    }
    case kernel_kind::tile: {
      r.name = "tile", r.threads = p.tile.block;
      r.text = tile_text(p, at, r.shared_bytes);
      return r;
    }
    case kernel_kind::panel: {
      r.name = "panel", r.threads = p.panel.block;
      r.text = panel_text(p.shape, p.panel, at, r.shared_bytes);
      return r;
    }
    case kernel_kind::permute: return permute_request(p, at);
    case kernel_kind::window: {
      r.name = "window", r.threads = p.window.block;
      r.text = window_text(p.shape, p.window, at, r.shared_bytes);
      return r;
    }
    case kernel_kind::abreast: {
      r.name = "abreast", r.threads = p.abreast.block;
      r.text = abreast_text(p.shape, p.abreast, at, r.shared_bytes);
      return r;
    }
    default: return {general_text(p, at), "general", threads_of(p.general), 0};
  }
}

}  // namespace ricci::cuda
