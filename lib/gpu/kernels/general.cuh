// c[f] = beta c[f] + alpha sum_s a[f,s] b[f,s]   for any strides: the kernel of last resort, and the one for reductions.
//
// A team of 1, 32 or all threads of a block computes one element. The text before this header defines general_type:
//   A, B, C, has_a, has_b, conj_a, conj_b, beta, team, block, sum
//   parts                              the sum is cut into this many pieces, each an element of c; else 1
//   place(e, a, b, c), term(s, a, b)   offsets in elements
#pragma once
#include "element.cuh"

struct general_args {
  const void* a;
  const void* b;
  void* c;
  i64 count;  // elements of c
  double alpha[2], beta[2];
};

template <class W>
__device__ inline W from_lane(W x, int distance) { return __shfl_down_sync(0xffffffffu, x, distance); }
template <class X>
__device__ inline complex_of<X> from_lane(complex_of<X> x, int distance) {
  return {__shfl_down_sync(0xffffffffu, x.x, distance), __shfl_down_sync(0xffffffffu, x.y, distance)};
}

template <class W>
__device__ inline W sum_of_warp(W x) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) x = sum_of(x, from_lane(x, d));
  return x;
}

/// The sum over the team, in its first thread.
template <class G, class W>
__device__ inline W sum_of_team(W x) {
  if constexpr (G::team == 1) return x;
  x = sum_of_warp(x);
  if constexpr (G::team > 32) {
    __shared__ W parts[G::team / 32];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < G::team / 32 ? parts[threadIdx.x] : zero_of(static_cast<W*>(nullptr));
    if (threadIdx.x < 32) x = sum_of_warp(x);
    __syncthreads();
  }
  return x;
}

extern "C" __global__ void __launch_bounds__(general_type::block)
    general(const __grid_constant__ general_args args) {
  using G = general_type;
  using W = typename G::C::wide;
  const typename G::A::type* const pa = static_cast<const typename G::A::type*>(args.a);
  const typename G::B::type* const pb = static_cast<const typename G::B::type*>(args.b);
  typename G::C::type* const pc = static_cast<typename G::C::type*>(args.c);
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  constexpr int teams = G::block / G::team;
  const int lane = threadIdx.x % G::team;
  const i64 step = static_cast<i64>(gridDim.x) * teams;
  // Every thread of a warp takes part in the last round, so that shuffles and barriers are met by all.
  for (i64 round = static_cast<i64>(blockIdx.x) * teams; round < args.count; round += step) {
    const i64 e = round + threadIdx.x / G::team;
    const bool in = e < args.count;
    i64 a = 0, b = 0, c = 0;
    constexpr i64 piece = (G::sum + G::parts - 1) / G::parts;
    const i64 from = G::parts > 1 ? e % G::parts * piece : 0, rest = G::sum - from;
    const i64 to = G::parts > 1 ? from + (rest < piece ? rest : piece) : G::sum;
    if (in) G::place(e / G::parts, a, b, c);
    if constexpr (G::parts > 1) c = e;
    W sum = zero_of(static_cast<W*>(nullptr));
    if (in) {
#pragma unroll 4
      for (i64 s = from + lane; s < to; s += G::team) {
        i64 sa = a, sb = b;
        G::term(s, sa, sb);
        if constexpr (G::has_a) multiply_add(sum, conj_if<G::conj_a>(G::A::get(pa[sa])), conj_if<G::conj_b>(G::B::get(pb[sb])));
        else if constexpr (G::has_b) sum = sum_of(sum, conj_if<G::conj_b>(G::B::get(pb[sb])));
        else sum = sum_of(sum, one_of(static_cast<W*>(nullptr)));
      }
    }
    sum = sum_of_team<G>(sum);
    if (!in || lane != 0) continue;
    W x = product_of(alpha, sum);
    if constexpr (G::beta) x = sum_of(x, product_of(beta, G::C::get(pc[c])));
    pc[c] = G::C::put(x);
  }
}
