// Sums over the lanes of several vectors at once: vectors take turns in one register until each has few lanes left.
#pragma once

#include "frame-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// N lanes as the compiler knows them.
template <class T, int N> struct lane_group_t {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N> using lane_group = typename lane_group_t<T, N>::type;

/// Lanes of x and y in turn, each with its neighbour D lanes away added.
template <int D, class V, int... I> RICCI_INLINE V merged(V x, V y, constants<I...>) {
  constexpr int n = sizeof...(I);
  return __builtin_shufflevector(x, y, ((I / D) % 2 == 0 ? I : I - D + n)...) + __builtin_shufflevector(x, y, ((I / D) % 2 == 0 ? I + D : I + n)...);
}

template <class V, int... I> RICCI_INLINE auto lower_lanes(V x, constants<I...>) { return __builtin_shufflevector(x, x, I...); }
template <class V, int... I> RICCI_INLINE auto upper_lanes(V x, constants<I...>) {
  constexpr int n = sizeof...(I);
  return __builtin_shufflevector(x, x, (I + n)...);
}

/// The first N lanes of the sum of all pieces of N lanes.
template <class T, int N, int Lanes> RICCI_INLINE lane_group<T, N> folded(lane_group<T, Lanes> x) {
  if constexpr (N == Lanes) {
    return x;
  } else {
    using half = typename up_to_t<Lanes / 2>::type;
    return folded<T, N, Lanes / 2>(lower_lanes(x, half{}) + upper_lanes(x, half{}));
  }
}

/// Lane i: the sum of the lanes of x[i]. N is a power of two, at most the lanes of a vector.
template <class T, int N> RICCI_INLINE lane_group<T, N> sums_of(const vec<T>* x) {
  constexpr int lanes = width<T>;
  using V = lane_group<T, lanes>;
  V v[N];
  RICCI_EACH(i, N) __builtin_memcpy(&v[i], &x[i], sizeof(V));
  const typename up_to_t<lanes>::type all{};
  if constexpr (N >= 2) RICCI_EACH(i, N / 2) v[i] = merged<1>(v[2 * i], v[2 * i + 1], all);
  if constexpr (N >= 4) RICCI_EACH(i, N / 4) v[i] = merged<2>(v[2 * i], v[2 * i + 1], all);
  if constexpr (N >= 8) RICCI_EACH(i, N / 8) v[i] = merged<4>(v[2 * i], v[2 * i + 1], all);
  return folded<T, N, lanes>(v[0]);
}

/// N elements of c, this many bytes apart, become beta c + alpha sum of the lanes of x[i].
template <class T, int N> RICCI_INLINE void store_sums(const frame<T>& f, const vec<T>* x, T* c, index stride) {
  if constexpr (N == 1) {
    const T s = sum<T>(x[0]) * f.alpha_re;
    *c = f.reads_c ? s + f.beta_re * *c : s;
    return;
  }
  constexpr int most = width<T> < 8 ? width<T> : 8;
  constexpr int n = N >= most ? most : N >= 4 ? 4 : N >= 2 ? 2 : 1;
  lane_group<T, n> sums = sums_of<T, n>(x) * f.alpha_re;
  if (stride == sizeof(T)) {
    if (f.reads_c) {
      lane_group<T, n> old;
      __builtin_memcpy(&old, c, sizeof old);
      sums += f.beta_re * old;
    }
    __builtin_memcpy(c, &sums, sizeof sums);
  } else {
    RICCI_EACH(i, n) {
      T* const p = shift(c, i * stride);
      *p = f.reads_c ? sums[i] + f.beta_re * *p : sums[i];
    }
  }
  if constexpr (N > n) store_sums<T, N - n>(f, x + n, shift(c, n * stride), stride);
}

}  // namespace ricci::kernels::RICCI_ISA
