// How the elements of a tile of small problems travel between global memory and their image in shared memory.
//
// An image is a struct:
//   E                element<...>;  bytes: of one element
//   flat             a tile is one run of memory; else units of `unit` elements are gathered
//   problems         of a tile in this operand: 1 if all problems share it
//   elements         of one problem (flat)
//   stride           in shared memory, from problem to problem; 0 if shared
//   size             of the image of a tile, in elements
//   chunk            bytes of one copy
//   aligned          runs begin at a multiple of chunk; else they are shifted so that wide words stay aligned
//   row, pad         after every `row` elements of a run, `pad` elements stay empty (0: none)
//   units, unit      gather: words of one problem and their elements
//   problem_fastest  gather: neighbouring threads take neighbouring problems
//   from(u), to(u)   gather: offsets of word u in memory and in the image, in elements
//   pointers         the operand is an array of pointers, one for each problem
//   row_at, col_at   offsets in the image of a row and a column
#pragma once
#include "element.cuh"

/// Elements between the last 16-byte border and the run's first element.
template <class I>
__device__ inline int shift_of(const void* base, i64 offset) {
  if constexpr (!I::flat || I::aligned || I::pointers) {
    return 0;
  } else {
    const u64 address = reinterpret_cast<u64>(base) + static_cast<u64>(offset) * I::bytes;
    return static_cast<int>(address % 16) / I::bytes;
  }
}

/// The image of one tile in shared memory.
template <class I>
struct image_memory {
  using type = typename I::E::type;
  type* data;
  __device__ image_memory(const char* stage, const void* base, i64 offset)
      : data(reinterpret_cast<type*>(const_cast<char*>(stage)) + shift_of<I>(base, offset)) {}
};

template <class I>
__device__ inline int padded(int element) {
  if constexpr (I::pad == 0) return element;
  else return element + element / I::row * I::pad;
}

/// Moves elements [first, last) of a run one by one.
template <class I, bool Load, class X>
__device__ inline void move_each(X* image, X* run, int first, int last) {
  for (int e = first; e < last; ++e) {
    if constexpr (Load) image[padded<I>(e)] = run[e];
    else run[e] = image[padded<I>(e)];
  }
}

/// Moves a run of `count` elements; `most` is the count of a full tile.
template <class I, int Group, bool Load, int Most>
__device__ inline void move_run(typename I::E::type* image, typename I::E::type* run, int count, int lane) {
  constexpr int wide = I::chunk / I::bytes;
  using W = typename word<I::chunk>::type;
  const auto whole = [&](int e) {
    if constexpr (Load) copy_async<I::chunk>(image + padded<I>(e), run + e);
    else *reinterpret_cast<W*>(run + e) = *reinterpret_cast<const W*>(image + padded<I>(e));
  };
  int shift = 0;
  if constexpr (!I::aligned) shift = static_cast<int>(reinterpret_cast<u64>(run) % I::chunk) / I::bytes;
  if (shift == 0 && count == Most) {
    constexpr int full = Most / wide;
#pragma unroll
    for (int c = 0; c < divide_up(full, Group); ++c)
      if ((c + 1) * Group <= full || c * Group + lane < full) whole((c * Group + lane) * wide);
    if constexpr (Most % wide != 0) {
      if (lane < Most % wide) move_each<I, Load>(image, run, full * wide + lane, full * wide + lane + 1);
    }
  } else {
    for (int c = lane; c * wide - shift < count; c += Group) {
      const int e = c * wide - shift;
      if (e >= 0 && e + wide <= count) whole(e);
      else move_each<I, Load>(image, run, e < 0 ? 0 : e, smaller(e + wide, count));
    }
  }
}

/// Moves the words of a tile that is no run.
template <class I, int Group, bool Load>
__device__ inline void move_words(typename I::E::type* image, typename I::E::type* base, const i64* table, int count,
                                  i64 inner, int lane) {
  using X = typename I::E::type;
  constexpr int bytes = I::unit * I::bytes;
  using W = typename word<bytes>::type;
  constexpr int total = I::units * I::problems;
#pragma unroll 4
  for (int at = lane; at < total; at += Group) {
    const int p = I::problem_fastest ? at % I::problems : at / I::units;
    const int u = I::problem_fastest ? at / I::problems : at % I::units;
    if (I::problems > 1 && p >= count) continue;
    X* const far = (I::pointers ? reinterpret_cast<X*>(table[p]) : base + p * inner) + I::from(u);
    X* const near = image + p * I::stride + I::to(u);
    if constexpr (Load) copy_async<bytes>(near, far);
    else *reinterpret_cast<W*>(far) = *reinterpret_cast<const W*>(near);
  }
}

template <class I, int Group, bool Load>
__device__ inline void move_tile(char* stage, const void* base, i64 offset, i64 first, int count, i64 inner, int lane) {
  using X = typename I::E::type;
  if constexpr (I::pointers) {
    // One pointer for each problem; the offset of a range was added to none of them.
    const i64* const table = static_cast<const i64*>(base) + (I::problems > 1 ? first : 0);
    X* const image = reinterpret_cast<X*>(stage);
    move_words<I, Group, Load>(image, static_cast<X*>(nullptr), table, count, 0, lane);
  } else {
    X* const at = static_cast<X*>(const_cast<void*>(base)) + offset;
    X* const image = reinterpret_cast<X*>(stage) + shift_of<I>(base, offset);
    if constexpr (I::flat)
      move_run<I, Group, Load, I::problems * I::elements>(image, at, (I::problems > 1 ? count : 1) * I::elements, lane);
    else
      move_words<I, Group, Load>(image, at, nullptr, count, inner, lane);
  }
}

template <class I, int Group>
__device__ inline void fetch(char* stage, const void* base, i64 offset, i64 first, int count, i64 inner, int lane) {
  move_tile<I, Group, true>(stage, base, offset, first, count, inner, lane);
}
template <class I, int Group>
__device__ inline void send(char* stage, void* base, i64 offset, i64 first, int count, i64 inner, int lane) {
  move_tile<I, Group, false>(stage, base, offset, first, count, inner, lane);
}
