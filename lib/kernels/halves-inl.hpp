// Products with even or odd matrices: sums and differences of mirrored elements stay in registers, meet two matrices of
// half the size, and give mirrored results.
#pragma once

#include "frame-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// The two half matrices, rows close together, alpha in them.
template <class T> struct half_matrices {
  T even[(max_halves / 2 + 1) * (max_halves / 2 + 1)], odd[(max_halves / 2 + 1) * (max_halves / 2 + 1)];

  half_matrices(const halves_args& g, const T* m, T alpha) {
    const int h = g.n / 2, r = (g.n + 1) / 2;
    for (int q = 0; q < (g.q + 1) / 2; ++q) {
      const T* row = m + q * g.m_q;
      for (int i = 0; i < h; ++i) {
        const T x = row[i * g.m_n], y = row[(g.n - 1 - i) * g.m_n];
        even[q * r + i] = alpha * (x + y) / 2;
        odd[q * h + i] = alpha * (x - y) / 2;
      }
      if (h < r) even[q * r + h] = alpha * row[h * g.m_n];
    }
  }
};

template <class T, int N, bool Partial>
RICCI_INLINE void fibre(const halves_args& g, const half_matrices<T>& m, const T* x, T* y, T beta, const tail<T>& rest) {
  constexpr int h = N / 2, r = (N + 1) / 2;
  const auto in = [&](const T* p) __attribute__((always_inline)) {
    if constexpr (Partial) return load<T>(p, rest);
    else return load<T>(p);
  };
  const auto out = [&](vec<T> v, T* p) __attribute__((always_inline)) {
    if (beta != T(0)) v = fma(in(p), set<T>(beta), v);
    if constexpr (Partial) store<T>(v, p, rest);
    else store<T>(v, p);
  };
  vec<T> sum[r], difference[h > 0 ? h : 1];
  RICCI_EACH(i, h) {
    const vec<T> a = in(x + i * g.x_n), b = in(x + (N - 1 - i) * g.x_n);
    sum[i] = add(a, b), difference[i] = sub(a, b);
  }
  if constexpr (h < r) sum[h] = in(x + h * g.x_n);
  const T *even = m.even, *odd = m.odd;
  T *first = y, *last = y + (g.q - 1) * g.y_q;
  for (int q = 0; q < g.q / 2; ++q) {
    vec<T> e = mul(sum[0], set<T>(even[0])), o = zero<T>();
    if constexpr (h > 0) o = mul(difference[0], set<T>(odd[0]));
    RICCI_EACH(i, r - 1) e = fma(sum[i + 1], set<T>(even[i + 1]), e);
    RICCI_EACH(i, h - 1) o = fma(difference[i + 1], set<T>(odd[i + 1]), o);
    out(add(e, o), first);
    out(g.parity > 0 ? sub(e, o) : sub(o, e), last);
    even += r, odd += h, first += g.y_q, last -= g.y_q;
  }
  if (g.q % 2) {
    vec<T> v = zero<T>();
    if (g.parity > 0) {
      RICCI_EACH(i, r) v = fma(sum[i], set<T>(even[i]), v);
    } else {
      RICCI_EACH(i, h) v = fma(difference[i], set<T>(odd[i]), v);
    }
    out(v, first);
  }
}

template <class T, int N>
void halves_of(const halves_args& g, const half_matrices<T>& m, const T* x, T* y, T beta) {
  const index whole = g.lane_extent / width<T> * width<T>;
  tail<T> rest;
  if (whole < g.lane_extent) rest.assign(static_cast<int>(g.lane_extent - whole));
  index count[max_loops] = {};
  for (;;) {
    for (index lane = 0; lane < whole; lane += width<T>) fibre<T, N, false>(g, m, x + lane, y + lane, beta, rest);
    if (whole < g.lane_extent) fibre<T, N, true>(g, m, x + whole, y + whole, beta, rest);
    int l = 0;
    for (; l < g.loop_count; ++l) {
      const bool more = ++count[l] < g.loops[l];
      const index times = more ? 1 : 1 - g.loops[l];
      x += times * g.x_loops[l], y += times * g.y_loops[l];
      if (more) break;
      count[l] = 0;
    }
    if (l == g.loop_count) return;
  }
}

template <class T>
void halves(const halves_args& g, const void* m, const void* x, void* y, const void* alpha, const void* beta) {
  using body = void (*)(const halves_args&, const half_matrices<T>&, const T*, T*, T);
  struct table {
    body at[max_halves + 1] = {};
    constexpr table() {
      each<max_halves>([this](auto n) { at[n + 1] = &halves_of<T, n + 1>; });
    }
  };
  static constexpr table functions{};
  const half_matrices<T> made(g, static_cast<const T*>(m), *static_cast<const T*>(alpha));
  functions.at[g.n](g, made, static_cast<const T*>(x), static_cast<T*>(y), *static_cast<const T*>(beta));
}

}  // namespace ricci::kernels::RICCI_ISA
