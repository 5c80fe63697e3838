// c[.., i, .., j, ..] = beta c + alpha b[.., j, .., i, ..]   where neighbours in memory run along j in c and along i in b.
//
// Squares of 32 x 32 go through shared memory, so that both sides are read and written along their neighbours. The text
// before this header defines permute_type: B, C, conj_b, beta, extent_i, extent_j, b_i, c_i, b_j, c_j (strides) and
// place(e, b, c), the offsets of the axes around the square.
#pragma once
#include "element.cuh"

struct permute_args {
  const void* b;
  void* c;
  i64 count;  // squares
  double alpha[2], beta[2];
};

extern "C" __global__ void __launch_bounds__(256) permute(const __grid_constant__ permute_args args) {
  using P = permute_type;
  using W = typename P::C::wide;
  const typename P::B::type* const pb = static_cast<const typename P::B::type*>(args.b);
  typename P::C::type* const pc = static_cast<typename P::C::type*>(args.c);
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  __shared__ W square[32][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  constexpr i64 across = (P::extent_i + 31) / 32, down = (P::extent_j + 31) / 32;
  for (i64 at = blockIdx.x; at < args.count; at += gridDim.x) {
    const i64 i0 = at % across * 32, j0 = at / across % down * 32;
    i64 b = 0, c = 0;
    P::place(at / across / down, b, c);
#pragma unroll
    for (int r = 0; r < 32; r += 8)
      if (i0 + x < P::extent_i && j0 + y + r < P::extent_j)
        square[y + r][x] = conj_if<P::conj_b>(P::B::get(pb[b + (i0 + x) * P::b_i + (j0 + y + r) * P::b_j]));
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 32; r += 8)
      if (j0 + x < P::extent_j && i0 + y + r < P::extent_i) {
        typename P::C::type* const to = pc + c + (j0 + x) * P::c_j + (i0 + y + r) * P::c_i;
        W v = product_of(alpha, square[x][y + r]);
        if constexpr (P::beta) v = sum_of(v, product_of(beta, P::C::get(*to)));
        *to = P::C::put(v);
      }
    __syncthreads();
  }
}
