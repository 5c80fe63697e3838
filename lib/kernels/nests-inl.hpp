// The two innermost loops of a move, which the compiler turns into vector code: conversions, sums and strides. They are compiled by
// themselves (nests.cpp), with more optimisation than the rest of the moves needs.
#pragma once

#include "elements-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// An axis as a move sees it.
struct stretch {
  std::int64_t extent, src, dst;
};

/// What stays as it is: one element, or a few neighbours that stay together. All of one size share their code.
template <int Bytes> struct bundle {
  char bytes[Bytes];
};

/// d[j, i] = convert(s[j, i]) + beta d[j, i] for i along x and j along y. s and d do not overlap.
template <bool Reads, class S, class D> void move_nest(stretch x, stretch y, const S* s, D* d, compute<D> beta);

/// X(source, destination, their two names in dtype): every type to itself; between precisions; real to complex. From double to 16 bits
/// would round twice: left out.
#define RICCI_MOVES(X)                                                                                                      \
  X(float, float, f32, f32)                                                                                                 \
  X(double, double, f64, f64)                                                                                               \
  X(cplx<float>, cplx<float>, c64, c64)                                                                                     \
  X(cplx<double>, cplx<double>, c128, c128)                                                                                 \
  X(f16, f16, f16, f16)                                                                                                     \
  X(bf16, bf16, bf16, bf16)                                                                                                 \
  X(f16, float, f16, f32)                                                                                                   \
  X(bf16, float, bf16, f32)                                                                                                 \
  X(float, f16, f32, f16)                                                                                                   \
  X(float, bf16, f32, bf16)                                                                                                 \
  X(f16, double, f16, f64)                                                                                                  \
  X(bf16, double, bf16, f64)                                                                                                \
  X(float, double, f32, f64)                                                                                                \
  X(double, float, f64, f32)                                                                                                \
  X(cplx<float>, cplx<double>, c64, c128)                                                                                   \
  X(cplx<double>, cplx<float>, c128, c64)                                                                                   \
  X(float, cplx<float>, f32, c64)                                                                                           \
  X(float, cplx<double>, f32, c128)                                                                                         \
  X(double, cplx<double>, f64, c128)

}  // namespace ricci::kernels::RICCI_ISA
