// Elements of 16 bits on their way through kernels/turn.cuh: in words of two.
//
// Rows of b lie in shared memory as they lie in b, a word in a word, also where they begin in the middle of one. Those of c leave in such
// words, and alone where a word reaches past a row. If `before` is not 0, rows of c that begin in the middle of a word begin an element
// earlier in all tiles, and words are whole.
#pragma once
#include "turn_sharing.cuh"

/// Elements first and first + 1 of a row, or which of them there are.
__device__ inline u32 read_pair(const u16* row, int first, int low, int high) {
  if (first >= low && first + 1 < high) return *reinterpret_cast<const u32*>(row + first);
  u32 x = 0;
  if (first >= low && first < high) x = row[first];
  if (first + 1 >= low && first + 1 < high) x |= static_cast<u32>(row[first + 1]) << 16;
  return x;
}

/// beta old + alpha x, of two elements.
template <class T>
__device__ inline u32 scaled(u32 x, u32 old, float alpha, float beta) {
  using E = typename T::E;
  float low = alpha * E::get(static_cast<u16>(x)), high = alpha * E::get(static_cast<u16>(x >> 16));
  if constexpr (T::beta) low += beta * E::get(static_cast<u16>(old)), high += beta * E::get(static_cast<u16>(old >> 16));
  return E::put(low) | static_cast<u32>(E::put(high)) << 16;
}

__device__ inline void write_pair(u16* to, u32 x, bool first, bool second) {
  if (first && second) *reinterpret_cast<u32*>(to) = x;
  else if (first) to[0] = static_cast<u16>(x);
  else if (second) to[1] = static_cast<u16>(x >> 16);
}

/// Bytes from a word's beginning.
__device__ inline int odd_bytes(const u16* x) { return static_cast<int>(reinterpret_cast<u64>(x)) & 2; }

template <class X>
__device__ inline X* beyond(X* x, i64 bytes) { return reinterpret_cast<X*>(reinterpret_cast<u64>(x) + static_cast<u64>(bytes)); }

/// Words of b of a thread, in bytes, the same in all tiles that are whole.
template <class T>
struct words_of_b {
  using word = u32;
  using read = sharing<T::words_b, T::rows_b, T::block>;
  static constexpr bool one_row = T::rows_b == 1 && !read::by_rows;
  static constexpr bool steady = one_row || (read::by_rows && T::step_b >= 0 && (!T::shifts_b || T::room_b * read::together % 2 == 0));
  static constexpr int count = steady ? 1 : read::rounds;
  static constexpr i64 step_from = one_row ? 4 * T::block : 2 * T::step_b * read::together;
  static constexpr int step_place = one_row ? 4 * T::block : 2 * T::room_b * read::together;
  typename T::offset from[count];
  int place[count];
  const bool any = read::has_any(threadIdx.x), last = read::has_last(threadIdx.x);

  /// Bytes from a word's beginning to that of a tile.
  static __device__ int shift_of(const u16* b) { return T::shifts_b ? odd_bytes(b) : 0; }

  __device__ words_of_b() {
#pragma unroll
    for (int r = 0; r < read::rounds; ++r) {
      int row, word, at;
      typename T::offset begin;
      const bool is_there = read::place(threadIdx.x, r, row, word);
      if (r >= count) continue;
      T::row_b(is_there ? row : 0, begin, at);
      from[r] = 2 * begin + 4 * word, place[r] = 2 * at + 4 * word;
    }
  }
  __device__ bool has(int r) const { return r + 1 < read::rounds || last; }
  __device__ int back(int r, int shift) const { return T::shifts_b ? (shift + place[steady ? 0 : r]) & 2 : 0; }
  __device__ const u16* at(const u16* b, int r, int shift) const {
    return steady ? beyond(beyond(b, from[0] - back(0, shift)), r * step_from) : beyond(b, from[steady ? 0 : r] - back(r, shift));
  }
  __device__ void ask(u32 (&asked)[read::rounds], const u16* b) const {
    const int shift = shift_of(b);
    if (!any) return;
#pragma unroll
    for (int r = 0; r < read::rounds; ++r)
      if (has(r)) asked[r] = *reinterpret_cast<const u32*>(at(b, r, shift));
  }
  /// Of a tile of which something is missing.
  __device__ void ask_part(u32 (&asked)[read::rounds], const u16* b, const typename T::tile& t) const {
    const int shift = shift_of(b), low = T::low_b(t), high = T::high_b(t);
#pragma unroll
    for (int r = 0; r < read::rounds; ++r) {
      int row, word;
      asked[r] = 0;
      if (!read::place(threadIdx.x, r, row, word) || !T::has_b(t, row)) continue;
      const int first = 2 * word - back(r, shift) / 2;
      const u16* const pair = at(b, r, shift);
      if (first >= low && first + 1 < high) asked[r] = *reinterpret_cast<const u32*>(pair);
      else if (first >= low && first < high) asked[r] = pair[0];
      else if (first + 1 >= low && first + 1 < high) asked[r] = static_cast<u32>(pair[1]) << 16;
    }
  }
  __device__ void keep(u16* shared, const u32 (&asked)[read::rounds], int shift) const {
    if (!any) return;
#pragma unroll
    for (int r = 0; r < read::rounds; ++r) {
      if (!has(r)) continue;
      if constexpr (steady) *reinterpret_cast<u32*>(beyond(shared, ((shift + place[0]) & ~3) + r * step_place)) = asked[r];
      else *reinterpret_cast<u32*>(beyond(shared, (shift + place[steady ? 0 : r]) & ~3)) = asked[r];
    }
  }
};

