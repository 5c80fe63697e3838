// How the elements of a tile of small problems travel between global memory and their image in shared memory.
//
// An image is a struct:
//   E                element<...>;  bytes: of one element
//   flat             a tile is one run of memory; else units of `unit` elements are gathered
//   problems         of a tile in this operand: 1 if all problems share it (`shared`)
//   kept             it is the same for all tiles, and is copied once
//   elements         of one problem (flat)
//   stride           in shared memory, from problem to problem; 0 if shared
//   at_problem(p)    where problem p begins in the image
//   size             of the image of a tile, in elements
//   chunk            bytes of one copy
//   aligned          runs begin at a multiple of chunk; else they are shifted so that wide words stay aligned
//   lined            runs are shifted so that eight neighbouring threads' words are one line of 128 bytes
//   row, pad         after every `row` elements of a run, `pad` elements stay empty (0: none)
//   units, unit      gather: words of one problem and their elements
//   problem_fastest  gather: neighbouring threads take neighbouring problems
//   from(u), to(u)   gather: offsets of word u in memory and in the image, in elements
//   pointers         the operand is an array of pointers, one for each problem
//   row_at, col_at   offsets in the image of a row and a column
#pragma once
#include "copies.cuh"

/// The problems of a tile.
struct small_range {
  i64 first;
  int count;
  bool exact;  // the tile may end where the memory does
};

/// Elements between the last border, of 16 bytes or of a line, and the run's first element.
template <class I>
__device__ inline int shift_of(const void* base, i64 offset) {
  if constexpr (!I::flat || (I::aligned && !I::lined) || I::pointers) {
    return 0;
  } else {
    const u64 address = reinterpret_cast<u64>(base) + static_cast<u64>(offset) * I::bytes;
    return static_cast<int>(address % (I::lined ? 128 : 16)) / I::bytes;
  }
}

