// Products of 16 lines with a matrix on the f64 tensor cores. Of a warp, thread 4 row + quad has terms of lines row and row + 8.
//
// A tile holds eight values of each line: thread quad has values quad and quad + 4 of them, so that four threads store
// neighbours. Of a last tile with four or fewer that is one place instead of two.
#pragma once
#include "element.cuh"

constexpr __host__ __device__ int tiles_of(int n) { return divide_up(n, 8); }

/// Which value of a line of N a thread has in a place; N or more: none.
template <int N>
__device__ inline int line_at(int place, int quad) {
  return place * 4 + quad;
}

/// A matrix of Terms rows and N columns, as the tensor cores want its tiles; `kept`: the terms come from tiles.
template <int Terms, int N, bool Kept, int Steps>
__device__ inline void load_matrix(double (&f)[Steps][tiles_of(N)], const double* matrix, int pitch, int quad, int row) {
#pragma unroll
  for (int s = 0; s < Steps; ++s)
#pragma unroll
    for (int t = 0; t < tiles_of(N); ++t) {
      const int term = Kept ? line_at<Terms>(s, quad) : s * 4 + quad;
      const int column = t * 8 + row % 2 * 4 + row / 2;
      f[s][t] = term < Terms && column < N ? matrix[term * pitch + column] : 0.0;
    }
}

/// v[r][place] = sum over terms of line r.
template <int N, int Places, int Steps>
__device__ inline void multiply_lines(double (&v)[2][Places], const double (&x)[Steps][2], const double (&f)[Steps][tiles_of(N)]) {
#pragma unroll
  for (int t = 0; t < tiles_of(N); ++t) {
    double c[4] = {};
#pragma unroll
    for (int s = 0; s < Steps; ++s) multiply_tile(c, x[s][0], x[s][1], f[s][t]);
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        if (2 * t + h < Places) v[r][2 * t + h] = c[2 * r + h];
  }
}
