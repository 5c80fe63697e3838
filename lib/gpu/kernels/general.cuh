// c[f] = beta c[f] + alpha sum_s a[f,s] b[f,s]   for any strides: sums, products with a short side, element by element.
//
// The bits of a thread's number count free elements and terms, so that neighbouring threads read what lies together, whichever
// labels that are; threads that have terms of the same element add up at the end. The text before this header defines
// general_type:
//   A, B, C, has_a, has_b, conj_a, conj_b, beta, block, unroll
//   each                               elements of c that a thread has at once
//   run, terms                         of them, neighbours; terms in a turn
//   step_a, step_b                     from term to term of a turn
//   along_a, along_b, along_c          1: the operand's elements of a run are neighbours in whole words; 2: those of a turn's terms; else 0
//   rounds, whole                      every thread takes that many turns of terms, in the first of which all have one
//   parts, count                       the turns are cut into so many parts, each with `count` elements of c of its own; else 1
//   sum_bits                           the bits of a thread's number that count terms
//   cut                                the last run has fewer elements than the others
//   place(at, thread, a, b, c)         offsets of the thread's element in block `at`; false if there is none
//   own(at, thread, j, a, b, c)        those of the thread's j-th element from there; false if there is none
//   term(turn, thread, a, b)           those of the thread's term in a turn; false if there is none
#pragma once
#include "words.cuh"

struct general_args {
  const void* a;
  const void* b;
  void* c;
  i64 count;  // blocks' worth of elements, times parts
  double alpha[2], beta[2];
};

template <class W>
__device__ inline W from_lane(W x, int mask) { return __shfl_xor_sync(0xffffffffu, x, mask); }
template <class X>
__device__ inline complex_of<X> from_lane(complex_of<X> x, int mask) {
  return {__shfl_xor_sync(0xffffffffu, x.x, mask), __shfl_xor_sync(0xffffffffu, x.y, mask)};
}

/// Sums over the threads whose numbers differ in `sum_bits`, in those where they are 0.
template <class G, class W>
__device__ inline void add_up(W (&sums)[G::each]) {
#pragma unroll
  for (int bit = 1; bit < 32; bit *= 2) {
    if ((G::sum_bits & bit) == 0) continue;
#pragma unroll
    for (W& x : sums) x = sum_of(x, from_lane(x, bit));
  }
  constexpr int high = G::sum_bits & ~31;
  if constexpr (high != 0) {
    __shared__ W others[G::each][G::block];
    const int thread = threadIdx.x;
#pragma unroll
    for (int j = 0; j < G::each; ++j) others[j][thread] = sums[j];
    __syncthreads();
    if ((thread & high) == 0) {
#pragma unroll
      for (int j = 0; j < G::each; ++j)
        for (int t = high & -high; t <= high; t += high & -high)
          if ((t & ~high) == 0) sums[j] = sum_of(sums[j], others[j][thread | t]);
    }
    __syncthreads();
  }
}

/// What a thread multiplies in a turn: `terms` of each of its elements.
template <class G, class E, int Along, bool Conj, class W>
__device__ inline void fetch(W (&to)[G::each][G::terms], const typename E::type* from, const i64 (&own)[G::each], i64 step, bool whole) {
  if constexpr (Along == 1) {
    if (!whole) return fetch<G, E, 0, Conj>(to, from, own, step, true);
#pragma unroll
    for (int j = 0; j < G::each; j += G::run) {
      const auto x = *reinterpret_cast<const neighbours<typename E::type, G::run>*>(from + own[j]);
#pragma unroll
      for (int v = 0; v < G::run; ++v) to[j + v][0] = conj_if<Conj>(E::get(x.x[v]));
    }
  } else if constexpr (Along == 2) {
#pragma unroll
    for (int j = 0; j < G::each; ++j) {
      const auto x = *reinterpret_cast<const neighbours<typename E::type, G::terms>*>(from + own[j]);
#pragma unroll
      for (int t = 0; t < G::terms; ++t) to[j][t] = conj_if<Conj>(E::get(x.x[t]));
    }
  } else {
#pragma unroll
    for (int j = 0; j < G::each; ++j)
#pragma unroll
      for (int t = 0; t < G::terms; ++t) to[j][t] = conj_if<Conj>(E::get(from[own[j] + t * step]));
  }
}

extern "C" __global__ void __launch_bounds__(general_type::block) general(const __grid_constant__ general_args args) {
  using G = general_type;
  using W = typename G::C::wide;
  const typename G::A::type* const pa = static_cast<const typename G::A::type*>(args.a);
  const typename G::B::type* const pb = static_cast<const typename G::B::type*>(args.b);
  typename G::C::type* const pc = static_cast<typename G::C::type*>(args.c);
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  const int thread = threadIdx.x;
  for (i64 round = blockIdx.x; round < args.count; round += gridDim.x) {
    const i64 at = G::parts > 1 ? round / G::parts : round, part = G::parts > 1 ? round % G::parts : 0;
    constexpr i64 piece = (G::rounds + G::parts - 1) / G::parts;
    const i64 first = part * piece, last = G::rounds - first < piece ? G::rounds : first + piece;
    i64 a = 0, b = 0, c = part * G::count;
    const bool in = G::place(at, thread, a, b, c);
    i64 own_a[G::each] = {}, own_b[G::each] = {}, own_c[G::each] = {};
    bool there[G::each];
    W sums[G::each];
#pragma unroll
    for (int j = 0; j < G::each; ++j) there[j] = G::own(at, thread, j, own_a[j], own_b[j], own_c[j]), sums[j] = zero_of(static_cast<W*>(nullptr));
    const bool all = !G::cut || there[G::each - 1];
    const auto add = [&](i64 ta, i64 tb) {
      W x[G::each][G::terms], y[G::each][G::terms];
      if constexpr (G::has_a) fetch<G, typename G::A, G::along_a, G::conj_a>(x, pa + ta, own_a, G::step_a, all);
      if constexpr (G::has_b) fetch<G, typename G::B, G::along_b, G::conj_b>(y, pb + tb, own_b, G::step_b, all);
#pragma unroll
      for (int j = 0; j < G::each; ++j)
#pragma unroll
        for (int t = 0; t < G::terms; ++t) {
          if constexpr (G::has_a) multiply_add(sums[j], x[j][t], y[j][t]);
          else if constexpr (G::has_b) sums[j] = sum_of(sums[j], y[j][t]);
          else sums[j] = sum_of(sums[j], one_of(static_cast<W*>(nullptr)));
        }
    };
    if (in) {
      const i64 whole = last < G::whole ? last : G::whole;
#pragma unroll (G::unroll)
      for (i64 turn = first; turn < whole; ++turn) {
        i64 ta = a, tb = b;
        G::term(turn, thread, ta, tb);
        add(ta, tb);
      }
      if constexpr (G::whole < G::rounds)
#pragma unroll (G::unroll)
        for (i64 turn = first < G::whole ? G::whole : first; turn < last; ++turn) {
          i64 ta = a, tb = b;
          if (G::term(turn, thread, ta, tb)) add(ta, tb);
        }
    }
    add_up<G>(sums);
    if (!in || (thread & G::sum_bits) != 0) continue;
    constexpr int count = G::along_c == 1 ? G::run : 1;
    if (all) {
#pragma unroll
      for (int j = 0; j < G::each; j += count)
        if (there[j]) store<G, count>(pc + c + own_c[j], sums + j, alpha, beta);
    } else {
#pragma unroll
      for (int j = 0; j < G::each; ++j)
        if (there[j]) store<G, 1>(pc + c + own_c[j], sums + j, alpha, beta);
    }
  }
}
