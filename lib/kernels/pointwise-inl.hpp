// Statements element by element: several vectors at once pass through the list of terms, so that what it costs to read
// the list is shared; sums stay in registers, values that later statements need in a few lines of the first cache.
#pragma once

#include "choose-inl.hpp"
#include "elements-inl.hpp"
#include "frame-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

RICCI_INLINE float power(float x) { return __builtin_expf(x); }
RICCI_INLINE double power(double x) { return __builtin_exp(x); }

/// What the elements of type E are made of: complex ones of two numbers, in neighbouring lanes.
template <class E> struct parts_t {
  using type = E;
  static constexpr int count = 1;
};
template <class T> struct parts_t<cplx<T>> {
  using type = T;
  static constexpr int count = 2;
};
template <class E> using part = typename parts_t<E>::type;
template <class E> inline constexpr int parts = parts_t<E>::count;
template <class E> inline constexpr bool is_pair = parts<E> == 2;
template <class E> using values = vec<part<E>>;
template <class E> inline constexpr int elements = width<part<E>> / parts<E>;  // in a vector

template <class E> RICCI_INLINE values<E> broadcast(E x) {
  if constexpr (is_pair<E>) return set_pairs<part<E>>(x.re, x.im);
  else return set<E>(x);
}

/// x y.
template <class E> RICCI_INLINE values<E> product_of(values<E> x, values<E> y) {
  if constexpr (is_pair<E>) {
    using T = part<E>;
    const values<E> crossed = mul(mul(both_odd<T>(x), set_pairs<T>(-1, 1)), swap_pairs<T>(y));
    return fma(both_even<T>(x), y, crossed);
  } else {
    return mul(x, y);
  }
}

/// sum + alpha x. A real alpha leaves the parts of x apart, infinite ones too.
template <class E> RICCI_INLINE values<E> plus_times(values<E> sum, E alpha, values<E> x) {
  using T = part<E>;
  if constexpr (is_pair<E>) {
    sum = fma(x, set<T>(alpha.re), sum);
    return alpha.im == T(0) ? sum : fma(swap_pairs<T>(x), set_pairs<T>(-alpha.im, alpha.im), sum);
  } else {
    return fma(x, set<T>(alpha), sum);
  }
}

/// One call's constants.
template <class E> struct pointwise_frame {
  const pointwise_args& g;
  const E *alphas, *betas;
  tail<part<E>> rest;
};

/// Out of line: around a call no vector stays in a register.
template <class T> __attribute__((noinline)) void powers(T* x, int count) {
  for (int i = 0; i < count; ++i) x[i] = power(x[i]);
}

/// x / y. Lanes behind the last element do not divide 0 by 0: programs may trap invalid operations.
template <bool Partial, class T> RICCI_INLINE vec<T> quotient(vec<T> x, vec<T> y, const tail<T>& rest) {
  if constexpr (Partial) return div(x, ones_behind<T>(y, rest));
  else return div(x, y);
}

