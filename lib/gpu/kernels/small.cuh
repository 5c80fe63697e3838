// c[p,i,j] = beta c[p,i,j] + alpha sum_k a[p,i,k] b[p,k,j]   for many small problems p.
//
// A group of threads (a warp, or a block) walks over tiles of neighbouring problems. The memory of a tile is copied
// asynchronously into one of several stages in shared memory while earlier tiles are multiplied; results are staged in
// shared memory and stored in wide words one tile later. One barrier of the group for each tile.
//
// The text before this header is written for one shape (lib/gpu/small_text.cpp). It defines
//   small_type      m, n, k, problems (of a tile), group, block, stages, rm, rn, compute, beta, outer (loops), over (results
//                   take the place of the factors), bulk (copies by the hardware: 1 what is loaded, 2 also what is stored)
//   image_a, _b, _c how an operand lies in memory and in shared memory
#pragma once
#include "element.cuh"
#include "small_image.cuh"
#include "small_complex.cuh"

/// Loops around the tiles: `inner` problems in a row, tiles_inner = ceil(inner / problems), and outer loops.
struct small_args {
  const void* a;
  const void* b;
  void* c;
  i64 inner, tiles_inner, tiles;
  i64 inner_a, inner_b, inner_c;  // elements from one problem to the next
  i64 extent[8], outer_a[8], outer_b[8], outer_c[8];
  double alpha[2], beta[2];
  int exact, unused;  // exact: every tile may end where the memory does
};

/// Where a tile lies: offsets in elements and how many problems it has.
struct small_tile {
  i64 a, b, c;
  small_range range;
};

template <int Problems, int Outer>
__device__ inline small_tile locate(const small_args& args, i64 index) {
  i64 loop = 0, at = index;
  if constexpr (Outer > 0) {
    if (((index | args.tiles_inner) >> 31) == 0) loop = static_cast<u32>(index) / static_cast<u32>(args.tiles_inner);
    else loop = index / args.tiles_inner;
    at = index - loop * args.tiles_inner;
  }
  const i64 first = at * Problems, left = args.inner - first;
  small_tile t{first * args.inner_a, first * args.inner_b, first * args.inner_c,
               {first, left < Problems ? static_cast<int>(left) : Problems, args.exact || index == args.tiles - 1}};
#pragma unroll 1
  for (int d = Outer - 1; d >= 0; --d) {
    i64 next = 0;
    if (((loop | args.extent[d]) >> 31) == 0) next = static_cast<u32>(loop) / static_cast<u32>(args.extent[d]);
    else next = loop / args.extent[d];
    const i64 digit = loop - next * args.extent[d];
    t.a += digit * args.outer_a[d];
    t.b += digit * args.outer_b[d];
    t.c += digit * args.outer_c[d];
    loop = next;
  }
  return t;
}

template <int Group, int Block, int Which = 0>
__device__ inline void synchronise(int which) {
  if constexpr (Group == 32) __syncwarp();
  else if constexpr (Group == Block) __syncthreads();
  else if (Which + 1 == Block / Group || which == Which) meet_group<Which + 1, Group>();
  else if constexpr (Which + 1 < Block / Group) synchronise<Group, Block, Which + 1>(which);
}

/// What one tile needs, in the way the shape asks for.
template <class S, class MemoryA, class MemoryB, class MemoryC>
__device__ inline void product(const MemoryA& a, const MemoryB& b, const MemoryC& c, const small_args& args, int lane, int which) {
  using W = typename image_c::E::wide;
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  if constexpr (S::compute == 1) product_by_mma_f64<S, image_a, image_b, image_c>(a, b, c, alpha, beta, lane);
  else if constexpr (S::compute == 3) product_by_mma_c128<S, image_a, image_b, image_c>(a, b, c, alpha, beta, lane);
  else if constexpr (S::compute == 2) product_by_mma_16<S, image_a, image_b, image_c>(a, b, c, alpha, beta, lane);
  else product_by_threads<S, image_a, image_b, image_c>(a, b, c, alpha, beta, lane, [&] { synchronise<S::group, S::block>(which); });
}

#include "small_bulk.cuh"

