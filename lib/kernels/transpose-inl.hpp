// Transposition of small blocks in registers, by the compiler's vector types.
#pragma once

#include "elements-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// Lanes of a vector register that holds elements of this size: blocks are lanes by lanes. Elements of 16 bytes are registers.
template <int Size> inline constexpr int block = Size == 16 ? 4 : (Size == 2 || vector_bytes < 32 ? 16 : 32) / Size;

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

/// What stays as it is on the way, and what is wide in registers: 16 bits that become floats, or to which something is added.
template <class T> inline constexpr bool is_narrow = same<T, f16> || same<T, bf16>;
template <class T> inline constexpr bool is_float_like = is_narrow<T> || same<T, float>;
template <bool Reads, class S, class D> inline constexpr bool stays_as_it_is = same<S, D> && !(Reads && is_narrow<S>);

/// Bytes of an element in registers.
template <bool Reads, class S, class D> inline constexpr int middle = stays_as_it_is<Reads, S, D> ? static_cast<int>(sizeof(S)) : 4;

/// A register of floats, and the 16 bits that they come from or become.
typedef float floats __attribute__((vector_size(block<4> * 4)));
typedef std::uint16_t shorts __attribute__((vector_size(block<4> * 2)));

template <class S> RICCI_INLINE lane_vector<4> widened(shorts x) {
  if constexpr (same<S, bf16>) return __builtin_convertvector(x, lane_vector<4>) << 16;
#ifdef __F16C__
  if constexpr (same<S, f16> && block<4> == convert_width) return (lane_vector<4>)_mm256_cvtph_ps((__m128i)x);
#endif
  floats y{};
  RICCI_EACH(i, block<4>) y[i] = widen(S{x[i]});
  return (lane_vector<4>)y;
}

template <class D> RICCI_INLINE shorts narrowed(lane_vector<4> x) {
  if constexpr (same<D, bf16>) {
    const lane_vector<4> rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16, quiet = (x >> 16) | 0x40u;
    const auto nan = (lane_vector<4>)((x & 0x7fffffffu) > 0x7f800000u);
    return __builtin_convertvector((nan & quiet) | (~nan & rounded), shorts);
  }
#ifdef __F16C__
  if constexpr (same<D, f16> && block<4> == convert_width) return (shorts)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
#endif
  shorts y{};
  RICCI_EACH(i, block<4>) {
    D one;
    narrow(((floats)x)[i], one);
    y[i] = one.bits;
  }
  return y;
}

template <class S> RICCI_INLINE lane_vector<4> load_floats(const S* s) {
  if constexpr (is_narrow<S>) {
    shorts x;
    __builtin_memcpy(&x, s, sizeof x);
    return widened<S>(x);
  } else {
    lane_vector<4> v;
    __builtin_memcpy(&v, s, sizeof v);
    return v;
  }
}

template <class T> RICCI_INLINE T real_part(T x) { return x; }
template <class T> RICCI_INLINE T real_part(cplx<T> x) { return x.re; }

/// The lanes of v, or the first `Count` of them, go to d; with Reads, beta d is added.
template <bool Reads, bool Stays, int Count, class D, class V, class R>
RICCI_INLINE void put_row(const V& v, D* d, R beta) {
  constexpr int n = static_cast<int>(sizeof(V) / sizeof(v[0]));
  if constexpr (Stays && !Reads) {
    __builtin_memcpy(d, &v, Count * sizeof(D));
  } else if constexpr (Stays) {
    typedef R real_vector __attribute__((vector_size(sizeof(V))));
    real_vector old{}, fresh;
    __builtin_memcpy(&old, d, Count * sizeof(D));
    __builtin_memcpy(&fresh, &v, sizeof(V));
    fresh = fresh + beta * old;
    __builtin_memcpy(d, &fresh, Count * sizeof(D));
  } else {
    floats x = (floats)v;
    if constexpr (Reads) {
      D old[n] = {};
      __builtin_memcpy(old, d, Count * sizeof(D));
      x = x + beta * (floats)load_floats(old);
    }
    if constexpr (is_narrow<D>) {
      const shorts y = narrowed<D>((lane_vector<4>)x);
      __builtin_memcpy(d, &y, Count * sizeof(D));
    } else {
      __builtin_memcpy(d, &x, Count * sizeof(D));
    }
  }
}

/// d[col(j) + i] = s[row(i) + j] for i < Rows, First <= j < Last, within a block; with Reads, beta d is added. Whole registers
/// are read of every row; if Whole is set, they are written to every column, with what lies behind its rows. beta is real but
/// for elements of 16 bytes.
template <bool Reads, int Rows, int First, int Last, bool Whole, class S, class Row, class D, class Col>
RICCI_INLINE void transpose_block(const S* s, const Row& row, D* d, const Col& col, compute<D> beta) {
  constexpr bool stays = stays_as_it_is<Reads, S, D>;
  constexpr int size = middle<Reads, S, D>, n = block<size>;
  if constexpr (size == 16 && !Reads) {
    typedef double V __attribute__((vector_size(16)));
    RICCI_EACH(i, Rows)
      RICCI_EACH(j, Last - First) {
        V v;
        __builtin_memcpy(&v, s + row(i) + First + j, 16);
        __builtin_memcpy(d + col(First + j) + i, &v, 16);
      }
  } else if constexpr (size == 16) {
    RICCI_EACH(i, Rows)
      RICCI_EACH(j, Last - First) move_one<Reads>(s[row(i) + First + j], d[col(First + j) + i], beta);
  } else {
    using V = lane_vector<size>;
    V rows[n] = {};
    RICCI_EACH(i, Rows) {
      if constexpr (stays) __builtin_memcpy(&rows[i], s + row(i), sizeof(V));
      else rows[i] = load_floats(s + row(i));
    }
    transpose_steps<1>(rows);
    RICCI_EACH(j, Last - First) {
      D* const to = d + col(First + j);
      if constexpr (Rows == n) __builtin_prefetch(to + own_ahead / static_cast<int>(sizeof(D)), 1);
      put_row<Reads, stays, Whole ? n : Rows>(rows[First + j], to, real_part(beta));
    }
  }
}

}  // namespace ricci::kernels::RICCI_ISA
