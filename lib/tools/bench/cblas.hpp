// The part of CBLAS that the bench calls, found in a library at run time.
#pragma once

#include <complex>
#include <string>

#include "tools/bench/bench.hpp"

namespace ricci::tools {

inline constexpr int row_major_value = 101, no_trans_value = 111, trans_value = 112;  // CBLAS's enumerators

/// cblas_?gemm of one library, called for one problem after the other.
struct cblas {
  template <class T, class S>
  using function = void(int, int, int, int, int, int, S, const T*, int, const T*, int, S, T*, int);
  function<float, float>* s;
  function<double, double>* d;
  function<void, const void*>*c, *z;

  explicit cblas(const library& from)
      : s(from.find<function<float, float>>("cblas_sgemm")), d(from.find<function<double, double>>("cblas_dgemm")),
        c(from.find<function<void, const void*>>("cblas_cgemm")), z(from.find<function<void, const void*>>("cblas_zgemm")) {}

  void add(const std::string& name, const gemm_case& p, gemm_data& data, std::vector<contender>& to) const {
    const int m = static_cast<int>(p.size.m), n = static_cast<int>(p.size.n), k = static_cast<int>(p.size.k);
    const int lda = static_cast<int>(p.ld_a()), ldb = static_cast<int>(p.ld_b()), ldc = static_cast<int>(p.ld_c());
    const int ta = p.trans_a ? trans_value : no_trans_value, tb = p.trans_b ? trans_value : no_trans_value;
    const auto loop = [&](auto call) {
      to.push_back({name, false, true,
                    [&data, call](std::int64_t first, std::int64_t last) { for_each_problem(data, first, last, call); }});
    };
    const auto real = [&](auto* f, auto one) {
      using T = decltype(one);
      const T beta = static_cast<T>(p.beta);
      if (f)
        loop([=](const void* a, const void* b, void* x) {
          f(row_major_value, ta, tb, m, n, k, one, static_cast<const T*>(a), lda, static_cast<const T*>(b), ldb, beta, static_cast<T*>(x), ldc);
        });
    };
    const auto complex = [&](auto* f, auto one) {
      using T = decltype(one);
      const T beta(static_cast<float>(p.beta));
      if (f)
        loop([=](const void* a, const void* b, void* x) {
          f(row_major_value, ta, tb, m, n, k, &one, a, lda, b, ldb, &beta, x, ldc);
        });
    };
    switch (p.type) {
      case dtype::f32: return real(s, 1.0f);
      case dtype::f64: return real(d, 1.0);
      case dtype::c64: return complex(c, std::complex<float>(1));
      case dtype::c128: return complex(z, std::complex<double>(1));
      default: return;
    }
  }
};

}  // namespace ricci::tools
