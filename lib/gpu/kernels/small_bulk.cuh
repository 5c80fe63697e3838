// The walk over tiles by the hardware's bulk copies: one thread asks for whole operands of a tile, so that no other spends
// instructions on them, and memory sees requests for long runs wherever they begin.
#pragma once
#include "small_image.cuh"

/// Whether no more than the operand's elements are read when its run is rounded to words of 16 bytes, or more may be.
template <class I>
__device__ inline bool may_round(bool exact) {
  return (I::aligned && I::elements * I::problems * I::bytes % 16 == 0) || !(exact || I::shared);
}

/// Whether a tile is copied by the hardware, not element by element as the last of a loop.
template <class S>
__device__ inline bool is_whole(const small_tile& t) {
  const bool exact = t.range.exact;
  return t.range.count == S::problems && may_round<image_a>(exact) && may_round<image_b>(exact) && (!S::beta || may_round<image_c>(exact));
}

/// Asks for the run of an operand, from the border of 16 bytes before it to the one behind it; nothing if not `whole`.
template <class I>
__device__ inline void ask_run(char* stage, const void* base, i64 offset, bool whole, u64* arrived) {
  constexpr int run = I::problems * I::elements * I::bytes;
  const int before = shift_of<I>(base, offset) * I::bytes;
  copy_bulk(stage, static_cast<const char*>(base) + offset * I::bytes - before, whole ? (before + run + 15) / 16 * 16 : 0, arrived);
}

/// Stores the run of a result: whole words of 16 bytes by the hardware, the ends by threads.
template <class I>
__device__ inline void store_run(const char* stage, void* base, i64 offset, int lane) {
  constexpr int run = I::problems * I::elements * I::bytes;
  const int before = shift_of<I>(base, offset) * I::bytes, head = I::aligned ? 0 : (16 - before) % 16, body = (run - head) / 16 * 16;
  const char* const from = stage + before;
  char* const to = static_cast<char*>(base) + offset * I::bytes;
  if (lane == 0) {
    store_bulk(to + head, from + head, body);
    commit_stores();
  }
  if constexpr (!I::aligned || run % 16 != 0) {
    using X = typename I::E::type;
    const int e = lane * I::bytes, behind = head + body + e;
    if (e < head) *reinterpret_cast<X*>(to + e) = *reinterpret_cast<const X*>(from + e);
    if (behind < run) *reinterpret_cast<X*>(to + behind) = *reinterpret_cast<const X*>(from + behind);
  }
}

template <class S>
__device__ inline void small_by_bulk_copies(const small_args& args, char* stage, int which, int lane, i64 first, i64 step) {
  using A = image_a;
  using B = image_b;
  using C = image_c;
  constexpr int stages = S::stages, ring = S::over ? stages : stages == 1 ? 1 : S::beta ? stages + 1 : 2;
  constexpr int a_bytes = bytes_of<A>(), b_bytes = bytes_of<B>(), c_bytes = bytes_of<C>();
  constexpr int stage_bytes = S::over && c_bytes > a_bytes + b_bytes ? c_bytes : a_bytes + b_bytes;
  constexpr int result_bytes = S::over ? stage_bytes : c_bytes;
  char* const results = stage + (S::over ? 0 : stages * stage_bytes);
  u64* const arrived = reinterpret_cast<u64*>(stage + stages * stage_bytes + (S::over ? 0 : ring * c_bytes));

  const auto ask = [&](i64 tile, int slot, int result) {  // by one thread
    const small_tile t = locate<S::problems, S::outer>(args, tile);
    const bool whole = is_whole<S>(t);
    char* const to = stage + slot * stage_bytes;
    ask_run<A>(to, args.a, t.a, whole, arrived + slot);
    ask_run<B>(to + a_bytes, args.b, t.b, whole, arrived + slot);
    if constexpr (S::beta) ask_run<C>(results + result * result_bytes, args.c, t.c, whole, arrived + slot);
  };
  const auto copy_elements = [&](const small_tile& t, int slot, int result) {
    char* const to = stage + slot * stage_bytes;
    move_tile<A, S::group, true>(to, args.a, t.range, t.a, args.inner_a, lane);
    move_tile<B, S::group, true>(to + a_bytes, args.b, t.range, t.b, args.inner_b, lane);
    if constexpr (S::beta) move_tile<C, S::group, true>(results + result * result_bytes, args.c, t.range, t.c, args.inner_c, lane);
    commit_copies();
    wait_copies<0>();
    synchronise<S::group, S::block>(which);
  };

  if (lane == 0) {
#pragma unroll
    for (int s = 0; s < stages; ++s) begin_arrivals(arrived + s, S::beta ? 3 : 2);
#pragma unroll 1
    for (int s = 0; s < stages; ++s)
      if (first + s * step < args.tiles) ask(first + s * step, s, s);
  }
  synchronise<S::group, S::block>(which);
  int slot = 0, result = 0, result_fill = stages % ring, before = -1;
  unsigned turn = 0;
  for (i64 tile = first; tile < args.tiles; tile += step) {
    const small_tile t = locate<S::problems, S::outer>(args, tile);
    wait_arrival(arrived + slot, turn);
    if (!is_whole<S>(t)) copy_elements(t, slot, result);
    const char* const from = stage + slot * stage_bytes;
    char* const to = results + result * result_bytes;
    product<S>(image_memory<A>(from, args.a, t.a), image_memory<B>(from + a_bytes, args.b, t.b), image_memory<C>(to, args.c, t.c), args, lane, which);
    if constexpr (S::bulk == 2 || S::over) show_stores();
    if (S::bulk == 2 && lane == 0) wait_stores();  // the store before: where it stood may be filled again
    synchronise<S::group, S::block>(which);
    if (S::bulk == 2 && t.range.count == S::problems) store_run<C>(to, args.c, t.c, lane);
    else move_tile<C, S::group, false>(to, args.c, t.range, t.c, args.inner_c, lane);
    if constexpr (stages == 1) {
      if (tile + step < args.tiles) {
        if (S::bulk == 2 && lane == 0) wait_stores();
        synchronise<S::group, S::block>(which);
        if (lane == 0) ask(tile + step, 0, 0);
      }
    } else if constexpr (S::over) {
      // The results of this tile are still read where the next would stand; those of the tile before are not.
      if (lane == 0 && before >= 0 && tile + (stages - 1) * step < args.tiles) ask(tile + (stages - 1) * step, before, before);
    } else {
      if (lane == 0 && tile + stages * step < args.tiles) ask(tile + stages * step, slot, result_fill);
    }
    before = slot;
    turn += slot + 1 == stages ? 1 : 0;
    slot = slot + 1 == stages ? 0 : slot + 1;
    result = result + 1 == ring ? 0 : result + 1;
    result_fill = result_fill + 1 == ring ? 0 : result_fill + 1;
  }
  if (S::bulk == 2 && lane == 0) wait_stores();
}
