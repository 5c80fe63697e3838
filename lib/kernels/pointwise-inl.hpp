// c = beta c + sum of terms, element by element: several vectors at once pass through the list of factors, so that what
// it costs to read the list is shared, and sums stay in registers.
#pragma once

#include "choose-inl.hpp"
#include "frame-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

RICCI_INLINE float power(float x) { return __builtin_expf(x); }
RICCI_INLINE double power(double x) { return __builtin_exp(x); }

/// One call's constants.
template <class T> struct pointwise_frame {
  const pointwise_args& g;
  const T* alphas;
  T beta;
  bool plain;  // every term is a product of two factors
  tail<T> rest;
};

/// Out of line: around a call no vector stays in a register.
template <class T> __attribute__((noinline)) void powers(T* x, int count) {
  for (int i = 0; i < count; ++i) x[i] = power(x[i]);
}

template <class T, int U> RICCI_INLINE void apply(function f, vec<T> (&x)[U]) {
  switch (f) {
    case function::reciprocal: RICCI_EACH(u, U) x[u] = div(set<T>(T(1)), x[u]); break;
    case function::sqrt: RICCI_EACH(u, U) x[u] = root<T>(x[u]); break;
    case function::rsqrt: RICCI_EACH(u, U) x[u] = div(set<T>(T(1)), root<T>(x[u])); break;
    case function::abs: RICCI_EACH(u, U) x[u] = size<T>(x[u]); break;
    case function::exp: {
      T lanes[U * width<T>];
      RICCI_EACH(u, U) store<T>(x[u], lanes + u * width<T>);
      powers(lanes, U * width<T>);
      RICCI_EACH(u, U) x[u] = load<T>(lanes + u * width<T>);
      break;
    }
    default: break;
  }
}

/// The factor's vectors in U rows.
template <class T, int U, bool Partial>
RICCI_INLINE void read(const pointwise_frame<T>& k, const T* p, const pointwise_args::stream& s, vec<T> (&x)[U]) {
  if (s.lane == 0) {
    RICCI_EACH(u, U) x[u] = set<T>(p[u * s.row]);
  } else if constexpr (Partial) {
    RICCI_EACH(u, U) x[u] = load<T>(p + u * s.row, k.rest);
  } else {
    RICCI_EACH(u, U) x[u] = load<T>(p + u * s.row);
  }
}

/// The same for products of one or two factors without functions: nothing but loads and multiply-adds.
template <class T, int U, bool Partial>
RICCI_INLINE void plain_group(const pointwise_frame<T>& k, const T* const* inputs, T* c, index at, index lane) {
  const pointwise_args& g = k.g;
  vec<T> sum[U];
  T* to = c + at * g.c.row + lane;
  if (k.beta != T(0)) {
    read<T, U, Partial>(k, to, g.c, sum);
    RICCI_EACH(u, U) sum[u] = mul(sum[u], set<T>(k.beta));
  } else {
    RICCI_EACH(u, U) sum[u] = zero<T>();
  }
  for (int t = 0; t < g.term_count; ++t) {
    const pointwise_args::term& term = g.terms[t];
    const pointwise_args::factor* f = g.factors + term.first;
    const pointwise_args::stream &p = g.inputs[f[0].input], &q = g.inputs[f[1].input];
    vec<T> x[U], y[U];
    read<T, U, Partial>(k, inputs[f[0].input] + at * p.row + lane * p.lane, p, x);
    read<T, U, Partial>(k, inputs[f[1].input] + at * q.row + lane * q.lane, q, y);
    if (k.alphas[t] != T(1)) {
      const vec<T> alpha = set<T>(k.alphas[t]);
      RICCI_EACH(u, U) x[u] = mul(x[u], alpha);
    }
    RICCI_EACH(u, U) sum[u] = fma(x[u], y[u], sum[u]);
  }
  RICCI_EACH(u, U) {
    if constexpr (Partial) store<T>(sum[u], to + u * g.c.row, k.rest);
    else store<T>(sum[u], to + u * g.c.row);
  }
}

