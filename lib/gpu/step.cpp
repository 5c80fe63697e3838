// Choosing a kernel for a step; arguments and grids.
#include "gpu/step.hpp"

#include <algorithm>
#include <cstring>

#include <ricci/core/error.hpp>

namespace ricci::cuda {
namespace {

// As the kernels declare them.
struct small_args {
  const void* a;
  const void* b;
  void* c;
  std::int64_t inner, tiles_inner, tiles;
  std::int64_t inner_a, inner_b, inner_c;
  std::int64_t extent[8], outer_a[8], outer_b[8], outer_c[8];
  double alpha[2], beta[2];
  int exact, unused;
};
struct counted_args {  // panel, tile and general
  const void* a;
  const void* b;
  void* c;
  std::int64_t count;
  double alpha[2], beta[2];
};
struct permute_args {
  const void* b;
  void* c;
  std::int64_t count;
  double alpha[2], beta[2];
};
static_assert(sizeof(small_args) <= sizeof(packed_args::bytes));

std::int64_t up(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

std::int64_t free_count(const step_shape& s) { return count_of(s.batch) * count_of(s.m) * count_of(s.n); }

constexpr std::int64_t most_blocks = 0x7fffffff;

general_config choose_general(const step_shape& s, const gpu_machine& m) {
  general_config g;
  const std::int64_t count = free_count(s), sum = count_of(s.k);
  const std::int64_t lanes = static_cast<std::int64_t>(m.multiprocessors) * m.threads;
  // Neighbouring threads of a team read neighbouring terms; alone, neighbouring elements of the result.
  const bool along_sum = !s.k.empty() && (s.k.back().b == 1 || s.k.back().a == 1);
  if (sum >= 32 && (count < lanes || along_sum)) g.team = 32;
  if (sum >= 2048 && count < lanes / 256) g.team = 256;
  if (sum >= 65536 && count < m.multiprocessors) g.parts = std::min<std::int64_t>(1024, sum / 16384 + 1);
  return g;
}

/// Enough arithmetic for tiles in shared memory to pay.
bool worth_tiling(const step_shape& s) {
  const std::int64_t m = count_of(s.m), n = count_of(s.n), k = count_of(s.k);
  return s.has_a && m >= 12 && n >= 12 && k >= 4;
}

int alignment_of(const void* p, dtype t) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const auto size = static_cast<std::uintptr_t>(std::min<std::size_t>(16, size_of(t)));
  const std::uintptr_t power = address == 0 ? 16 : std::min<std::uintptr_t>(16, address & (~address + 1));
  return static_cast<int>(std::max(power, size));
}

template <class Args>
void fill(packed_args& to, const Args& x) {
  std::memcpy(to.bytes, &x, sizeof x);
}

template <class Args>
void scale(Args& args, const operands& x) {
  std::copy(x.alpha, x.alpha + 2, args.alpha);
  std::copy(x.beta, x.beta + 2, args.beta);
}

}  // namespace

namespace {

/// Problems that are small by their sides, but leave room for few of them on a multiprocessor: tiles are faster (measured
/// on an H200, 33 to 64 a side).
bool is_heavy(const step_shape& s) {
  const auto [least, most] = std::minmax({count_of(s.m), count_of(s.n), count_of(s.k)});
  switch (s.c) {
    case dtype::c128: return least >= 40 && most > 48;
    case dtype::c64: return least >= 48 && most > 48;
    case dtype::f64: return least >= 60;
    case dtype::f32: return false;
    default: return least >= 64 && most > 64;
  }
}

double bound_of(const step_shape& s, double flops, double bytes, const gpu_machine& m) {
  const bool wide = s.c == dtype::f64 || s.c == dtype::c128;
  const double peak = wide ? (s.c == dtype::f64 ? m.tensor_f64 : m.peak_f64)
                           : size_of(s.a) == 2 && s.a == s.b ? m.tensor_16 : m.peak_f32;
  return std::max(bytes / (m.bandwidth * 1e9), s.has_a ? flops / (peak * 1e9) : 0);
}

/// An operand has neighbours in a problem, or from problem to problem.
bool has_neighbours(const small_shape& s, std::int64_t axis::*stride, int beside) {
  if (beside > 0 || s.inner.*stride == 1) return true;
  for (const auto* group : {&s.step.m, &s.step.n, &s.step.k})
    if (std::any_of(group->begin(), group->end(), [&](const axis& x) { return x.*stride == 1; })) return true;
  return false;
}

/// Small products fit, and are better than what else the step could be. Their shape and configuration are put into p.
bool takes_small(step_plan& p, const step_shape& s, const gpu_machine& m, bool tiling, bool panels) {
  if (!make_small(s, p.small)) return false;
  p.config = choose_small(p.small, m);
  const std::int64_t rows = count_of(p.small.step.m), cols = count_of(p.small.step.n), sums = count_of(s.k);
  if ((rows * cols == 1 && sums == 1) || !fits(p.small, p.config, m)) return false;
  if (!tiling) return true;
  // A factor whose neighbours are apart in every problem and from problem to problem is read better by panels and tiles.
  const bool apart = !has_neighbours(p.small, &axis::a, p.small.beside_a) || !has_neighbours(p.small, &axis::b, p.small.beside_b) ||
                     !has_neighbours(p.small, &axis::c, p.small.beside_c);
  if (apart && panels) return false;
  // A side that became a loop is read again for every turn; that pays while the other operand is small.
  const std::int64_t all_rows = count_of(s.m), all_cols = count_of(s.n);
  const bool cut = rows != all_rows || cols != all_cols, both = all_rows > 64 && all_cols > 64;
  return !cut || all_rows * all_cols * sums < 64 * 64 * 64 || (!both && !apart && sums <= 32);
}

/// Which of the own kernels.
step_plan plan_own(const step_shape& s, const gpu_machine& m) {
  step_plan p;
  p.shape = s;
  p.flops = flops_of(s), p.bytes = bytes_of(s);
  p.bound_seconds = bound_of(s, p.flops, p.bytes, m);
  const bool tiling = worth_tiling(s);
  const step_shape for_panels = arranged_for_panels(s);
  const bool panels = tiling && choose_panel(for_panels, m, p.panel);
  if (!is_heavy(s) && !(panels && in_teams(for_panels)) && takes_small(p, s, m, tiling, panels)) {
    p.kind = kernel_kind::small;
  } else if (panels) {
    p.kind = kernel_kind::panel;
    p.shape = for_panels;
  } else if (tiling) {
    p.kind = kernel_kind::tile;
    p.tile = choose_tile(s);
    p.shape = arranged_for_tiles(s, p.tile);
  } else if (can_permute(s)) {
    p.kind = kernel_kind::permute;
  } else {
    p.kind = kernel_kind::general;
    p.general = choose_general(s, m);
  }
  return p;
}

}  // namespace

step_plan plan_step(const step_shape& s, const gpu_machine& m) {
  step_plan p = plan_own(s, m);
  if (m.blas == blas_use::never || !s.has_a || p.kind == kernel_kind::permute || p.kind == kernel_kind::general) return p;
  const blas_call c = blas_call_of(s);
  // Long sums of few rows along many columns: 25 against 18 TFLOP/s.
  const bool passed = p.kind == kernel_kind::panel && p.panel.keeps_b && p.panel.teams > 1 && count_of(p.shape.m) <= 96 && count_of(p.shape.n) > 96;
  if (c.used && (m.blas == blas_use::always || (!passed && blas_wins(s, c)))) p.blas = c;
  return p;
}

kernel_request request_of(const step_plan& p, const alignments& at, bool last) {
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
    case kernel_kind::permute: return {permute_text(p), "permute", 256, 0};
    default: return {general_text(p, last), "general", p.general.block, 0};
  }
}

