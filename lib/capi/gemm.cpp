// The C functions: each is its arguments, their check, and one call of the engine. No exception leaves them.
#include <ricci/ricci.h>

#include <bit>
#include <cstring>

#include "capi/arguments.hpp"
#include "capi/last_error.hpp"

namespace ricci::capi {
namespace {

/// An enumerator as the integer it came as: a caller may have passed anything.
template <class Enum>
int number(const Enum& e) {
  int value;
  static_assert(sizeof e == sizeof value);
  std::memcpy(&value, &e, sizeof value);
  return value;
}

/// A scalar by value, or by a pointer of any alignment to a complex one.
template <dtype, class S>
std::complex<double> scalar(const S& x) {
  return static_cast<double>(x);
}
template <dtype Type>
std::complex<double> scalar(const void* x) {
  if (!x) return 0;
  if constexpr (Type == dtype::c64) {
    std::complex<float> value;
    std::memcpy(&value, x, sizeof value);
    return value;
  } else {
    std::complex<double> value;
    std::memcpy(&value, x, sizeof value);
    return value;
  }
}

template <class S> bool is_given(const S&) { return true; }
bool is_given(const void* x) { return x != nullptr; }

/// The thread's last call with strides, which was good and one kernel call.
struct last_call {
  arguments given;
  int threads;
  std::uint64_t number;  // 0: there was none
};
constinit thread_local last_call last{};

/// The same call with other matrices? Number by number: what was stored just now in small pieces is read in the same ones.
bool is_same(const arguments& x, const arguments& y) noexcept {
  const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
  return x.m == y.m && x.n == y.n && x.k == y.k && x.batch == y.batch && x.lda == y.lda && x.ldb == y.ldb && x.ldc == y.ldc &&
         x.stridea == y.stridea && x.strideb == y.strideb && x.stridec == y.stridec && x.type == y.type &&
         x.layout == y.layout && x.transa == y.transa && x.transb == y.transb && x.has_alpha == y.has_alpha &&
         x.has_beta == y.has_beta && bits(x.alpha.real()) == bits(y.alpha.real()) && bits(x.alpha.imag()) == bits(y.alpha.imag()) &&
         bits(x.beta.real()) == bits(y.beta.real()) && bits(x.beta.imag()) == bits(y.beta.imag());
}

int run(const arguments& x) noexcept {
  if (last.number && !x.pointers && x.a && x.b && x.c && last.threads == most_threads() && is_same(x, last.given) &&
      run_gemm_again(last.number, x.a, x.b, x.c))
    return RICCI_SUCCESS;
  if (const int bad = check(x)) return bad;
  try {
    gemm_problem p = problem_of(x);
    p.threads = most_threads();
    if (x.pointers)
      run_gemm_each(p, static_cast<const void* const*>(x.a), static_cast<const void* const*>(x.b),
                    static_cast<void* const*>(x.c));
    else
      run_gemm(p, x.a, x.b, x.c), last = {x, p.threads, last_gemm()};
    return RICCI_SUCCESS;
  } catch (...) {
    return report_exception(x.function);
  }
}

}  // namespace
}  // namespace ricci::capi

// One function of each form. `scalar_type` is how alpha and beta are passed.
#define RICCI_GEMM(letter, dtype_name, element, scalar_type)                                                        \
  int ricci_##letter##gemm_batch_strided(                                                                           \
      ricci_layout layout, ricci_transpose transa, ricci_transpose transb, int64_t m, int64_t n, int64_t k,         \
      scalar_type alpha, const element* a, int64_t lda, int64_t stridea, const element* b, int64_t ldb,             \
      int64_t strideb, scalar_type beta, element* c, int64_t ldc, int64_t stridec, int64_t batch) {                 \
    using namespace ricci::capi;                                                                                    \
    constexpr ricci::dtype type = ricci::dtype::dtype_name;                                                         \
    return run({"ricci_" #letter "gemm_batch_strided", type, number(layout), number(transa), number(transb), m, n, k, \
                is_given(alpha), is_given(beta), scalar<type>(alpha), a, lda, stridea, b, ldb, strideb,             \
                scalar<type>(beta), c, ldc, stridec, batch, false});                                                \
  }                                                                                                                 \
  int ricci_##letter##gemm_batch(ricci_layout layout, ricci_transpose transa, ricci_transpose transb, int64_t m,    \
                                 int64_t n, int64_t k, scalar_type alpha, const element* const* a, int64_t lda,     \
                                 const element* const* b, int64_t ldb, scalar_type beta, element* const* c,         \
                                 int64_t ldc, int64_t batch) {                                                      \
    using namespace ricci::capi;                                                                                    \
    constexpr ricci::dtype type = ricci::dtype::dtype_name;                                                         \
    return run({"ricci_" #letter "gemm_batch", type, number(layout), number(transa), number(transb), m, n, k,       \
                is_given(alpha), is_given(beta), scalar<type>(alpha), a, lda, 0, b, ldb, 0, scalar<type>(beta),     \
                const_cast<void*>(static_cast<const void*>(c)), ldc, 0, batch, true});                              \
  }

extern "C" {

RICCI_GEMM(s, f32, float, float)
RICCI_GEMM(d, f64, double, double)
RICCI_GEMM(c, c64, void, const void*)
RICCI_GEMM(z, c128, void, const void*)
RICCI_GEMM(h, f16, ricci_half, float)
RICCI_GEMM(b, bf16, ricci_bfloat16, float)

}

#undef RICCI_GEMM
