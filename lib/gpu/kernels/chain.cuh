// What the text of a chain is written with: rows of matrices in shared memory, additions to shared results.
#pragma once
#include "chain_tensor.cuh"
#include "copies.cuh"
#include "functions.cuh"

/// acc[r][l] += row[l] x[r]; the row begins at a multiple of 16 bytes and may be read to the next one.
template <int L, int R, class W>
__device__ inline void add_row(W (&acc)[R][L], const W* row, const W (&x)[R]) {
  constexpr int wide = sizeof(W) >= 16 ? 1 : 16 / sizeof(W);
  struct __align__(sizeof(W) * wide) several {
    W at[wide];
  };
#pragma unroll
  for (int l = 0; l < L; l += wide) {
    const several m = *reinterpret_cast<const several*>(row + l);
#pragma unroll
    for (int w = 0; w < wide; ++w)
      if (l + w < L) {
#pragma unroll
        for (int r = 0; r < R; ++r) multiply_add(acc[r][l + w], m.at[w], x[r]);
      }
  }
}

template <int L, int R, class W>
__device__ inline void clear(W (&acc)[R][L]) {
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int l = 0; l < L; ++l) acc[r][l] = zero_of(static_cast<W*>(nullptr));
}

/// Row h of the halves of an even or odd matrix with N rows: x and y are the values at h and N - 1 - h.
template <int N, int Pitch, int L, int R, class W>
__device__ inline void add_halves(W (&even)[R][L], W (&odd)[R][L], const W* rows, int h, const W (&x)[R], const W (&y)[R]) {
  constexpr int first = (N + 1) / 2;
  W sum[R], difference[R];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    sum[r] = h == N - 1 - h ? x[r] : x[r] + y[r];
    difference[r] = x[r] - y[r];
  }
  add_row(even, rows + h * Pitch, sum);
  if (h < N / 2) add_row(odd, rows + (first + h) * Pitch, difference);
}

/// A matrix from shared memory, whose rows are Pitch apart, to registers.
template <int Pitch, int Rows, int L, class W>
__device__ inline void keep_rows(W (&m)[Rows][L], const W* from) {
  constexpr int wide = sizeof(W) >= 16 ? 1 : 16 / sizeof(W);
  struct __align__(sizeof(W) * wide) several {
    W at[wide];
  };
#pragma unroll
  for (int row = 0; row < Rows; ++row)
#pragma unroll
    for (int l = 0; l < L; l += wide) {
      const several x = *reinterpret_cast<const several*>(from + row * Pitch + l);
#pragma unroll
      for (int w = 0; w < wide; ++w)
        if (l + w < L) m[row][l + w] = x.at[w];
    }
}

/// The same with the halves in registers, or, if Turned, those of the transpose of the matrix of N rows and Q columns: its
/// even part is the other's even part if the matrix is even, else the other's odd part. What is zero is left out.
template <int N, int Q, int Parity, bool Turned, int Rows, int C, int H, int R, class W>
__device__ inline void add_kept(W (&even)[R][H], W (&odd)[R][H], const W (&m)[Rows][C], int h, const W (&x)[R], const W (&y)[R]) {
  constexpr int first = Turned ? H : (N + 1) / 2, to_even = Turned && Parity < 0 ? first : 0, to_odd = Turned && Parity < 0 ? 0 : first;
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const W sum = h == N - 1 - h ? x[r] : x[r] + y[r], difference = x[r] - y[r];
#pragma unroll
    for (int c = 0; c < H; ++c) {
      const bool middle = c == Q - 1 - c;
      if (!middle || Parity > 0) multiply_add(even[r][c], Turned ? m[to_even + c][h] : m[h][c], sum);
      if (h < N / 2 && (!middle || Parity < 0)) multiply_add(odd[r][c], Turned ? m[to_odd + c][h] : m[first + h][c], difference);
    }
  }
}