/// Words of c of a thread, in bytes.
template <class T>
struct words_of_c {
  using write = sharing<T::words_c, T::rows_c, T::block>;
  static constexpr bool is_line = T::next != 0;
  static constexpr bool steady = is_line && write::by_rows && T::step_c >= 0 && (!T::shifts_c || T::step_c * write::together % 2 == 0);
  static constexpr int count = steady ? 1 : write::rounds;
  static constexpr i64 step_to = 2 * T::step_c * write::together;
  static constexpr int step_place = 2 * T::room_c * write::together;
  typename T::offset to[count];
  int place[count];    // of the word's first element; else of both, in 16 bits each
  int earlier[is_line || !T::shifts_c ? 1 : count];  // of the element before
  const bool any = write::has_any(threadIdx.x), last = write::has_last(threadIdx.x);

  static __device__ bool moves(float alpha) { return !T::beta && alpha == 1; }

  __device__ words_of_c() {
#pragma unroll
    for (int r = 0; r < write::rounds; ++r) {
      int row, word, at;
      typename T::offset begin;
      const bool is_there = write::place(threadIdx.x, r, row, word);
      if (r >= count) continue;
      T::row_c(is_there ? row : 0, begin, at);
      const int first = T::before + 2 * word;
      to[r] = 2 * begin + 4 * word;
      if constexpr (is_line) place[r] = 2 * (at + first * T::next);
      else place[r] = static_cast<int>(static_cast<u32>(2 * (at + T::inner(first))) | static_cast<u32>(2 * (at + T::inner(first + 1))) << 16);
      if constexpr (!is_line && T::shifts_c) earlier[r] = first > 0 ? 2 * (at + T::inner(first - 1)) : 0;
    }
  }
  template <bool Whole>
  __device__ void leave(u16* c, const u16* tile, int shift_b, const typename T::tile& t, float alpha, float beta, bool moves) const {
    const u16* const shared = beyond(tile, shift_b);
    const int shift = T::shifts_c ? odd_bytes(c) : 0, low = T::low_c(t), high = T::high_c(t);
    if (!any) return;
#pragma unroll
    for (int r = 0; r < write::rounds; ++r) {
      if (r + 1 == write::rounds && !last) continue;
      const int back = T::shifts_c ? static_cast<int>(shift + to[steady ? 0 : r]) & 2 : 0;
      bool has_x = true, has_y = true;
      if constexpr (T::cut_c || !Whole) {
        int row, word;
        write::place(threadIdx.x, r, row, word);
        if (!Whole && !T::has_c(t, row)) continue;
        const int first = T::before + 2 * word - back / 2;
        has_x = first >= low && first < high, has_y = first + 1 >= low && first + 1 < high;
      }
      u32 x = 0, y = 0;
      if constexpr (is_line) {
        const u16* const at = steady ? beyond(beyond(shared, place[0] - back * T::next), r * step_place) : beyond(shared, place[steady ? 0 : r] - back * T::next);
        if (has_x) x = at[0];
        if (has_y) y = at[T::next];
      } else {
        const int here = place[r] & 0xffff, then = static_cast<int>(static_cast<u32>(place[r]) >> 16);
        if (has_x) x = *beyond(shared, T::shifts_c && back ? earlier[T::shifts_c ? r : 0] : here);
        if (has_y) y = *beyond(shared, T::shifts_c && back ? here : then);
      }
      x |= y << 16;
      u16* const pointer = steady ? beyond(beyond(c, to[0] - back), r * step_to) : beyond(c, to[steady ? 0 : r] - back);
      if (!moves) {
        u32 old = 0;
        if constexpr (T::beta) old = read_pair(pointer, 0, has_x ? 0 : 1, has_y ? 2 : 1);
        x = scaled<T>(x, old, alpha, beta);
      }
      write_pair(pointer, x, has_x, has_y);
    }
  }
};
