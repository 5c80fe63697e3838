// Element types on the GPU: storage, the type they are computed in, and the multiply-add.
#pragma once
#include "hardware.cuh"

using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i64 = long long;

/// A complex number as it lies in memory.
template <class X>
struct __align__(2 * sizeof(X)) complex_of {
  X x, y;
};

/// The element types of ricci::dtype, by number: storage `type`, computed in `wide`.
template <int DType> struct element;

template <> struct element<0> {
  using type = float;
  using wide = float;
  static __device__ float get(float x) { return x; }
  static __device__ float put(float x) { return x; }
};
template <> struct element<1> {
  using type = double;
  using wide = double;
  static __device__ double get(double x) { return x; }
  static __device__ double put(double x) { return x; }
};
template <> struct element<2> {
  using type = complex_of<float>;
  using wide = type;
  static __device__ type get(type x) { return x; }
  static __device__ type put(type x) { return x; }
};
template <> struct element<3> {
  using type = complex_of<double>;
  using wide = type;
  static __device__ type get(type x) { return x; }
  static __device__ type put(type x) { return x; }
};
template <> struct element<4> {  // IEEE binary16
  using type = u16;
  using wide = float;
  static __device__ float get(u16 x) { return half_to_float(x); }
  static __device__ u16 put(float x) { return float_to_half(x); }
};
template <> struct element<5> {  // bfloat16
  using type = u16;
  using wide = float;
  static __device__ float get(u16 x) { return __uint_as_float(static_cast<u32>(x) << 16); }
  static __device__ u16 put(float x) { return float_to_bfloat(x); }
};

/// acc += a b
__device__ inline void multiply_add(float& acc, float a, float b) { acc = fmaf(a, b, acc); }
__device__ inline void multiply_add(double& acc, double a, double b) { acc = fma(a, b, acc); }
template <class X>
__device__ inline void multiply_add(complex_of<X>& acc, complex_of<X> a, complex_of<X> b) {
  multiply_add(acc.x, a.x, b.x);
  multiply_add(acc.x, -a.y, b.y);
  multiply_add(acc.y, a.x, b.y);
  multiply_add(acc.y, a.y, b.x);
}

template <class W> __device__ inline W product_of(W a, W b) { return a * b; }
template <class X>
__device__ inline complex_of<X> product_of(complex_of<X> a, complex_of<X> b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

template <class W> __device__ inline W sum_of(W a, W b) { return a + b; }
template <class X>
__device__ inline complex_of<X> sum_of(complex_of<X> a, complex_of<X> b) { return {a.x + b.x, a.y + b.y}; }

template <class W> __device__ inline W difference_of(W a, W b) { return a - b; }
template <class X>
__device__ inline complex_of<X> difference_of(complex_of<X> a, complex_of<X> b) { return {a.x - b.x, a.y - b.y}; }

template <bool Conj, class W> __device__ inline W conj_if(W x) { return x; }
template <bool Conj, class X>
__device__ inline complex_of<X> conj_if(complex_of<X> x) {
  if constexpr (Conj) return {x.x, -x.y};
  else return x;
}

/// A coefficient as it comes in the arguments.
template <class W> __device__ inline W coefficient(W*, const double* c) { return static_cast<W>(c[0]); }
template <class X>
__device__ inline complex_of<X> coefficient(complex_of<X>*, const double* c) {
  return {static_cast<X>(c[0]), static_cast<X>(c[1])};
}

template <class W> __device__ inline W zero_of(W*) { return W(0); }
template <class X> __device__ inline complex_of<X> zero_of(complex_of<X>*) { return {X(0), X(0)}; }

template <class W> __device__ inline W one_of(W*) { return W(1); }
template <class X> __device__ inline complex_of<X> one_of(complex_of<X>*) { return {X(1), X(0)}; }

constexpr __host__ __device__ int divide_up(int x, int y) { return (x + y - 1) / y; }
constexpr __host__ __device__ int smaller(int x, int y) { return x < y ? x : y; }

/// Several bytes moved at once.
template <int Bytes> struct word;
template <> struct word<16> { using type = uint4; };
template <> struct word<8> { using type = uint2; };
template <> struct word<4> { using type = u32; };
template <> struct word<2> { using type = u16; };