/// Bytes that an image takes in shared memory.
template <class I>
constexpr __host__ __device__ int bytes_of() {
  return (I::size * I::bytes + 15) / 16 * 16;
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

/// Moves a run of `count` elements that may end before the tile does, or begin off a border: in chunks as far as they go, for elements of 16
/// bits are not copied asynchronously and would each wait for the one before, then one by one.
template <class I, int Group, bool Load, class X>
__device__ inline void move_elements(X* image, X* run, int count, int lane) {
  constexpr int wide = I::aligned ? I::chunk / I::bytes : 1;
  using W = typename word<wide * I::bytes>::type;
  const int chunks = wide > 1 ? count / wide : 0;
#pragma unroll 1
  for (int c = lane; c < chunks; c += Group) {
    const int e = c * wide;
    if constexpr (Load) copy_async<wide * I::bytes>(image + padded<I>(e), run + e);
    else *reinterpret_cast<W*>(run + e) = *reinterpret_cast<const W*>(image + padded<I>(e));
  }
#pragma unroll 1
  for (int e = chunks * wide + lane; e < count; e += Group) {
    if constexpr (Load) copy_async<I::bytes>(image + padded<I>(e), run + e);
    else run[e] = image[padded<I>(e)];
  }
}

/// Moves a run that begins and ends at a border of chunks.
template <class I, int Group, bool Load, int Count, class X>
__device__ inline void move_chunks(X* image, X* run, int lane) {
  constexpr int wide = I::chunk / I::bytes, full = Count / wide;
  using W = typename word<I::chunk>::type;
#pragma unroll
  for (int c = 0; c < divide_up(full, Group); ++c)
    if ((c + 1) * Group <= full || c * Group + lane < full) {
      const int e = (c * Group + lane) * wide;
      if constexpr (Load) copy_async<I::chunk>(image + padded<I>(e), run + e);
      else *reinterpret_cast<W*>(run + e) = *reinterpret_cast<const W*>(image + padded<I>(e));
    }
  if constexpr (Count % wide != 0)
    if (lane < Count % wide) {
      const int e = full * wide + lane;
      if constexpr (Load) copy_async<I::bytes>(image + padded<I>(e), run + e);
      else run[e] = image[padded<I>(e)];
    }
}

/// Moves a run that begins `shift` elements behind a border. Words that stick out are read whole (what they
/// bring lies outside of the image's elements) but written in pieces.
template <class I, int Group, bool Load, int Count, class X>
__device__ inline void move_shifted(X* image, X* run, int shift, int lane) {
  constexpr int wide = 16 / I::bytes, words = divide_up(Count + (I::lined ? 128 / I::bytes : wide) - 1, wide);
#pragma unroll
  for (int c = 0; c < divide_up(words, Group); ++c) {
    const int e = (c * Group + lane) * wide - shift;
    if (e >= Count || (I::lined && e + wide <= 0)) continue;
    if constexpr (Load) {
      copy_async<16>(image + e, run + e);
    } else if (e >= 0 && e + wide <= Count) {
      *reinterpret_cast<uint4*>(run + e) = *reinterpret_cast<const uint4*>(image + e);
    } else {
#pragma unroll
      for (int v = 0; v < wide; ++v)
        if (e + v >= 0 && e + v < Count) run[e + v] = image[e + v];
    }
  }
}

/// Moves a run of `count` elements; `Most` is the count of a full tile. `exact`: nothing beyond its end may be read.
template <class I, int Group, bool Load, int Most, class X>
__device__ inline void move_run(X* image, X* run, int count, bool exact, int lane) {
  if (count < Most || (Load && (!I::aligned || (I::lined && Most * I::bytes % 16 != 0)) && exact)) {
    move_elements<I, Group, Load>(image, run, count, lane);
  } else if constexpr (I::aligned && !I::lined) {
    move_chunks<I, Group, Load, Most>(image, run, lane);
  } else {
    move_shifted<I, Group, Load, Most>(image, run, static_cast<int>(reinterpret_cast<u64>(run) % (I::lined ? 128 : 16)) / I::bytes, lane);
  }
}

/// A word in elements.
template <class I, bool Load, class X>
__device__ inline void move_unaligned(X* near, X* far) {
#pragma unroll
  for (int v = 0; v < I::unit; ++v) {
    if constexpr (Load) copy_async<I::bytes>(near + v, far + v);
    else far[v] = near[v];
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
    X* const near = image + I::at_problem(p) + I::to(u);
    if constexpr (I::pointers && I::unit > 1) {  // nobody knows beforehand how each matrix is aligned
      if (reinterpret_cast<u64>(far) % bytes != 0) {
        move_unaligned<I, Load>(near, far);
        continue;
      }
    }
    if constexpr (Load) copy_async<bytes>(near, far);
    else *reinterpret_cast<W*>(far) = *reinterpret_cast<const W*>(near);
  }
}

template <class I, int Group, bool Load>
__device__ inline void move_tile(char* stage, const void* base, const small_range& t, i64 offset, i64 inner, int lane) {
  using X = typename I::E::type;
  if constexpr (I::pointers) {
    // One pointer for each problem; the offset of a range was added to none of them.
    const i64* const table = static_cast<const i64*>(base) + (I::shared ? 0 : t.first);
    X* const image = reinterpret_cast<X*>(stage);
    move_words<I, Group, Load>(image, static_cast<X*>(nullptr), table, t.count, 0, lane);
  } else {
    X* const at = static_cast<X*>(const_cast<void*>(base)) + offset;
    X* const image = reinterpret_cast<X*>(stage) + shift_of<I>(base, offset);
    if constexpr (I::flat)
      move_run<I, Group, Load, I::problems * I::elements>(image, at, (I::shared ? 1 : t.count) * I::elements, t.exact || I::shared, lane);
    else
      move_words<I, Group, Load>(image, at, nullptr, t.count, inner, lane);
  }
}
