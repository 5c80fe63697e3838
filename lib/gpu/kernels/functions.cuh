// Numbers that a text knows, and the functions of pointwise operations.
#pragma once
#include "element.cuh"

/// A number that the text knows.
template <class W>
__device__ inline W constant(double x) {
  const double both[2] = {x, 0};
  return coefficient(static_cast<W*>(nullptr), both);
}

__device__ inline float square_root(float x) { return sqrtf(x); }
__device__ inline double square_root(double x) { return sqrt(x); }
__device__ inline float absolute(float x) { return fabsf(x); }
__device__ inline double absolute(double x) { return fabs(x); }
__device__ inline float exponential(float x) { return expf(x); }
__device__ inline double exponential(double x) { return exp(x); }
template <class W> __device__ inline W reciprocal(W x) { return W(1) / x; }
template <class W> __device__ inline W reciprocal_root(W x) { return W(1) / square_root(x); }
template <class W> __device__ inline W smaller_of(W x, W y) { return y < x ? y : x; }
template <class W> __device__ inline W larger_of(W x, W y) { return x < y ? y : x; }