alignments alignments_of(const step_shape& s, const void* a, const void* b, const void* c) {
  return {alignment_of(a, s.a), alignment_of(b, s.b), alignment_of(c, s.c)};
}

int threads_of(const step_plan& p) {
  switch (p.kind) {
    case kernel_kind::small: return p.config.block;
    case kernel_kind::panel: return p.panel.block;
    case kernel_kind::tile: return p.tile.block;
    case kernel_kind::permute: return 256;
    default: return p.general.block;
  }
}

std::int64_t partial_bytes(const step_plan& p) {
  if (p.kind != kernel_kind::general || p.general.parts <= 1) return 0;
  return free_count(p.shape) * p.general.parts * static_cast<std::int64_t>(size_of(compute_type(p.shape.c)));
}

namespace {

unsigned grid_of(std::int64_t work) { return static_cast<unsigned>(std::min(work, most_blocks)); }

packed_args pack_small(const step_plan& p, const operands& x, std::int64_t resident) {
  const small_shape& s = p.small;
  small_args args{};
  args.a = x.a, args.b = x.b, args.c = x.c;
  args.inner = s.inner.extent;
  args.tiles_inner = up(s.inner.extent, p.config.problems);
  args.tiles = args.tiles_inner * count_of(s.outer);
  args.inner_a = s.inner.a, args.inner_b = s.inner.b, args.inner_c = s.inner.c;
  for (std::size_t d = 0; d < s.outer.size(); ++d) {
    args.extent[d] = s.outer[d].extent;
    args.exact = args.exact || s.outer[d].a <= 0 || s.outer[d].b <= 0 || s.outer[d].c <= 0 ? 1 : 0;
    args.outer_a[d] = s.outer[d].a, args.outer_b[d] = s.outer[d].b, args.outer_c[d] = s.outer[d].c;
  }
  scale(args, x);
  packed_args out;
  fill(out, args);
  // Persistent blocks keep their copies in flight; without stages, neighbours do that for each other.
  const std::int64_t work = up(args.tiles, p.config.block / p.config.group);
  out.grid = p.config.stages == 1 ? grid_of(work) : static_cast<unsigned>(std::min(work, resident));
  return out;
}

packed_args pack_permute(const step_shape& s, const operands& x) {
  permute_args args{};
  args.b = x.b, args.c = x.c;
  args.count = permute_squares(s);
  scale(args, x);
  packed_args out;
  fill(out, args);
  out.grid = grid_of(args.count);
  return out;
}

}  // namespace

