// c[f] = beta c[f] + alpha sum_s a[f,s] b[f,s]   where b is a view whose elements meet again: convolutions, stencils, moving sums.
//
// A thread has a box of neighbouring elements of c. Along up to two directions its windows overlap: what several of them read comes
// to its registers once. The other factor, small, lies in shared memory, padded with zeros, in the order in which it is read.
// The text before this header defines window_type:
//   A, B, C, has_a, has_b, conj_a, conj_b, beta, block, blocks
//   rows, cols, own, run               elements of c of a thread: in two directions of b, along an axis that b lacks, and neighbours
//   taps_rows, taps_cols, terms        terms of a turn: in the directions, and neighbours of b
//   places_rows, places_cols           of b, that elements and terms of a direction meet
//   row(y, r), col(f, s)               the element that meets place y with term r, or -1; the place where element f meets term s
//   at_row(y), at_col(x)               offsets of places in b
//   chunk, along_run                   neighbours of the factor that are read at once: along `own`, or along `run`
//   tap_row, tap_col, tap_term         from term to term of the factor in shared memory, which has `filter` elements
//   c_row, c_col, c_own                from element to element of c
//   words_b                            neighbours of b come in one access
//   out_own, out_run                   elements of c that leave in one access, along `own` (run is 1) and along `run`
//   turns                              of terms
//   place(at, b, c, f, skip_row, skip_col, left)  where thread `at` begins; its first elements that others have; its last along `own`
//   term(turn, b, f)                   where a turn begins
//   origin(n, a)                       the element of a that lies at n in shared memory; false: zero
#pragma once
#include "words.cuh"

struct window_args {
  const void* a;
  const void* b;
  void* c;
  i64 count;  // threads' worth of elements
  double alpha[2], beta[2];
};

/// `count` neighbours, in one access if they may.
template <class E, int count, bool words, bool Conj, class W>
__device__ inline void read_neighbours(W* to, const typename E::type* from) {
  neighbours<typename E::type, count> x;
  if constexpr (words) {
    x = *reinterpret_cast<const neighbours<typename E::type, count>*>(from);
  } else {
#pragma unroll
    for (int v = 0; v < count; ++v) x.x[v] = from[v];
  }
#pragma unroll
  for (int v = 0; v < count; ++v) to[v] = conj_if<Conj>(E::get(x.x[v]));
}

extern "C" __global__ void __launch_bounds__(window_type::block, window_type::blocks) window(const __grid_constant__ window_args args) {
  using G = window_type;
  using W = typename G::C::wide;
  extern __shared__ __align__(16) char shared[];
  typename G::A::type* const filter = reinterpret_cast<typename G::A::type*>(shared);
  const typename G::A::type* const pa = static_cast<const typename G::A::type*>(args.a);
  const typename G::B::type* const pb = static_cast<const typename G::B::type*>(args.b);
  typename G::C::type* const pc = static_cast<typename G::C::type*>(args.c);
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  constexpr int word = 16 / static_cast<int>(sizeof(typename G::A::type)), piece = G::chunk < word ? G::chunk : word;
  constexpr int width = G::run * G::terms;
  if constexpr (G::has_a) {
    for (int n = threadIdx.x; n < G::filter; n += G::block) {
      i64 from = 0;
      const bool there = G::origin(n, from);
      filter[n] = there ? pa[from] : typename G::A::type{};
    }
    __syncthreads();
  }
  for (i64 at = static_cast<i64>(blockIdx.x) * G::block + threadIdx.x; at < args.count; at += static_cast<i64>(gridDim.x) * G::block) {
    i64 b = 0, c = 0;
    int f = 0, skip_row = 0, skip_col = 0, left = G::own;
    G::place(at, b, c, f, skip_row, skip_col, left);
    W sums[G::rows][G::cols][G::own][G::run] = {};
#pragma unroll 1
    for (i64 turn = 0; turn < G::turns; ++turn) {
      i64 tb = b;
      int tf = f;
      G::term(turn, tb, tf);
      W h[G::taps_rows][G::taps_cols][G::terms][G::chunk];
      if constexpr (G::has_a) {
#pragma unroll
        for (int r = 0; r < G::taps_rows; ++r)
#pragma unroll
          for (int s = 0; s < G::taps_cols; ++s)
#pragma unroll
            for (int t = 0; t < G::terms; ++t)
#pragma unroll
              for (int n = 0; n < G::chunk; n += piece)
                read_neighbours<typename G::A, piece, true, G::conj_a>(h[r][s][t] + n, filter + tf + r * G::tap_row + s * G::tap_col + t * G::tap_term + n);
      }
#pragma unroll
      for (int y = 0; y < G::places_rows; ++y) {
        const typename G::B::type* const from = pb + tb + G::at_row(y);
        W x[G::places_cols][width];
#pragma unroll
        for (int p = 0; p < G::places_cols; ++p) read_neighbours<typename G::B, width, G::words_b, G::conj_b>(x[p], from + G::at_col(p));
#pragma unroll
        for (int r = 0; r < G::taps_rows; ++r) {
          const int i = G::row(y, r);
          if (i < 0) continue;
#pragma unroll
          for (int s = 0; s < G::taps_cols; ++s)
#pragma unroll
            for (int j = 0; j < G::cols; ++j)
#pragma unroll
              for (int t = 0; t < G::terms; ++t)
#pragma unroll
                for (int o = 0; o < G::own; ++o)
#pragma unroll
                  for (int v = 0; v < G::run; ++v) {
                    const W z = x[G::col(j, s)][G::terms > 1 ? t : v];
                    if constexpr (G::has_a) multiply_add(sums[i][j][o][v], h[r][s][t][G::along_run ? v : o], z);
                    else sums[i][j][o][v] = sum_of(sums[i][j][o][v], z);
                  }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < G::rows; ++i)
#pragma unroll
      for (int j = 0; j < G::cols; ++j) {
        if (i < skip_row || j < skip_col) continue;
        typename G::C::type* const to = pc + c + i * G::c_row + j * G::c_col;
        if constexpr (G::out_own > 1) {
          if (left >= G::own) {
#pragma unroll
            for (int o = 0; o < G::own; o += G::out_own) store<G, G::out_own>(to + o, &sums[i][j][o][0], alpha, beta);
            continue;
          }
        }
#pragma unroll
        for (int o = 0; o < G::own; ++o) {
          if (o >= left) continue;
#pragma unroll
          for (int v = 0; v < G::run; v += G::out_run) store<G, G::out_run>(to + o * G::c_own + v, sums[i][j][o] + v, alpha, beta);
        }
      }
  }
}