/// The function of a factor; of complex ones there is none.
template <bool Partial, class T, int U> RICCI_INLINE void apply(function f, vec<T> (&x)[U], const tail<T>& rest) {
  const vec<T> one = set<T>(T(1));
  switch (f) {
    case function::reciprocal: RICCI_EACH(u, U) x[u] = quotient<Partial, T>(one, x[u], rest); break;
    case function::sqrt: RICCI_EACH(u, U) x[u] = root<T>(x[u]); break;
    case function::rsqrt: RICCI_EACH(u, U) x[u] = quotient<Partial, T>(one, root<T>(x[u]), rest); break;
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
template <class E, int U, bool Partial>
RICCI_INLINE void read(const pointwise_frame<E>& k, const E* p, const pointwise_args::stream& s, values<E> (&x)[U]) {
  using T = part<E>;
  const auto numbers = [](const E* at) RICCI_INLINE_LAMBDA { return reinterpret_cast<const T*>(at); };
  if (s.lane == 0) {
    RICCI_EACH(u, U) x[u] = broadcast(p[u * s.row]);
  } else if (s.lane != 1) {
    E lanes[elements<E>] = {};
    RICCI_EACH(u, U) {
      for (int i = 0; i < (Partial ? k.rest.count / parts<E> : elements<E>); ++i) lanes[i] = p[u * s.row + i * s.lane];
      x[u] = load<T>(numbers(lanes));
    }
  } else if constexpr (Partial) {
    RICCI_EACH(u, U) x[u] = load<T>(numbers(p + u * s.row), k.rest);
  } else {
    RICCI_EACH(u, U) x[u] = load<T>(numbers(p + u * s.row));
  }
}

/// Where a group of vectors is: U rows from `at` on, elements from `lane` on; and what its statements gave so far.
template <class E, int U> struct pointwise_place {
  const E* const* inputs;
  E* const* outputs;
  index at, lane;
  part<E>* kept;
};

/// A factor's vectors, before its function.
template <class E, int U, bool Partial>
RICCI_INLINE void read(const pointwise_frame<E>& k, const pointwise_place<E, U>& p, const pointwise_args::factor& f, values<E> (&x)[U]) {
  using T = part<E>;
  if (f.input < 0) {
    const T* from = p.kept + (-1 - f.input) * U * width<T>;
    RICCI_EACH(u, U) x[u] = load<T>(from + u * width<T>);
  } else {
    const pointwise_args::stream& s = k.g.inputs[f.input];
    read<E, U, Partial>(k, p.inputs[f.input] + p.at * s.row + p.lane * s.lane, s, x);
  }
  if constexpr (is_pair<E>)
    if (f.conj) RICCI_EACH(u, U) x[u] = mul(x[u], set_pairs<T>(1, -1));
}

/// A term of any kind.
template <class E, int U, bool Partial>
RICCI_INLINE void any_term(const pointwise_frame<E>& k, const pointwise_place<E, U>& p, const pointwise_args::term& term,
                           values<E> (&x)[U]) {
  using T = part<E>;
  const pointwise_args::factor* f = k.g.factors + term.first;
  if (term.count == 0) {
    E one{};
    assign(part<E>(1), one);
    RICCI_EACH(u, U) x[u] = broadcast(one);
    return;
  }
  read<E, U, Partial>(k, p, *f, x);
  if constexpr (!is_pair<E>)
    if (f->apply != function::identity) apply<Partial, T, U>(f->apply, x, k.rest);
  for (int n = 1; n < term.count; ++n) {
    ++f;
    values<E> y[U];
    read<E, U, Partial>(k, p, *f, y);
    if constexpr (is_pair<E>) {
      RICCI_EACH(u, U) x[u] = product_of<E>(x[u], y[u]);
      continue;
    }
    if constexpr (!is_pair<E>) {
      if (f->apply == function::reciprocal && term.how == combine::multiply) {
        RICCI_EACH(u, U) x[u] = quotient<Partial, T>(x[u], y[u], k.rest);
        continue;
      }
      if (f->apply != function::identity) apply<Partial, T, U>(f->apply, y, k.rest);
    }
    if (term.how == combine::multiply) {
      RICCI_EACH(u, U) x[u] = mul(x[u], y[u]);
    } else if (term.how == combine::minimum) {
      RICCI_EACH(u, U) x[u] = least(x[u], y[u]);
    } else {
      RICCI_EACH(u, U) x[u] = most(x[u], y[u]);
    }
  }
}

/// The sum of a statement's terms so far and one that is a product of two factors as they are.
template <class E, int U, bool Partial>
RICCI_INLINE void add_plain(const pointwise_frame<E>& k, const pointwise_place<E, U>& p, int term, values<E> (&sum)[U]) {
  using T = part<E>;
  const pointwise_args::factor* f = k.g.factors + k.g.terms[term].first;
  const E alpha = k.alphas[term];
  values<E> x[U], y[U];
  read<E, U, Partial>(k, p, f[0], x);
  read<E, U, Partial>(k, p, f[1], y);
  if constexpr (is_pair<E>) {
    RICCI_EACH(u, U) sum[u] = plus_times<E>(sum[u], alpha, product_of<E>(x[u], y[u]));
  } else {
    if (alpha == T(-1)) {
      RICCI_EACH(u, U) sum[u] = sub(sum[u], mul(x[u], y[u]));
      return;
    }
    if (alpha != T(1)) {
      RICCI_EACH(u, U) x[u] = mul(x[u], set<T>(alpha));
    }
    RICCI_EACH(u, U) sum[u] = fma(x[u], y[u], sum[u]);
  }
}

/// All statements for one group.
template <class E, int U, bool Partial>
RICCI_INLINE void pointwise_group(const pointwise_frame<E>& k, const pointwise_place<E, U>& p) {
  using T = part<E>;
  const pointwise_args& g = k.g;
  for (int n = 0; n < g.statement_count; ++n) {
    const pointwise_args::statement& s = g.statements[n];
    const pointwise_args::stream& c = g.outputs[s.output < 0 ? 0 : s.output];
    E* const to = s.output < 0 ? nullptr : p.outputs[s.output] + p.at * c.row + p.lane;
    values<E> sum[U];
    if (is_zero(k.betas[n])) {
      RICCI_EACH(u, U) sum[u] = set<T>(s.count > 0 ? T(-0.0) : T(0));  // -0 + x is x, of any zero too
    } else {
      values<E> old[U];
      read<E, U, Partial>(k, to, c, old);
      RICCI_EACH(u, U) sum[u] = plus_times<E>(set<T>(T(-0.0)), k.betas[n], old[u]);
    }
    for (int t = s.first; t < s.first + s.count; ++t) {
      if (s.plain) {
        add_plain<E, U, Partial>(k, p, t, sum);
        continue;
      }
      values<E> x[U];
      any_term<E, U, Partial>(k, p, g.terms[t], x);
      RICCI_EACH(u, U) sum[u] = plus_times<E>(sum[u], k.alphas[t], x[u]);
    }
    if (s.kept) {
      RICCI_EACH(u, U) store<T>(sum[u], p.kept + (n * U + u) * width<T>);
    }
    if (!to) continue;
    RICCI_EACH(u, U) {
      T* const at = reinterpret_cast<T*>(to + u * c.row);
      if constexpr (Partial) store<T>(sum[u], at, k.rest);
      else store<T>(sum[u], at);
    }
  }
}

template <class E, int U>
RICCI_INLINE void pointwise_rows(const pointwise_frame<E>& k, pointwise_place<E, U> p, index whole) {
  for (p.lane = 0; p.lane < whole; p.lane += elements<E>) pointwise_group<E, U, false>(k, p);
  if (whole < k.g.lane_extent) pointwise_group<E, U, true>(k, p);
}

template <class E>
void pointwise(const pointwise_args& g, const void* const* inputs, void* const* outputs, const void* alphas,
               const void* betas) {
  constexpr int U = vector_registers >= 32 ? 4 : 2;
  pointwise_frame<E> k{g, static_cast<const E*>(alphas), static_cast<const E*>(betas), {}};
  const index whole = g.lane_extent / elements<E> * elements<E>;
  if (whole < g.lane_extent) k.rest.assign(static_cast<int>(g.lane_extent - whole) * parts<E>);
  const E* at[max_pointwise_inputs];
  E* to[max_pointwise_statements];
  alignas(64) part<E> kept[max_pointwise_statements * U * width<part<E>>];
  for (int i = 0; i < g.input_count; ++i) at[i] = static_cast<const E*>(inputs[i]);
  for (int i = 0; i < g.output_count; ++i) to[i] = static_cast<E*>(outputs[i]);
  index count[max_loops] = {};
  for (;;) {
    index r = 0;
    for (; r + U <= g.row_extent; r += U) pointwise_rows<E, U>(k, {at, to, r, 0, kept}, whole);
    for (; r < g.row_extent; ++r) pointwise_rows<E, 1>(k, {at, to, r, 0, kept}, whole);
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
