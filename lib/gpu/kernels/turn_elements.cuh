// Elements of 32 bits and more on their way through kernels/turn.cuh: one by one.
#pragma once
#include "turn_sharing.cuh"

__device__ inline bool is_one(float x) { return x == 1; }
__device__ inline bool is_one(double x) { return x == 1; }
template <class X>
__device__ inline bool is_one(complex_of<X> x) { return x.x == 1 && x.y == 0; }

/// Elements of b of a thread: where they come from and where they go, the same in all tiles.
template <class T>
struct elements_of_b {
  using word = typename T::E::type;
  using read = sharing<T::words_b, T::rows_b, T::block>;
  static constexpr bool one_row = T::rows_b == 1 && !read::by_rows;
  static constexpr bool steady = one_row || (read::by_rows && T::step_b >= 0);
  static constexpr int count = steady ? 1 : read::rounds;
  static constexpr i64 step_from = one_row ? T::block : T::step_b * read::together;
  static constexpr int step_place = one_row ? T::block : T::room_b * read::together;
  typename T::offset from[count];
  int place[count];
  const bool any = read::has_any(threadIdx.x), last = read::has_last(threadIdx.x);

  static __device__ int shift_of(const word*) { return 0; }

  __device__ elements_of_b() {
#pragma unroll
    for (int r = 0; r < count; ++r) {
      int row, n;
      const bool is_there = read::place(threadIdx.x, r, row, n);
      T::row_b(is_there ? row : 0, from[r], place[r]);
      from[r] += n, place[r] += n;
    }
  }
  __device__ const word* at(const word* b, int r) const { return steady ? b + from[0] + r * step_from : b + from[steady ? 0 : r]; }
  __device__ void ask(word (&asked)[read::rounds], const word* b) const {
    if (!any) return;
#pragma unroll
    for (int r = 0; r < read::rounds; ++r)
      if (r + 1 < read::rounds || last) asked[r] = *at(b, r);
  }
  /// Of a tile of which something is missing.
  __device__ void ask_part(word (&asked)[read::rounds], const word* b, const typename T::tile& t) const {
    const int high = T::high_b(t);
#pragma unroll
    for (int r = 0; r < read::rounds; ++r) {
      int row, n;
      if (read::place(threadIdx.x, r, row, n) && n < high && T::has_b(t, row)) asked[r] = *at(b, r);
    }
  }
  __device__ void keep(word* shared, const word (&asked)[read::rounds], int) const {
    if (!any) return;
#pragma unroll
    for (int r = 0; r < read::rounds; ++r)
      if (r + 1 < read::rounds || last) shared[steady ? place[0] + r * step_place : place[steady ? 0 : r]] = asked[r];
  }
};

/// Elements of c of a thread. If `line` is not 0, rows begin anywhere in a line of the second cache, and each line is written by threads
/// beside one another: a row has threads for whole lines, of which the first and the last have nothing.
template <class T>
struct elements_of_c {
  using word = typename T::E::type;
  using W = typename T::E::wide;
  using write = sharing<T::words_c, T::rows_c, T::block>;
  static constexpr bool is_line = T::next != 0;
  static constexpr bool steady = is_line && write::by_rows && T::step_c >= 0;
  static constexpr int count = steady ? 1 : write::rounds;
  static constexpr i64 step_to = T::step_c * write::together;
  static constexpr int step_place = T::room_c * write::together;
  typename T::offset to[count];
  int place[count];
  const bool any = write::has_any(threadIdx.x), last = write::has_last(threadIdx.x);

  static __device__ bool moves(W alpha) { return !T::beta && !T::conj_b && is_one(alpha); }

  __device__ elements_of_c() {
#pragma unroll
    for (int r = 0; r < count; ++r) {
      int row, n;
      const bool is_there = write::place(threadIdx.x, r, row, n);
      T::row_c(is_there ? row : 0, to[r], place[r]);
      to[r] += n, place[r] += is_line ? n * T::next : T::inner(n);
    }
  }
  /// Elements of a line before a row's first one.
  static __device__ int before_row(const word* first) {
    return static_cast<int>(reinterpret_cast<u64>(first) / sizeof(word)) & (T::line - 1);
  }
  template <bool Whole>
  __device__ void leave(word* c, const word* shared, int, const typename T::tile& t, W alpha, W beta, bool moves) const {
    if (!any) return;
    const int high = T::high_c(t);
#pragma unroll
    for (int r = 0; r < write::rounds; ++r) {
      if (r + 1 == write::rounds && !last) continue;
      word* pointer = steady ? c + to[0] + r * step_to : c + to[steady ? 0 : r];
      int at = steady ? place[0] + r * step_place : place[steady ? 0 : r];
      if constexpr (T::line > 0 || !Whole) {
        int row, n;
        write::place(threadIdx.x, r, row, n);
        if constexpr (T::line > 0) {
          const int before = before_row(pointer - n);
          n -= before, pointer -= before, at -= before * T::next;
          if (n < 0) continue;
        }
        if (n >= high || (!Whole && !T::has_c(t, row))) continue;
      }
      word x = shared[at];
      if (!moves) {
        W y = product_of(alpha, conj_if<T::conj_b>(T::E::get(x)));
        if constexpr (T::beta) y = sum_of(y, product_of(beta, T::E::get(*pointer)));
        x = T::E::put(y);
      }
      *pointer = x;
    }
  }
};
