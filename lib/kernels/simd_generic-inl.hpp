// Vector operations through the compiler's vector types: any machine, vectors of RICCI_GENERIC_VECTOR_BYTES.
#pragma once

#include <cstring>

namespace ricci::kernels::RICCI_ISA {

inline constexpr int vector_bytes = RICCI_GENERIC_VECTOR_BYTES;

template <class T> struct vec_t { typedef T type __attribute__((vector_size(vector_bytes))); };
template <class T> using vec = typename vec_t<T>::type;
template <class T> inline constexpr int width = vector_bytes / static_cast<int>(sizeof(T));

template <class T> RICCI_INLINE vec<T> zero() { return vec<T>{}; }
template <class T> RICCI_INLINE vec<T> set(T x) {
  vec<T> v;
  for (int i = 0; i < width<T>; ++i) v[i] = x;
  return v;
}
template <class T> RICCI_INLINE vec<T> load(const T* p) {
  vec<T> v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
template <class T> RICCI_INLINE void store(vec<T> v, T* p) { __builtin_memcpy(p, &v, sizeof(v)); }
template <class V> RICCI_INLINE V fma(V a, V b, V c) { return a * b + c; }  // contracted where the machine has one
template <class V> RICCI_INLINE V mul(V a, V b) { return a * b; }
template <class V> RICCI_INLINE V add(V a, V b) { return a + b; }
template <class V> RICCI_INLINE V sub(V a, V b) { return a - b; }
template <class V> RICCI_INLINE V div(V a, V b) { return a / b; }
template <class V> RICCI_INLINE V least(V a, V b) {
  for (unsigned i = 0; i < sizeof(V) / sizeof(a[0]); ++i) a[i] = b[i] < a[i] ? b[i] : a[i];
  return a;
}
template <class V> RICCI_INLINE V most(V a, V b) {
  for (unsigned i = 0; i < sizeof(V) / sizeof(a[0]); ++i) a[i] = b[i] > a[i] ? b[i] : a[i];
  return a;
}
RICCI_INLINE float root(float x) { return __builtin_sqrtf(x); }
RICCI_INLINE double root(double x) { return __builtin_sqrt(x); }
template <class T> RICCI_INLINE vec<T> root(vec<T> a) {
  for (int i = 0; i < width<T>; ++i) a[i] = root(a[i]);
  return a;
}
template <class T> RICCI_INLINE vec<T> size(vec<T> a) {
  for (int i = 0; i < width<T>; ++i) a[i] = a[i] < 0 ? -a[i] : a[i] + T(0);
  return a;
}
template <class T> RICCI_INLINE vec<T> swap_pairs(vec<T> v) {
  vec<T> w;
  for (int i = 0; i < width<T>; ++i) w[i] = v[i ^ 1];
  return w;
}
template <class T> RICCI_INLINE vec<T> both_even(vec<T> v) {
  vec<T> w;
  for (int i = 0; i < width<T>; ++i) w[i] = v[i & ~1];
  return w;
}
template <class T> RICCI_INLINE vec<T> even_alone(vec<T> v) {
  vec<T> w;
  for (int i = 0; i < width<T>; ++i) w[i] = i % 2 == 0 ? v[i] : T(0);
  return w;
}
template <class T> RICCI_INLINE vec<T> both_odd(vec<T> v) {
  vec<T> w;
  for (int i = 0; i < width<T>; ++i) w[i] = v[i | 1];
  return w;
}
template <class T> RICCI_INLINE vec<T> set_pairs(T x, T y) {
  vec<T> v;
  for (int i = 0; i < width<T>; ++i) v[i] = i & 1 ? y : x;
  return v;
}
template <class T> RICCI_INLINE T sum(vec<T> v) {
  T s = v[0];
  for (int i = 1; i < width<T>; ++i) s += v[i];
  return s;
}

template <class T> struct tail {
  int count = 0;
  void assign(int n) { count = n; }
};

// Lane by lane: what a masked load is made of on machines without one.
template <class T> RICCI_INLINE vec<T> load(const T* p, const tail<T>& t) {
  vec<T> v{};
  for (int i = 0; i < width<T> - 1; ++i)
    if (i < t.count) v[i] = p[i];
  return v;
}
template <class T> RICCI_INLINE void store(vec<T> v, T* p, const tail<T>& t) {
  for (int i = 0; i < width<T> - 1; ++i)
    if (i < t.count) p[i] = v[i];
}
template <class T> RICCI_INLINE vec<T> ones_behind(vec<T> v, const tail<T>& t) {
  for (int i = 1; i < width<T>; ++i)
    if (i >= t.count) v[i] = T(1);
  return v;
}

}  // namespace ricci::kernels::RICCI_ISA
