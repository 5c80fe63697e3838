// Neighbours in memory that move in one access, and results that leave in them.
#pragma once
#include "element.cuh"

template <class X, int Count>
struct alignas(Count * sizeof(X)) neighbours {
  X x[Count];
};

/// c = beta c + alpha sums, of `count` neighbours; G has C, the element type, and beta, whether c is read.
template <class G, int count, class W>
__device__ inline void store(typename G::C::type* to, const W* sums, W alpha, W beta) {
  neighbours<typename G::C::type, count> x;
  if constexpr (G::beta) x = *reinterpret_cast<const neighbours<typename G::C::type, count>*>(to);
#pragma unroll
  for (int v = 0; v < count; ++v) {
    W y = product_of(alpha, sums[v]);
    if constexpr (G::beta) y = sum_of(y, product_of(beta, G::C::get(x.x[v])));
    x.x[v] = G::C::put(y);
  }
  *reinterpret_cast<neighbours<typename G::C::type, count>*>(to) = x;
}
