// The products of one tile of complex numbers by the double-precision tensor cores: four real products for each complex one.
#pragma once
#include "small_product.cuh"

/// A warp owns rm x rn tiles of 8 x 8 of one result.
template <class S, class A, class B, class C, class MemoryA, class MemoryB, class MemoryC>
__device__ inline void product_by_mma_c128(const MemoryA& a, const MemoryB& b, const MemoryC& c, complex_of<double> alpha,
                                           complex_of<double> beta, int lane) {
  using X = complex_of<double>;
  constexpr int rm = S::rm, rn = S::rn, tm = divide_up(divide_up(S::m, 8), rm), tn = divide_up(divide_up(S::n, 8), rn);
  constexpr int items = S::problems * tm * tn;
  const int l = lane % 32, quad = l % 4, line = l / 4;
#pragma unroll 1
  for (int item = lane / 32; item < items; item += S::group / 32) {
    const int j = item % tn * rn, i = item / tn % tm * rm, p = item / (tn * tm);
    double real[rm][rn][2] = {}, imaginary[rm][rn][2] = {};
    int row[rm], col[rn];
#pragma unroll
    for (int r = 0; r < rm; ++r) row[r] = A::at_problem(p) + A::row_at(smaller((i + r) * 8 + line, S::m - 1));
#pragma unroll
    for (int s = 0; s < rn; ++s) col[s] = B::at_problem(p) + B::col_at(smaller((j + s) * 8 + line, S::n - 1));
#pragma unroll (S::unroll)
    for (int kk = 0; kk < divide_up(S::k, 4); ++kk) {
      const int k = kk * 4 + quad;
      const bool in = S::k % 4 == 0 || k < S::k;
      const int ka = A::col_at(in ? k : 0), kb = B::row_at(in ? k : 0);
      X x[rm], y[rn];
#pragma unroll
      for (int r = 0; r < rm; ++r) x[r] = in ? conj_if<A::conj>(a.data[row[r] + ka]) : X{0.0, 0.0};
#pragma unroll
      for (int s = 0; s < rn; ++s) y[s] = in ? conj_if<B::conj>(b.data[col[s] + kb]) : X{0.0, 0.0};
#pragma unroll
      for (int r = 0; r < rm; ++r)
#pragma unroll
        for (int s = 0; s < rn; ++s) {
          if (r + 1 < rm) {
            if (r % 2 == 1) continue;
            mma_f64_two(real[r][s], real[r + 1][s], x[r].x, x[r + 1].x, y[s].x);
            mma_f64_two(imaginary[r][s], imaginary[r + 1][s], x[r].x, x[r + 1].x, y[s].y);
            mma_f64_two(real[r][s], real[r + 1][s], -x[r].y, -x[r + 1].y, y[s].y);
            mma_f64_two(imaginary[r][s], imaginary[r + 1][s], x[r].y, x[r + 1].y, y[s].x);
            continue;
          }
          if (r % 2 == 1) continue;
          mma_f64(real[r][s], x[r].x, y[s].x);
          mma_f64(imaginary[r][s], x[r].x, y[s].y);
          mma_f64(real[r][s], -x[r].y, y[s].y);
          mma_f64(imaginary[r][s], x[r].y, y[s].x);
        }
    }
#pragma unroll
    for (int r = 0; r < rm; ++r)
#pragma unroll
      for (int s = 0; s < rn; ++s)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int at_row = (i + r) * 8 + line, at_col = (j + s) * 8 + 2 * quad + h;
          if (at_row < S::m && at_col < S::n)
            finish<S, C>(c.data + C::at_problem(p) + C::row_at(at_row) + C::col_at(at_col), X{real[r][s][h], imaginary[r][s][h]}, alpha, beta);
        }
  }
}
