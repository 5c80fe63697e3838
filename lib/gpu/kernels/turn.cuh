// c = beta c + alpha b for elements of 16 bits, of tensors that lie in any order: tiles go through shared memory in pairs.
//
// A tile is rows of neighbours of b, and rows of neighbours of c. Rows of b come in words of two elements and lie in shared memory as
// they lie in b, a word in a word, also where they begin in the middle of one. Those of c leave in such words, and alone where a word
// reaches past a row. If `before` is not 0, rows of c that begin in the middle of a word begin an element earlier in all tiles, and words are
// whole. Blocks may stay: what is the same in all tiles, where words come from and go to, is worked out once, and words of the next tile
// are asked for before those of this one leave. The text before this header defines turn_type:
//   E, beta, block, blocks, stays
//   words_b, rows_b, words_c, rows_c   words of a row, rows of a tile
//   shifts_b, shifts_c                 rows may begin in the middle of a word
//   cut_c                              words of c may reach past a row, also in tiles that are whole
//   before                             elements of a row of c that are read before those of the tile
//   next                               in shared memory, from an element of c to the next; 0: inner() says
//   tile, offset                       where a tile begins (b, c), how much of it there is, whether that is all and b has words around it (whole);
//                                      a type for offsets in it
//   step_b, room_b, step_c, room_c     from row to row, in the tensor and in shared memory; step < 0: rows are of several axes
//   number, tile_of(at)                the number of a tile
//   low_b(t), high_b(t), low_c(t), high_c(t)   which elements of rows there are, counted with those before
//   row_b(row, from, place), row_c(row, to, place)   where a row begins, in the tensor and in shared memory
//   has_b(t, row), has_c(t, row)       whether there is such a row
//   inner(n)                           where the n-th element of a row of c lies from its first, in shared memory
#pragma once
#include "element.cuh"

struct turn_args {
  const void* b;
  void* c;
  i64 count;  // tiles
  double alpha[2], beta[2];
};

/// Which word of which row is a thread's: those of several rows at a time, if they are a block's, or one after the other.
template <int Words, int Rows, int Block>
struct sharing {
  static constexpr int together = Block / Words;
  static constexpr bool by_rows = together * Words * 8 >= Block * 7;
  static constexpr int rounds = by_rows ? divide_up(Rows, together > 0 ? together : 1) : divide_up(Rows * Words, Block);
  static constexpr bool is_exact = by_rows ? Rows % together == 0 : Rows * Words % Block == 0;
  /// Whether a thread has words; whether also in the last round.
  static __device__ bool has_any(u32 thread) { return !by_rows || together * Words == Block || thread < together * Words; }
  static __device__ bool has_last(u32 thread) {
    int row, word;
    return is_exact || place(thread, rounds - 1, row, word);
  }
  static __device__ bool place(u32 thread, int round, int& row, int& word) {
    if constexpr (by_rows) {
      row = static_cast<int>(thread / Words) + round * together, word = static_cast<int>(thread % Words);
      return thread < together * Words && row < Rows;
    } else {
      const u32 at = thread + static_cast<u32>(round * Block);
      row = static_cast<int>(at / Words), word = static_cast<int>(at % Words);
      return row < Rows;
    }
  }
};

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
  using read = sharing<T::words_b, T::rows_b, T::block>;
  static constexpr bool one_row = T::rows_b == 1 && !read::by_rows;
  static constexpr bool steady = one_row || (read::by_rows && T::step_b >= 0 && (!T::shifts_b || T::room_b * read::together % 2 == 0));
  static constexpr int count = steady ? 1 : read::rounds;
  static constexpr i64 step_from = one_row ? 4 * T::block : 2 * T::step_b * read::together;
  static constexpr int step_place = one_row ? 4 * T::block : 2 * T::room_b * read::together;
  typename T::offset from[count];
  int place[count];
  const bool any = read::has_any(threadIdx.x), last = read::has_last(threadIdx.x);

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
    const int shift = T::shifts_b ? odd_bytes(b) : 0;
    if (!any) return;
#pragma unroll
    for (int r = 0; r < read::rounds; ++r)
      if (has(r)) asked[r] = *reinterpret_cast<const u32*>(at(b, r, shift));
  }
  /// Of a tile of which something is missing.
  __device__ void ask_part(u32 (&asked)[read::rounds], const u16* b, const typename T::tile& t) const {
    const int shift = T::shifts_b ? odd_bytes(b) : 0, low = T::low_b(t), high = T::high_b(t);
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
  __device__ void leave(u16* c, const u16* shared, const typename T::tile& t, float alpha, float beta, bool moves) const {
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

extern "C" __global__ void __launch_bounds__(turn_type::block, turn_type::blocks) turn(const __grid_constant__ turn_args args) {
  using T = turn_type;
  extern __shared__ uint4 pool[];
  u16* const shared = reinterpret_cast<u16*>(pool);
  const float alpha = static_cast<float>(args.alpha[0]), beta = static_cast<float>(args.beta[0]);
  const bool moves = !T::beta && alpha == 1;  // bits as they are
  const u16* const all_b = static_cast<const u16*>(args.b);
  u16* const all_c = static_cast<u16*>(args.c);
  const words_of_b<T> in;
  const words_of_c<T> out;
  u32 asked[words_of_b<T>::read::rounds];
  typename T::number at = blockIdx.x;
  const typename T::number count = static_cast<typename T::number>(args.count);
  typename T::tile t = T::tile_of(at);
  bool is_asked = false;
#pragma unroll 1
  while (at < count) {
    const u16* const b = all_b + t.b;
    const int shift = T::shifts_b ? odd_bytes(b) : 0;
    if (!t.whole) in.ask_part(asked, b, t);
    else if (!is_asked) in.ask(asked, b);
    in.keep(shared, asked, shift);
    __syncthreads();
    at += gridDim.x;
    typename T::tile next{};
    if constexpr (T::stays) {
      next = T::tile_of(at);
      is_asked = at < count && next.whole;
      if (is_asked) in.ask(asked, all_b + next.b);
    }
    if (t.whole) out.template leave<true>(all_c + t.c, beyond(shared, shift), t, alpha, beta, moves);
    else out.template leave<false>(all_c + t.c, beyond(shared, shift), t, alpha, beta, moves);
    if constexpr (!T::stays) {
      if (at >= count) return;
      next = T::tile_of(at);
    }
    __syncthreads();
    t = next;
  }
}
