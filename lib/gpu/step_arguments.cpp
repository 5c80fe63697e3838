// Arguments and grids of the kernels of steps, as those declare them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "gpu/step.hpp"
#include "gpu/window.hpp"

namespace ricci::cuda {
namespace {

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
struct counted_args {  // panel, tile, window, abreast and general
  const void* a;
  const void* b;
  void* c;
  std::int64_t count;
  double alpha[2], beta[2];
};
struct permute_args {  // and turn
  const void* b;
  void* c;
  std::int64_t count;
  double alpha[2], beta[2];
};
static_assert(sizeof(small_args) <= sizeof(packed_args::bytes));

constexpr std::int64_t most_blocks = 0x7fffffff;

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

alignments alignments_of(const step_shape& s, const void* a, const void* b, const void* c) {
  return {alignment_of(a, s.a), alignment_of(b, s.b), alignment_of(c, s.c)};
}

int threads_of(const step_plan& p) {
  switch (p.kind) {
    case kernel_kind::small: return p.config.block;
    case kernel_kind::panel: return p.panel.block;
    case kernel_kind::tile: return p.tile.block;
    case kernel_kind::permute: return permute_threads(p);
    case kernel_kind::window: return p.window.block;
    case kernel_kind::abreast: return p.abreast.block;
    default: return threads_of(p.general);
  }
}

namespace {

unsigned grid_of(std::int64_t work) { return static_cast<unsigned>(std::min(work, most_blocks)); }

packed_args pack_small(const step_plan& p, const operands& x, std::int64_t resident, const gpu_machine& m) {
  const small_shape& s = p.small;
  small_args args{};
  args.a = x.a, args.b = x.b, args.c = x.c;
  args.inner = s.inner.extent;
  args.tiles_inner = divide_up(s.inner.extent, p.config.problems);
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
  const std::int64_t work = divide_up(args.tiles, p.config.block / p.config.group);
  const std::int64_t blocks = divide_up(work, tiles_of_block(s, p.config, m));
  out.grid = p.config.stages == 1 ? grid_of(std::max(blocks, std::min(work, resident))) : static_cast<unsigned>(std::min(work, resident));
  return out;
}

packed_args pack_permute(const step_plan& p, const operands& x, std::int64_t resident) {
  permute_args args{};
  args.b = x.b, args.c = x.c;
  args.count = permute_count(p);
  scale(args, x);
  packed_args out;
  fill(out, args);
  out.grid = grid_of(p.turn.stays ? std::min(args.count, resident) : args.count);
  return out;
}

}  // namespace

packed_args pack(const step_plan& p, const operands& given, const kernel& k, const gpu_machine& m) {
  operands x = given;
  if (p.shape.swapped) std::swap(x.a, x.b);
  const step_shape& s = p.shape;
  if (p.kind == kernel_kind::small) return pack_small(p, x, static_cast<std::int64_t>(m.multiprocessors) * std::max(1, k.blocks), m);
  if (p.kind == kernel_kind::permute) return pack_permute(p, x, static_cast<std::int64_t>(m.multiprocessors) * std::max(1, k.blocks));
  counted_args args{};
  args.a = x.a, args.b = x.b, args.c = x.c;
  scale(args, x);
  packed_args out;
  if (p.kind == kernel_kind::tile) {
    args.count = divide_up(count_of(s.m), p.tile.rows) * divide_up(count_of(s.n), p.tile.cols) * count_of(s.batch) * (p.tile.beside ? 1 : p.tile.parts);
    const std::int64_t beside = p.tile.beside ? p.tile.parts : 1;
    out.grid = static_cast<unsigned>(std::min(args.count, most_blocks / beside) * beside);
  } else if (p.kind == kernel_kind::panel) {
    args.count = panel_parts(s, p.panel);
    out.grid = grid_of(args.count);
  } else if (p.kind == kernel_kind::window) {
    // Blocks that stay: each copies the small factor once.
    args.count = window_threads(s, p.window);
    out.grid = grid_of(std::min(divide_up(args.count, std::int64_t{p.window.block}), static_cast<std::int64_t>(m.multiprocessors) * std::max(1, k.blocks)));
  } else if (p.kind == kernel_kind::abreast) {
    args.count = abreast_tiles(s, p.abreast);
    out.grid = grid_of(std::min(args.count, static_cast<std::int64_t>(m.multiprocessors) * std::max(1, k.blocks)));
  } else {
    args.count = general_blocks(s, p.general);
    out.grid = grid_of(args.count);
  }
  fill(out, args);
  return out;
}

}  // namespace ricci::cuda
