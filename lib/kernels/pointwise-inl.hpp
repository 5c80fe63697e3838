// Statements element by element: several vectors at once pass through the list of terms, so that what it costs to read
// the list is shared; sums stay in registers, values that later statements need in a few lines of the first cache.
#pragma once

#include "choose-inl.hpp"
#include "frame-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

RICCI_INLINE float power(float x) { return __builtin_expf(x); }
RICCI_INLINE double power(double x) { return __builtin_exp(x); }

/// One call's constants.
template <class T> struct pointwise_frame {
  const pointwise_args& g;
  const T *alphas, *betas;
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

/// A stream's vectors in U rows.
template <class T, int U, bool Partial>
RICCI_INLINE void read(const pointwise_frame<T>& k, const T* p, const pointwise_args::stream& s, vec<T> (&x)[U]) {
  if (s.lane == 0) {
    RICCI_EACH(u, U) x[u] = set<T>(p[u * s.row]);
  } else if (s.lane != 1) {
    T lanes[width<T>] = {};
    RICCI_EACH(u, U) {
      for (int i = 0; i < (Partial ? k.rest.count : width<T>); ++i) lanes[i] = p[u * s.row + i * s.lane];
      x[u] = load<T>(lanes);
    }
  } else if constexpr (Partial) {
    RICCI_EACH(u, U) x[u] = load<T>(p + u * s.row, k.rest);
  } else {
    RICCI_EACH(u, U) x[u] = load<T>(p + u * s.row);
  }
}

/// Where a group of vectors is: U rows from `at` on, elements from `lane` on; and what its statements gave so far.
template <class T, int U> struct pointwise_place {
  const T* const* inputs;
  T* const* outputs;
  index at, lane;
  T* values;
};

/// A factor's vectors, before its function.
template <class T, int U, bool Partial>
RICCI_INLINE void read(const pointwise_frame<T>& k, const pointwise_place<T, U>& p, int input, vec<T> (&x)[U]) {
  if (input < 0) {
    const T* from = p.values + (-1 - input) * U * width<T>;
    RICCI_EACH(u, U) x[u] = load<T>(from + u * width<T>);
  } else {
    const pointwise_args::stream& s = k.g.inputs[input];
    read<T, U, Partial>(k, p.inputs[input] + p.at * s.row + p.lane * s.lane, s, x);
  }
}

/// A term of any kind.
template <class T, int U, bool Partial>
RICCI_INLINE void any_term(const pointwise_frame<T>& k, const pointwise_place<T, U>& p, const pointwise_args::term& term,
                           vec<T> (&x)[U]) {
  const pointwise_args::factor* f = k.g.factors + term.first;
  if (term.count == 0) {
    RICCI_EACH(u, U) x[u] = set<T>(T(1));
    return;
  }
  read<T, U, Partial>(k, p, f->input, x);
  if (f->apply != function::identity) apply<T, U>(f->apply, x);
  for (int n = 1; n < term.count; ++n) {
    ++f;
    vec<T> y[U];
    read<T, U, Partial>(k, p, f->input, y);
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
}

/// All statements for one group.
template <class T, int U, bool Partial>
RICCI_INLINE void pointwise_group(const pointwise_frame<T>& k, const pointwise_place<T, U>& p) {
  const pointwise_args& g = k.g;
  for (int n = 0; n < g.statement_count; ++n) {
    const pointwise_args::statement& s = g.statements[n];
    const pointwise_args::stream& c = g.outputs[s.output < 0 ? 0 : s.output];
    T* const to = s.output < 0 ? nullptr : p.outputs[s.output] + p.at * c.row + p.lane;
    vec<T> sum[U];
    if (k.betas[n] != T(0)) {
      read<T, U, Partial>(k, to, c, sum);
      RICCI_EACH(u, U) sum[u] = mul(sum[u], set<T>(k.betas[n]));
    } else {
      RICCI_EACH(u, U) sum[u] = set<T>(s.count > 0 ? T(-0.0) : T(0));  // -0 + x is x, of any zero too
    }
    for (int t = s.first; t < s.first + s.count; ++t) {
      vec<T> x[U];
      const T alpha = k.alphas[t];
      if (s.plain) {
        const pointwise_args::factor* f = g.factors + g.terms[t].first;
        vec<T> y[U];
        read<T, U, Partial>(k, p, f[0].input, x);
        read<T, U, Partial>(k, p, f[1].input, y);
        if (alpha == T(-1)) {
          RICCI_EACH(u, U) sum[u] = sub(sum[u], mul(x[u], y[u]));
          continue;
        }
        if (alpha != T(1)) {
          RICCI_EACH(u, U) x[u] = mul(x[u], set<T>(alpha));
        }
        RICCI_EACH(u, U) sum[u] = fma(x[u], y[u], sum[u]);
        continue;
      }
      any_term<T, U, Partial>(k, p, g.terms[t], x);
      RICCI_EACH(u, U) sum[u] = fma(x[u], set<T>(alpha), sum[u]);
    }
    if (s.kept) {
      RICCI_EACH(u, U) store<T>(sum[u], p.values + (n * U + u) * width<T>);
    }
    if (!to) continue;
    RICCI_EACH(u, U) {
      if constexpr (Partial) store<T>(sum[u], to + u * c.row, k.rest);
      else store<T>(sum[u], to + u * c.row);
    }
  }
}

template <class T, int U>
RICCI_INLINE void pointwise_rows(const pointwise_frame<T>& k, pointwise_place<T, U> p, index whole) {
  for (p.lane = 0; p.lane < whole; p.lane += width<T>) pointwise_group<T, U, false>(k, p);
  if (whole < k.g.lane_extent) pointwise_group<T, U, true>(k, p);
}

template <class T>
void pointwise(const pointwise_args& g, const void* const* inputs, void* const* outputs, const void* alphas,
               const void* betas) {
  constexpr int U = vector_registers >= 32 ? 4 : 2;
  pointwise_frame<T> k{g, static_cast<const T*>(alphas), static_cast<const T*>(betas), {}};
  const index whole = g.lane_extent / width<T> * width<T>;
  if (whole < g.lane_extent) k.rest.assign(static_cast<int>(g.lane_extent - whole));
  const T* at[max_pointwise_inputs];
  T* to[max_pointwise_statements];
  alignas(64) T values[max_pointwise_statements * U * width<T>];
  for (int i = 0; i < g.input_count; ++i) at[i] = static_cast<const T*>(inputs[i]);
  for (int i = 0; i < g.output_count; ++i) to[i] = static_cast<T*>(outputs[i]);
  index count[max_loops] = {};
  for (;;) {
    index r = 0;
    for (; r + U <= g.row_extent; r += U) pointwise_rows<T, U>(k, {at, to, r, 0, values}, whole);
    for (; r < g.row_extent; ++r) pointwise_rows<T, 1>(k, {at, to, r, 0, values}, whole);
    int l = 0;
    for (; l < g.loop_count; ++l) {
      const bool more = ++count[l] < g.loops[l];
      const index times = more ? 1 : 1 - g.loops[l];
      for (int i = 0; i < g.input_count; ++i) at[i] += times * g.inputs[i].loops[l];
      for (int i = 0; i < g.output_count; ++i) to[i] += times * g.outputs[i].loops[l];
      if (more) break;
      count[l] = 0;
    }
    if (l == g.loop_count) return;
  }
}

}  // namespace ricci::kernels::RICCI_ISA
