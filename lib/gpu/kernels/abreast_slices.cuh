// Slices of a factor for abreast.cuh: lines (rows of a, columns of b) of some terms of several problems, from global to shared memory.
#pragma once
#include "copies.cuh"

/// The same number, and the compiler does not know: else what follows from it is kept from slice to slice, in too many registers.
__device__ inline unsigned of_now(unsigned x) {
  asm volatile("" : "+r"(x));
  return x;
}

/// What the copies are told of a, and of b.
template <class T>
struct rows_abreast {
  using element = typename T::A;
  static constexpr int lines = T::rows, vec = T::vec_a, nearest = T::nearest_a;
  static constexpr i64 count = T::m, step = T::sum_step_a;
  static __device__ i64 place(i64 p, i64 line) {
    i64 a = 0, none = 0;
    T::batch(p, a, none, none), T::row(line, a, none);
    return a;
  }
  static __device__ i64 term(i64 k) {
    i64 a = 0, none = 0;
    T::sum(k, a, none);
    return a;
  }
};
template <class T>
struct columns_abreast {
  using element = typename T::B;
  static constexpr int lines = T::cols, vec = T::vec_b, nearest = T::nearest_b;
  static constexpr i64 count = T::n, step = T::sum_step_b;
  static __device__ i64 place(i64 p, i64 line) {
    i64 b = 0, none = 0;
    T::batch(p, none, b, none), T::col(line, b, none);
    return b;
  }
  static __device__ i64 term(i64 k) {
    i64 b = 0, none = 0;
    T::sum(k, none, b);
    return b;
  }
};

/// A slice in shared memory: term by term, line by line, all problems of a place together. Fragments of the tensor cores read the same word of
/// 16 bytes at eight lines and four terms, so that words of a place change places with one another: those eight lie in all banks.
template <class T, class S>
struct slice_abreast {
  using X = typename S::element::type;
  static constexpr int size = sizeof(X), per = 16 / size, words = T::wide / per;  // problems of a word, words of a place
  static constexpr bool swizzled = T::compute != 0;
  static constexpr int pad = !swizzled || words > 2 ? 0 : size == 2 ? 1 : 2, pitch = (S::lines + pad) * T::wide * size;
  static constexpr int bytes = (T::depth * pitch + 127) / 128 * 128;

  static __device__ int place(int p, int line, int k) {
    if constexpr (!swizzled) return (k * S::lines + line) * T::wide * size + p * size;
    const int term = size == 2 ? k / 2 : k, change = words < 2 ? 0 : words == 2 ? term / 2 % 2 : words == 4 ? term % 4 : line % 2 * 4 + term % 4;
    return k * pitch + (line * words + (p / per ^ change)) * 16 + p % per * size;
  }

  template <bool Always>
  static __device__ void copy(char* to, const X* from, bool is_term) {
    constexpr int copied = S::vec * size;
    if constexpr (copied < 4) *reinterpret_cast<X*>(to) = Always || is_term ? *from : X{};
    else copy_async_of_line<copied>(to, from, Always || is_term);
  }

  /// Terms outside become zero; lines and problems outside are anything: their sums are not stored.
  static __device__ void begin(char* to, const X* from, i64 p0, i64 line0, i64 k0) {
    constexpr bool all_terms = T::k % T::depth == 0, all_lines = S::count % S::lines == 0;
    const unsigned thread = of_now(threadIdx.x);
    if constexpr (S::nearest == 0 && T::wide / S::vec <= T::block) {
      // A thread has the same problems of all its lines and terms.
      constexpr int vectors = T::wide / S::vec, at_once = T::block / vectors, lines = at_once < S::lines ? at_once : S::lines, terms = at_once / lines;
      const int p = static_cast<int>(thread % vectors) * S::vec, first_line = static_cast<int>(thread / vectors % lines), first = static_cast<int>(thread / vectors / lines);
      if (first >= terms || p0 + p >= T::problems) return;
#pragma unroll
      for (int line = first_line; line < first_line + S::lines; line += lines) {
        if ((S::lines % lines != 0 && line >= S::lines) || (!all_lines && line0 + line >= S::count)) continue;
        const X* const own = from + S::place(p0 + p, line0 + line) + (S::step != 0 ? (k0 + first) * S::step : 0);
#pragma unroll 4
        for (int k = 0; k < T::depth; k += terms) {
          if (T::depth % terms != 0 && k + first >= T::depth) continue;
          copy<all_terms>(to + place(p, line, k + first), S::step != 0 ? own + k * S::step : own + S::term(k0 + k + first), k0 + k + first < T::k);
        }
      }
    } else {
      constexpr int vectors = T::wide / S::vec, places = S::lines * T::depth, total = vectors * places;
#pragma unroll(S::vec * size < 4 ? 8 : 4)
      for (unsigned at = thread; at < total; at += T::block) {
        const unsigned p = S::nearest == 0 ? at % vectors * S::vec : at / places, rest = S::nearest == 0 ? at / vectors : at % places;
        const unsigned line = S::nearest == 2 ? rest / T::depth : rest % S::lines, k = S::nearest == 2 ? rest % T::depth : rest / S::lines;
        if (p0 + p >= T::problems || (!all_lines && line0 + line >= S::count)) continue;
        copy<all_terms>(to + place(p, line, k), from + S::place(p0 + p, line0 + line) + S::term(k0 + k), k0 + k < T::k);
      }
    }
  }
};