packed_args pack(const step_plan& p, const operands& given, const kernel& k, const gpu_machine& m, bool last) {
  operands x = given;
  if (p.shape.swapped) std::swap(x.a, x.b);
  const step_shape& s = p.shape;
  if (p.kind == kernel_kind::small) return pack_small(p, x, static_cast<std::int64_t>(m.multiprocessors) * std::max(1, k.blocks));
  if (p.kind == kernel_kind::permute) return pack_permute(s, x);
  counted_args args{};
  args.a = x.a, args.b = x.b, args.c = x.c;
  scale(args, x);
  packed_args out;
  if (p.kind == kernel_kind::tile) {
    args.count = up(count_of(s.m), p.tile.rows) * up(count_of(s.n), p.tile.cols) * count_of(s.batch);
    out.grid = grid_of(args.count);
  } else if (p.kind == kernel_kind::panel) {
    args.count = panel_parts(s, p.panel);
    out.grid = grid_of(args.count);
  } else {
    args.count = free_count(s) * (last ? 1 : p.general.parts);
    out.grid = grid_of(up(args.count, p.general.block / (last ? 32 : p.general.team)));
  }
  fill(out, args);
  return out;
}

std::string to_string(const step_plan& p) {
  if (p.blas.used) return to_string(p.blas);
  switch (p.kind) {
    case kernel_kind::small: return "small products, " + to_string(p.config);
    case kernel_kind::tile: {
      return "tiles of " + std::to_string(p.tile.rows) + " x " + std::to_string(p.tile.cols) + ", slices of " +
             std::to_string(p.tile.depth) + ", " + to_string(p.tile.compute);
    }
    case kernel_kind::panel: return to_string(p.panel);
    case kernel_kind::permute: return "transposition through squares of 32 x 32";
    default:
      return std::to_string(p.general.team) + (p.general.team == 1 ? " thread" : " threads") + " for each element" +
             (p.general.parts > 1 ? ", sums in " + std::to_string(p.general.parts) + " parts" : "");
  }
}

}  // namespace ricci::cuda
