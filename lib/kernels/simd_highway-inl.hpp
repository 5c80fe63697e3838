// Vector operations through Highway in static-dispatch mode: the -m flags of the unit choose the target.
#pragma once

#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

namespace ricci::kernels::RICCI_ISA {

namespace hn = hwy::HWY_NAMESPACE;

template <class T> using tag = hn::ScalableTag<T>;
template <class T> using vec = hn::Vec<tag<T>>;
template <class T> inline constexpr int width = HWY_MAX_BYTES / static_cast<int>(sizeof(T));
inline constexpr int vector_bytes = HWY_MAX_BYTES;

template <class T> RICCI_INLINE vec<T> zero() { return hn::Zero(tag<T>()); }
template <class T> RICCI_INLINE vec<T> set(T x) { return hn::Set(tag<T>(), x); }
template <class T> RICCI_INLINE vec<T> load(const T* p) { return hn::LoadU(tag<T>(), p); }
template <class T> RICCI_INLINE void store(vec<T> v, T* p) { hn::StoreU(v, tag<T>(), p); }
template <class V> RICCI_INLINE V fma(V a, V b, V c) { return hn::MulAdd(a, b, c); }
template <class V> RICCI_INLINE V mul(V a, V b) { return hn::Mul(a, b); }
template <class V> RICCI_INLINE V add(V a, V b) { return hn::Add(a, b); }
template <class V> RICCI_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
template <class V> RICCI_INLINE V div(V a, V b) { return hn::Div(a, b); }
template <class V> RICCI_INLINE V least(V a, V b) { return hn::IfThenElse(hn::Lt(b, a), b, a); }  // std::min, NaN included
template <class V> RICCI_INLINE V most(V a, V b) { return hn::IfThenElse(hn::Lt(a, b), b, a); }
template <class T> RICCI_INLINE vec<T> root(vec<T> a) { return hn::Sqrt(a); }
template <class T> RICCI_INLINE vec<T> size(vec<T> a) { return hn::Abs(a); }
/// (re, im) -> (im, re), (re, re), (im, im) in each pair of lanes.
template <class T> RICCI_INLINE vec<T> swap_pairs(vec<T> v) { return hn::Reverse2(tag<T>(), v); }
template <class T> RICCI_INLINE vec<T> both_even(vec<T> v) { return hn::DupEven(v); }
template <class T> RICCI_INLINE vec<T> both_odd(vec<T> v) { return hn::DupOdd(v); }
/// The odd lanes are zero.
template <class T> RICCI_INLINE vec<T> even_alone(vec<T> v) { return hn::OddEven(hn::Zero(tag<T>()), v); }
/// (x, y) in every pair of lanes.
template <class T> RICCI_INLINE vec<T> set_pairs(T x, T y) {
  const tag<T> d;
  return hn::OddEven(hn::Set(d, y), hn::Set(d, x));
}
template <class T> RICCI_INLINE T sum(vec<T> v) { return hn::GetLane(hn::SumOfLanes(tag<T>(), v)); }

#if defined(__x86_64__)
#define RICCI_STREAMS
/// One cache line, whose destination is aligned.
RICCI_INLINE void stream_line(const char* from, char* to) {
  const tag<float> d;
  constexpr int n = width<float>;
  const float* s = reinterpret_cast<const float*>(from);
  float* t = reinterpret_cast<float*>(to);
  for (int i = 0; i < 16; i += n) hn::Stream(hn::LoadU(d, s + i), d, t + i);
}
#endif

// A partial vector of 16 bytes at most, in whole pieces: nothing beyond the count is touched.
template <class T, size_t N>
RICCI_INLINE void store_pieces(hn::Vec128<T, N> v, T* p, int count) {
  if constexpr (N > 1) {
    const hn::Half<hn::DFromV<hn::Vec128<T, N>>> d;
    constexpr int half = static_cast<int>(N / 2);
    if (count & half) {
      hn::StoreU(hn::LowerHalf(d, v), d, p);
      if constexpr (N > 2) store_pieces(hn::UpperHalf(d, v), p + half, count & (half - 1));
    } else if constexpr (N > 2) {
      store_pieces(hn::LowerHalf(d, v), p, count & (half - 1));
    }
  }
}

#if HWY_MAX_BYTES < 32  // no masked loads
template <class T> struct tail {
  int count = 0;
  void assign(int n) { count = n; }
};

/// The first count lanes; the others are zero and their memory is not touched. 0 < count < width.
template <class T> RICCI_INLINE vec<T> load(const T* p, const tail<T>& t) {
  const tag<T> d;
  const hn::Half<tag<T>> half;
  if constexpr (sizeof(T) == 8) {
    return hn::ZeroExtendVector(d, hn::LoadU(half, p));
  } else {
    const hn::Half<hn::Half<tag<T>>> quarter;
    if (t.count == 1) return hn::ZeroExtendVector(d, hn::ZeroExtendVector(half, hn::LoadU(quarter, p)));
    if (t.count == 2) return hn::ZeroExtendVector(d, hn::LoadU(half, p));
    return hn::Combine(d, hn::ZeroExtendVector(half, hn::LoadU(quarter, p + 2)), hn::LoadU(half, p));
  }
}
/// The first count lanes, and 1 in the others.
template <class T> RICCI_INLINE vec<T> ones_behind(vec<T> v, const tail<T>& t) {
  return hn::IfThenElse(hn::FirstN(tag<T>(), static_cast<size_t>(t.count)), v, set<T>(T(1)));
}
#else
template <class T> struct tail {
  int count = 0;
  hn::Mask<tag<T>> mask{};
  void assign(int n) {
    count = n;
    mask = hn::FirstN(tag<T>(), static_cast<size_t>(n));
  }
};

template <class T> RICCI_INLINE vec<T> load(const T* p, const tail<T>& t) {
  return hn::MaskedLoad(t.mask, tag<T>(), p);
}
template <class T> RICCI_INLINE vec<T> ones_behind(vec<T> v, const tail<T>& t) {
  return hn::IfThenElse(t.mask, v, set<T>(T(1)));
}
#endif

/// Stores the first count lanes. In pieces where the masked store of the machine is slow.
template <class T> RICCI_INLINE void store(vec<T> v, T* p, const tail<T>& t) {
#if HWY_MAX_BYTES >= 64
  hn::BlendedStore(v, t.mask, tag<T>(), p);
#elif HWY_MAX_BYTES == 32
  const hn::Half<tag<T>> half;
  constexpr int n = width<T> / 2;
  if (t.count & n) {
    hn::StoreU(hn::LowerHalf(half, v), half, p);
    store_pieces(hn::UpperHalf(half, v), p + n, t.count & (n - 1));
  } else {
    store_pieces(hn::LowerHalf(half, v), p, t.count);
  }
#else
  store_pieces(v, p, t.count);
#endif
}

}  // namespace ricci::kernels::RICCI_ISA