extern "C" __global__ void __launch_bounds__(small_type::block, small_type::blocks)
    small(const __grid_constant__ small_args args) {
  using S = small_type;
  using A = image_a;
  using B = image_b;
  using C = image_c;
  constexpr int stages = S::stages, ring = S::over ? 0 : stages == 1 ? 1 : S::beta ? stages + 1 : 2;
  constexpr int a_bytes = bytes_of<A>(), b_bytes = bytes_of<B>(), c_bytes = bytes_of<C>();
  constexpr int kept_bytes = (A::kept ? a_bytes : 0) + (B::kept ? b_bytes : 0), tile_bytes = a_bytes + b_bytes - kept_bytes;
  constexpr int stage_bytes = S::over && c_bytes > tile_bytes ? c_bytes : tile_bytes;
  constexpr int group_bytes = kept_bytes + stages * stage_bytes + ring * c_bytes + (S::bulk ? (8 * stages + 15) / 16 * 16 : 0);
  extern __shared__ __align__(16) char shared[];
  const int which = threadIdx.x / S::group, lane = threadIdx.x % S::group;
  char* const stage = shared + which * group_bytes;
  char* const results = stage + (S::over ? 0 : stages * stage_bytes);
  char* const kept = stage + stages * stage_bytes + ring * c_bytes;  // behind the others, whose copies begin with lines of 128 bytes
  constexpr int behind_a = A::kept ? 0 : a_bytes;
  const i64 step = static_cast<i64>(gridDim.x) * (S::block / S::group);
  const i64 first = static_cast<i64>(blockIdx.x) * (S::block / S::group) + which;

  const auto load = [&](i64 tile, int slot, int result_slot) {
    const small_tile t = locate<S::problems, S::outer>(args, tile);
    char* const to = stage + slot * stage_bytes;
    if constexpr (!A::kept) move_tile<A, S::group, true>(to, args.a, t.range, t.a, args.inner_a, lane);
    if constexpr (!B::kept) move_tile<B, S::group, true>(to + behind_a, args.b, t.range, t.b, args.inner_b, lane);
    if constexpr (S::beta) move_tile<C, S::group, true>(results + result_slot * c_bytes, args.c, t.range, t.c, args.inner_c, lane);
  };
  const auto multiply = [&](const small_tile& t, int slot, int result_slot) {
    const char* const from = stage + slot * stage_bytes;
    product<S>(image_memory<A>(A::kept ? kept : from, args.a, t.a), image_memory<B>(B::kept ? kept + kept_bytes - b_bytes : from + behind_a, args.b, t.b),
               image_memory<C>(results + result_slot * c_bytes, args.c, t.c), args, lane, which);
  };
  const auto store = [&](const small_tile& t, int result_slot) {
    move_tile<C, S::group, false>(results + result_slot * c_bytes, args.c, t.range, t.c, args.inner_c, lane);
  };

  // What all problems have in common is copied once; the first tile's copies are waited for together with it.
  const small_range one{0, 1, true};
  if constexpr (A::kept) if (first < args.tiles) move_tile<A, S::group, true>(kept, args.a, one, 0, 0, lane);
  if constexpr (B::kept) if (first < args.tiles) move_tile<B, S::group, true>(kept + kept_bytes - b_bytes, args.b, one, 0, 0, lane);

  if constexpr (S::bulk && has_bulk_copies) {
    small_by_bulk_copies<S>(args, stage, which, lane, first, step);
  } else if constexpr (stages == 1) {
    for (i64 tile = first; tile < args.tiles; tile += step) {
      load(tile, 0, 0);
      commit_copies();
      wait_copies<0>();
      synchronise<S::group, S::block>(which);
      const small_tile t = locate<S::problems, S::outer>(args, tile);
      multiply(t, 0, 0);
      synchronise<S::group, S::block>(which);
      store(t, 0);
      if (tile + step < args.tiles) synchronise<S::group, S::block>(which);
    }
  } else {
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
      if (first + s * step < args.tiles) load(first + s * step, s, s);
      commit_copies();
    }
    int slot = 0, fill = stages - 1, result = 0, result_fill = stages - 1;
    small_tile before{};
    int result_before = -1;
    for (i64 tile = first; tile < args.tiles; tile += step) {
      wait_copies<stages - 2>();
      synchronise<S::group, S::block>(which);
      const i64 ahead = tile + (stages - 1) * step;
      if (ahead < args.tiles) load(ahead, fill, result_fill);
      commit_copies();
      if (result_before >= 0) store(before, result_before);
      before = locate<S::problems, S::outer>(args, tile);
      multiply(before, slot, result);
      result_before = result;
      slot = slot + 1 == stages ? 0 : slot + 1;
      fill = fill + 1 == stages ? 0 : fill + 1;
      result = result + 1 == ring ? 0 : result + 1;
      result_fill = result_fill + 1 == ring ? 0 : result_fill + 1;
    }
    synchronise<S::group, S::block>(which);
    if (result_before >= 0) store(before, result_before);
  }
}
