// Transposition of small blocks in registers, by the compiler's vector types.
#pragma once

#include "elements-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// Lanes of a vector register that holds elements of this size: blocks are lanes by lanes.
template <int Size> inline constexpr int block = (Size == 16 ? 1 : (Size == 2 || vector_bytes < 32 ? 16 : 32) / Size);

template <int Size> struct bits_t;
template <> struct bits_t<2> { using type = std::uint16_t; };
template <> struct bits_t<4> { using type = std::uint32_t; };
template <> struct bits_t<8> { using type = std::uint64_t; };

template <int Size> struct lane_vector_t {
  typedef typename bits_t<Size>::type type __attribute__((vector_size(block<Size> * Size)));
};
template <int Size> using lane_vector = typename lane_vector_t<Size>::type;

// The two halves of one step: runs of d lanes of x and y take turns.
template <int D, class V, int... I> RICCI_INLINE void exchange(V& x, V& y, constants<I...>) {
  constexpr int n = sizeof...(I);
  const V low = __builtin_shufflevector(x, y, ((I / D) % 2 == 0 ? I : I - D + n)...);
  const V high = __builtin_shufflevector(x, y, ((I / D) % 2 == 0 ? I + D : I + n)...);
  x = low;
  y = high;
}

/// Transposes N by N blocks that lie side by side in the vectors.
template <int D, int N, class V> RICCI_INLINE void transpose_steps(V (&rows)[N]) {
  constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(rows[0][0]));
  if constexpr (D < N) {
    RICCI_EACH(i, N) {
      if ((i / D) % 2 == 0) exchange<D>(rows[i], rows[i + D], typename up_to_t<lanes>::type{});
    }
    transpose_steps<2 * D>(rows);
  }
}

/// Bytes ahead of a store for which its row is asked: a store across two lines that are not in the first cache waits for one
/// after the other, and nothing else asks early for many rows at once.
inline constexpr int own_ahead = 128;

/// d[j * dst_stride + i] = s[i * src_stride + j] for i, j < the lanes of a whole register of 8-byte elements: every line
/// of the source is read at once, where rows a page apart share the sets of the first cache.
template <class T> RICCI_INLINE void transpose_lines(const T* s, std::int64_t src_stride, T* d, std::int64_t dst_stride) {
  constexpr int n = vector_bytes / 8;
  typedef std::uint64_t V __attribute__((vector_size(vector_bytes)));
  V rows[n];
  RICCI_EACH(i, n) __builtin_memcpy(&rows[i], s + i * src_stride, sizeof(V));
  transpose_steps<1>(rows);
  RICCI_EACH(j, n) {
    __builtin_prefetch(d + j * dst_stride + own_ahead / static_cast<int>(sizeof(T)), 1);
    __builtin_memcpy(d + j * dst_stride, &rows[j], sizeof(V));
  }
}

/// d[j * dst_stride + i] = s[i * src_stride + j] for i, j < block; with Reads, beta d is added (beta is real).
template <bool Reads, class T, class R>
RICCI_INLINE void transpose_block(const T* s, std::int64_t src_stride, T* d, std::int64_t dst_stride, R beta) {
  constexpr int size = sizeof(T), n = block<size>;
  using V = lane_vector<size>;
  V rows[n];
  RICCI_EACH(i, n) __builtin_memcpy(&rows[i], s + i * src_stride, sizeof(V));
  transpose_steps<1>(rows);
  RICCI_EACH(j, n) {
    T* out = d + j * dst_stride;
    __builtin_prefetch(out + own_ahead / static_cast<int>(sizeof(T)), 1);
    if constexpr (Reads) {
      typedef R real_vector __attribute__((vector_size(sizeof(V))));
      real_vector old, fresh;
      __builtin_memcpy(&old, out, sizeof(V));
      __builtin_memcpy(&fresh, &rows[j], sizeof(V));
      fresh = fresh + beta * old;
      __builtin_memcpy(out, &fresh, sizeof(V));
    } else {
      __builtin_memcpy(out, &rows[j], sizeof(V));
    }
  }
}

}  // namespace ricci::kernels::RICCI_ISA
