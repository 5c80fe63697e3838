// What a tile function is told: strides, loops around the tile, and what happens at the store.
#pragma once

#include "kernels.hpp"
#include "simd-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

using index = std::int64_t;

/// One loop around a tile; strides in bytes.
struct step {
  index count, a, b, c;  // not initialised: a call has room for many and uses few
};
inline constexpr step once{1, 0, 0, 0};

/// Which of a tile's vectors are partial.
enum masking { mask_none, mask_last, mask_all };
inline constexpr int masking_count = 3;

/// Strides are in bytes, which saves scaling them in every tile (the k_outer tables still count elements).
template <class T> struct frame {
  step loops[3];  // loops[0] is the innermost
  index k = 1, k_a = 0, k_b = 0, k_outer = 1;
  const index* outer_a = nullptr;
  const index* outer_b = nullptr;
  index outer_step_a = 0, outer_step_b = 0;  // 0: the table has one entry, for all of k_outer
  index row_a = 0, row_c = 0;  // from one row of the tile to the next
  index vec_b = 0, vec_c = 0;  // from one vector (or column) of the tile to the next
  index vectors = 0;           // lanes::k: whole vectors along the lane axis
  index step_a = 0;            // lanes::k: from one of them to the next
  bool scaled = false;         // alpha is not folded away
  bool partial = false;        // lanes::k: there is a partial vector as well
  bool reads_c = false;        // beta is not zero
  T alpha_re = 1, alpha_im = 0, beta_re = 0, beta_im = 0;
  // Complex: result = even_odd(own) * acc_re + even_odd(other) * swap(acc_im), or for lanes::k the same by sums.
  T own[2] = {1, 1}, other[2] = {-1, 1};
  tail<T> rest;
};

template <class T> using tile_fn = void (*)(const frame<T>&, const T* a, const T* b, T* c);

/// p, this many bytes further.
template <class T> RICCI_INLINE const T* shift(const T* p, index bytes) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(p) + bytes);
}
template <class T> RICCI_INLINE T* shift(T* p, index bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(p) + bytes);
}

/// Runs body(a, b, c) over the three loops of the frame.
template <class T, class Body> RICCI_INLINE void nest(const frame<T>& f, const T* a, const T* b, T* c, Body&& body) {
  const step inner = f.loops[0];
  for (index i2 = f.loops[2].count;;) {
    const T *a1 = a, *b1 = b;
    T* c1 = c;
    for (index i1 = f.loops[1].count;;) {
      const T *a0 = a1, *b0 = b1;
      T* c0 = c1;
      for (index i0 = inner.count;;) {
        body(a0, b0, c0);
        if (--i0 == 0) break;
        a0 = shift(a0, inner.a), b0 = shift(b0, inner.b), c0 = shift(c0, inner.c);
      }
      if (--i1 == 0) break;
      a1 = shift(a1, f.loops[1].a), b1 = shift(b1, f.loops[1].b), c1 = shift(c1, f.loops[1].c);
    }
    if (--i2 == 0) break;
    a = shift(a, f.loops[2].a), b = shift(b, f.loops[2].b), c = shift(c, f.loops[2].c);
  }
}

/// Pointers to N equally spaced rows in few registers: every fourth has its own, the others are reached by index.
template <class T, int N> struct rows {
  static constexpr int groups = (N + 3) / 4;
  T* base[groups];
  index stride, stride3;

  RICCI_INLINE rows(T* p, index s) : stride(s), stride3(3 * s) {
    RICCI_EACH(g, groups) base[g] = shift(p, 4 * g * s);
  }
  RICCI_INLINE T* at(int r) const {
    if (r % 4 == 3) return shift(base[r / 4], stride3);
    return shift(base[r / 4], (r % 4) * stride);
  }
  RICCI_INLINE void advance(index s) {
    RICCI_EACH(g, groups) base[g] = shift(base[g], s);
  }
};

}  // namespace ricci::kernels::RICCI_ISA
