// The arguments of a batched product in C, their check, and what they mean.
#pragma once

#include <ricci/engine/gemm.hpp>
#include <ricci/ricci.h>

namespace ricci::capi {

/// Both forms of a call. Enumerators as the integers they came as.
struct arguments {
  const char* function;
  dtype type;
  int layout, transa, transb;
  std::int64_t m, n, k;
  bool has_alpha, has_beta;  // false: a null pointer to a complex scalar
  std::complex<double> alpha;
  const void* a;             // the first matrix, or the array of pointers
  std::int64_t lda, stridea;
  const void* b;
  std::int64_t ldb, strideb;
  std::complex<double> beta;
  void* c;
  std::int64_t ldc, stridec;
  std::int64_t batch;
  bool pointers;             // arrays of pointers: without strides
};

/// 0, or -i for the first bad argument, with its sentence kept for ricci_last_error().
int check(const arguments& x) noexcept;

/// The same problem by rows and columns. The arguments are good.
inline gemm_problem problem_of(const arguments& x) noexcept {
  const bool rows = x.layout == RICCI_ROW_MAJOR;
  const auto row = [&](std::int64_t ld, int trans) { return rows == (trans == RICCI_NO_TRANS) ? ld : 1; };
  const auto col = [&](std::int64_t ld, int trans) { return rows == (trans == RICCI_NO_TRANS) ? 1 : ld; };
  gemm_problem p;
  p.type = x.type;
  p.conj_a = is_complex(x.type) && x.transa == RICCI_CONJ_TRANS;
  p.conj_b = is_complex(x.type) && x.transb == RICCI_CONJ_TRANS;
  p.m = x.m, p.n = x.n, p.k = x.k;
  p.a_row = row(x.lda, x.transa), p.a_col = col(x.lda, x.transa);
  p.b_row = row(x.ldb, x.transb), p.b_col = col(x.ldb, x.transb);
  p.c_row = rows ? x.ldc : 1, p.c_col = rows ? 1 : x.ldc;
  p.batch = x.batch;
  p.a_step = x.stridea, p.b_step = x.strideb, p.c_step = x.stridec;
  p.alpha = x.alpha, p.beta = x.beta;
  return p;
}

}  // namespace ricci::capi
