// The six element types as plain memory, and the conversions between them without branches, so that the compiler
// can turn loops of them into vector code. Own types: the shared ones must not be instantiated in an ISA unit.
#pragma once

#include <cstdint>

#include "simd-inl.hpp"

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace ricci::kernels::RICCI_ISA {

template <class T> struct cplx { T re, im; };
struct f16 { std::uint16_t bits; };
struct bf16 { std::uint16_t bits; };

RICCI_INLINE std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
RICCI_INLINE float float_of(std::uint32_t x) { return __builtin_bit_cast(float, x); }

/// c ? x : y by masks: a conditional would become a branch and the loop around it would stay scalar.
RICCI_INLINE std::uint32_t pick(bool c, std::uint32_t x, std::uint32_t y) {
  const std::uint32_t mask = 0u - static_cast<std::uint32_t>(c);
  return (x & mask) | (y & ~mask);
}

/// What T computes in.
template <class T> struct compute_t { using type = T; };
template <> struct compute_t<f16> { using type = float; };
template <> struct compute_t<bf16> { using type = float; };
template <class T> using compute = typename compute_t<T>::type;

#ifdef __F16C__
RICCI_INLINE float widen(f16 x) { return _cvtsh_ss(x.bits); }
RICCI_INLINE void narrow(float x, f16& y) { y.bits = _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT); }

// The compiler does not make vectors of the two above by itself.
inline constexpr int convert_width = 8;
RICCI_INLINE void convert_block(const f16* s, float* d) {
  _mm256_storeu_ps(d, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s))));
}
RICCI_INLINE void convert_block(const float* s, f16* d) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(d), _mm256_cvtps_ph(_mm256_loadu_ps(s), _MM_FROUND_TO_NEAREST_INT));
}
#else
RICCI_INLINE float widen(f16 x) {
  const std::uint32_t magnitude = x.bits & 0x7fffu, sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
  const std::uint32_t rebias = 112u << 23;
  const std::uint32_t normal = (magnitude << 13) + rebias + pick(magnitude >= 0x7c00u, rebias, 0u);
  const std::uint32_t tiny = bits_of(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f);
  return float_of(pick(magnitude < 0x400u, tiny, normal) | sign);
}
RICCI_INLINE void narrow(float x, f16& y) {
  const std::uint32_t all = bits_of(x), sign = (all >> 16) & 0x8000u, magnitude = all & 0x7fffffffu;
  const std::uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  // The ulp of 0.5 is the smallest half, so the addition rounds to a subnormal half.
  const std::uint32_t tiny = bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f);
  const std::uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  std::uint32_t h = pick(magnitude < 0x38800000u, tiny, normal);
  h = pick(magnitude >= 0x477ff000u, 0x7c00u, h);
  h = pick(magnitude > 0x7f800000u, nan, h);
  y.bits = static_cast<std::uint16_t>(h | sign);
}
#endif

RICCI_INLINE float widen(bf16 x) { return float_of(static_cast<std::uint32_t>(x.bits) << 16); }
template <class T> RICCI_INLINE T widen(T x) { return x; }

RICCI_INLINE void narrow(float x, bf16& y) {
  const std::uint32_t all = bits_of(x);
  const std::uint32_t rounded = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
  y.bits = static_cast<std::uint16_t>((all & 0x7fffffffu) > 0x7f800000u ? (all >> 16) | 0x40u : rounded);
}
template <class T> RICCI_INLINE void narrow(T x, T& y) { y = x; }

/// A computed value of one type as a computed value of another.
template <class A, class B> RICCI_INLINE void assign(A x, B& y) { y = static_cast<B>(x); }
template <class A, class B> RICCI_INLINE void assign(cplx<A> x, cplx<B>& y) {
  y = {static_cast<B>(x.re), static_cast<B>(x.im)};
}
template <class A, class B> RICCI_INLINE void assign(A x, cplx<B>& y) { y = {static_cast<B>(x), B(0)}; }

template <class T> RICCI_INLINE T plus_scaled(T x, T beta, T y) { return x + beta * y; }
template <class T> RICCI_INLINE cplx<T> plus_scaled(cplx<T> x, cplx<T> beta, cplx<T> y) {
  const T other = beta.im != 0 ? -beta.im * y.im : T(0), own = beta.im != 0 ? beta.im * y.re : T(0);  // 0 times infinity would be NaN
  return {x.re + beta.re * y.re + other, x.im + beta.re * y.im + own};
}
template <class T> RICCI_INLINE bool is_zero(T x) { return x == T(0); }
template <class T> RICCI_INLINE bool is_zero(cplx<T> x) { return x.re == T(0) && x.im == T(0); }

template <class A, class B> struct same_t { static constexpr bool value = false; };
template <class A> struct same_t<A, A> { static constexpr bool value = true; };
template <class A, class B> inline constexpr bool same = same_t<A, B>::value;

/// y = convert(x) + beta y, where Reads says that y is read.
template <bool Reads, class S, class D> RICCI_INLINE void move_one(S x, D& y, compute<D> beta) {
  if constexpr (!Reads && same<S, D>) {
    y = x;
  } else {
    compute<D> z;
    assign(widen(x), z);
    if constexpr (Reads) z = plus_scaled(z, beta, widen(y));
    narrow(z, y);
  }
}

}  // namespace ricci::kernels::RICCI_ISA