/// U rows of one vector; `at` counts rows, `lane` elements.
template <class T, int U, bool Partial>
RICCI_INLINE void pointwise_group(const pointwise_frame<T>& k, const T* const* inputs, T* c, index at, index lane) {
  const pointwise_args& g = k.g;
  vec<T> sum[U];
  T* to = c + at * g.c.row + lane;
  if (k.beta != T(0)) {
    read<T, U, Partial>(k, to, g.c, sum);
    RICCI_EACH(u, U) sum[u] = mul(sum[u], set<T>(k.beta));
  } else {
    RICCI_EACH(u, U) sum[u] = zero<T>();
  }
  for (int t = 0; t < g.term_count; ++t) {
    const pointwise_args::term& term = g.terms[t];
    const pointwise_args::factor* f = g.factors + term.first;
    vec<T> x[U];
    if (term.count == 0) {
      RICCI_EACH(u, U) x[u] = set<T>(T(1));
    } else {
      const pointwise_args::stream& s = g.inputs[f->input];
      read<T, U, Partial>(k, inputs[f->input] + at * s.row + lane * s.lane, s, x);
      if (f->apply != function::identity) apply<T, U>(f->apply, x);
    }
    for (int n = 1; n < term.count; ++n) {
      ++f;
      const pointwise_args::stream& s = g.inputs[f->input];
      vec<T> y[U];
      read<T, U, Partial>(k, inputs[f->input] + at * s.row + lane * s.lane, s, y);
      if (f->apply == function::reciprocal && term.how == combine::multiply) {
        RICCI_EACH(u, U) x[u] = div(x[u], y[u]);
        continue;
      }
      if (f->apply != function::identity) apply<T, U>(f->apply, y);
      if (term.how == combine::multiply) {
        RICCI_EACH(u, U) x[u] = mul(x[u], y[u]);
      } else if (term.how == combine::minimum) {
        RICCI_EACH(u, U) x[u] = least(x[u], y[u]);
      } else {
        RICCI_EACH(u, U) x[u] = most(x[u], y[u]);
      }
    }
    const vec<T> alpha = set<T>(k.alphas[t]);
    RICCI_EACH(u, U) sum[u] = fma(x[u], alpha, sum[u]);
  }
  RICCI_EACH(u, U) {
    if constexpr (Partial) store<T>(sum[u], to + u * g.c.row, k.rest);
    else store<T>(sum[u], to + u * g.c.row);
  }
}

template <class T, int U>
RICCI_INLINE void pointwise_rows(const pointwise_frame<T>& k, const T* const* inputs, T* c, index at, index whole) {
  if (k.plain) {
    for (index lane = 0; lane < whole; lane += width<T>) plain_group<T, U, false>(k, inputs, c, at, lane);
    if (whole < k.g.lane_extent) plain_group<T, U, true>(k, inputs, c, at, whole);
    return;
  }
  for (index lane = 0; lane < whole; lane += width<T>) pointwise_group<T, U, false>(k, inputs, c, at, lane);
  if (whole < k.g.lane_extent) pointwise_group<T, U, true>(k, inputs, c, at, whole);
}

template <class T>
void pointwise(const pointwise_args& g, const void* const* inputs, void* c, const void* alphas, const void* beta) {
  constexpr int U = vector_registers >= 32 ? 4 : 2;
  pointwise_frame<T> k{g, static_cast<const T*>(alphas), *static_cast<const T*>(beta), true, {}};
  for (int t = 0; t < g.term_count; ++t) k.plain = k.plain && g.terms[t].count == 2 && g.terms[t].how == combine::multiply;
  for (int t = 0, f = 0; t < g.term_count; ++t)
    for (int n = 0; n < g.terms[t].count; ++n, ++f) k.plain = k.plain && g.factors[f].apply == function::identity;
  const index whole = g.lane_extent / width<T> * width<T>;
  if (whole < g.lane_extent) k.rest.assign(static_cast<int>(g.lane_extent - whole));
  const T* at[max_pointwise_factors];
  for (int i = 0; i < g.input_count; ++i) at[i] = static_cast<const T*>(inputs[i]);
  T* to = static_cast<T*>(c);
  index count[max_loops] = {};
  for (;;) {
    index r = 0;
    for (; r + U <= g.row_extent; r += U) pointwise_rows<T, U>(k, at, to, r, whole);
    for (; r < g.row_extent; ++r) pointwise_rows<T, 1>(k, at, to, r, whole);
    int l = 0;
    for (; l < g.loop_count; ++l) {
      const bool more = ++count[l] < g.loops[l];
      const index times = more ? 1 : 1 - g.loops[l];
      for (int i = 0; i < g.input_count; ++i) at[i] += times * g.inputs[i].loops[l];
      to += times * g.c.loops[l];
      if (more) break;
      count[l] = 0;
    }
    if (l == g.loop_count) return;
  }
}

}  // namespace ricci::kernels::RICCI_ISA
