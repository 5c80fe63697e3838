// The few vector operations that the kernels need, for the instruction set this unit is compiled for.
// Highway gives them, but where the packaged Highway lacks the target (VSX, SVE of fixed length, the portable
// set): there the compiler's own vector types do.
#pragma once

#include <cstdint>

#ifndef RICCI_ISA
#error "RICCI_ISA names the namespace of the instruction set, such as avx2"
#endif

#if defined(__GNUC__)
#define RICCI_INLINE inline __attribute__((always_inline))
/// A loop over 0..n that is unrolled in full, so that arrays of vectors live in registers.
#define RICCI_EACH(i, n) _Pragma("GCC unroll 24") for (int i = 0; i < (n); ++i)
#define RICCI_INLINE_LAMBDA __attribute__((always_inline))
#else
#error "the kernels need GCC or Clang"
#endif

#ifdef RICCI_GENERIC_VECTOR_BYTES
#include "simd_generic-inl.hpp"
#else
#include "simd_highway-inl.hpp"
#endif

namespace ricci::kernels::RICCI_ISA {

/// A compile-time integer that travels as an argument.
template <int I> struct constant {
  static constexpr int value = I;
  constexpr operator int() const { return I; }
};

template <int... I> struct constants {};

template <int N, int... I> struct up_to_t : up_to_t<N - 1, N - 1, I...> {};
template <int... I> struct up_to_t<0, I...> { using type = constants<I...>; };

template <class F, int... I> constexpr void each_of(constants<I...>, F&& f) { (f(constant<I>{}), ...); }

/// f(0), ..., f(N - 1) with constants as arguments: for tables made at compile time.
template <int N, class F> constexpr void each(F&& f) { each_of(typename up_to_t<N>::type{}, f); }

}  // namespace ricci::kernels::RICCI_ISA