/// v[q] = even[q] + odd[q], v[Q-1-q] = parity (even[q] - odd[q])
template <int Parity, int Q, int H, int R, class W>
__device__ inline void join_halves(W (&v)[R][Q], const W (&even)[R][H], const W (&odd)[R][H]) {
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int l = 0; l < H; ++l) {
      v[r][l] = even[r][l] + odd[r][l];
      if (l < Q - 1 - l) v[r][Q - 1 - l] = Parity > 0 ? even[r][l] - odd[r][l] : odd[r][l] - even[r][l];
    }
}

/// *to += x, whatever other threads do.
template <class E> __device__ inline void add_to(float* to, float x) { atomicAdd(to, x); }
template <class E> __device__ inline void add_to(double* to, double x) { atomicAdd(to, x); }
template <class E, class X>
__device__ inline void add_to(complex_of<X>* to, complex_of<X> x) {
  atomicAdd(&to->x, x.x);
  atomicAdd(&to->y, x.y);
}
template <class E>
__device__ inline void add_to(u16* to, float x) {
  u16 seen = *static_cast<volatile u16*>(to), expected;
  do {
    expected = seen;
    seen = atomicCAS(to, expected, E::put(E::get(expected) + x));
  } while (seen != expected);
}

/// Asks for elements [first, last) of a run that begins at `from`; of borders that are not aligned, less.
template <class T>
__device__ inline void ask_for_run(const T* from, i64 first, i64 last) {
  const u64 begin = (reinterpret_cast<u64>(from + first) + 15) / 16 * 16, end = reinterpret_cast<u64>(from + last) / 16 * 16;
  if (end > begin) ask_for(reinterpret_cast<const char*>(begin), static_cast<unsigned>(end - begin));
}

/// Words between the multiple of 16 bytes before group `which` of Words words and its beginning; copies have the same gap.
template <int Words, class T>
__device__ inline int group_shift(const T* from, i64 which) { return static_cast<int>(reinterpret_cast<u64>(from + which * Words) % 16 / sizeof(T)); }

/// Group `which` of `many` tensors of `end` words each, Slot apart in shared memory: asked for by a thread each, and one group
/// of copies even if there is nothing left. What does not fill 16 bytes at its ends is copied by itself.
template <int Threads, int Words, int Slot, class T>
__device__ inline void copy_groups(T* to, void* const* from, int many, i64 which, i64 end, int thread, u64* arrived) {
  constexpr int wide = 16 / sizeof(T);
  const i64 first = which * Words;
  if (first < end) {
    const int words = end - first < Words ? static_cast<int>(end - first) : Words;
    const auto copy = [&](int n, int begin, int step) {
      const T* const base = static_cast<const T*>(from[n]);
      const int shift = group_shift<Words>(base, which), gap = (wide - shift) % wide, head = gap < words ? gap : words, body = (words - head) / wide * wide;
      T* const near = to + n * Slot + shift;
      const T* const far = base + first;
      if constexpr (has_bulk_copies) {
        copy_bulk(near + head, far + head, body * static_cast<int>(sizeof(T)), arrived);
      } else {
        for (int x = begin * wide; x < body; x += step * wide) copy_async<16>(near + head + x, far + head + x);
      }
      if constexpr (wide > 1) {
        for (int x = begin; x < head; x += step) copy_async<sizeof(T)>(near + x, far + x);
        for (int x = head + body + begin; x < words; x += step) copy_async<sizeof(T)>(near + x, far + x);
      }
    };
    if constexpr (has_bulk_copies) {
      if (thread < many) copy(thread, 0, 1);
    } else {
      for (int n = 0; n < many; ++n) copy(n, thread, Threads);
    }
  }
  commit_copies();
}

/// Waits for the group that was asked for the `turn`-th time; Pending groups were asked for since.
template <int Pending>
__device__ inline void wait_group(u64* arrived, unsigned turn) {
  wait_arrival(arrived, turn);
  wait_copies<Pending>();
}
