// A random batched product, its memory with guard zones, and the same by plain loops in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <ricci/core/types.hpp>
#include <ricci/ricci.h>

#include "uniform.hpp"

namespace capi {


/// How C calls a type: elements, scalars, the two functions.
template <class T> struct face;
#define RICCI_FACE(T, letter, element, scalar_of)                                                    \
  template <> struct face<T> {                                                                       \
    using c_element = element;                                                                       \
    static auto scalar(const std::complex<double>& x, [[maybe_unused]] T& room) { return scalar_of; } \
    static constexpr auto strided = ricci_##letter##gemm_batch_strided;                              \
    static constexpr auto pointers = ricci_##letter##gemm_batch;                                     \
  };
RICCI_FACE(float, s, float, static_cast<float>(x.real()))
RICCI_FACE(double, d, double, x.real())
RICCI_FACE(std::complex<float>, c, void, (room = std::complex<float>(x), static_cast<const void*>(&room)))
RICCI_FACE(std::complex<double>, z, void, (room = x, static_cast<const void*>(&room)))
RICCI_FACE(ricci::half, h, ricci_half, static_cast<float>(x.real()))
RICCI_FACE(ricci::bfloat16, b, ricci_bfloat16, static_cast<float>(x.real()))
#undef RICCI_FACE

template <class T> inline constexpr bool is_complex = ricci::is_complex(ricci::dtype_of<T>);

/// What sums of T are taken in: complex only where T is, since complex products look for infinities.
template <class T>
using wide_of = std::conditional_t<is_complex<T>, std::complex<long double>, long double>;

template <class T>
wide_of<T> widen(const T& x) {
  if constexpr (is_complex<T>) return {x.real(), x.imag()};
  else return static_cast<long double>(static_cast<double>(x));
}

struct problem {
  ricci_layout layout = RICCI_ROW_MAJOR;
  ricci_transpose ta = RICCI_NO_TRANS, tb = RICCI_NO_TRANS;
  std::int64_t m = 1, n = 1, k = 1, lda = 1, ldb = 1, ldc = 1, sa = 1, sb = 1, sc = 1, batch = 1;
  std::complex<double> alpha = 1, beta = 0;

  bool rows() const { return layout == RICCI_ROW_MAJOR; }
  /// Offset of op(X)[i, j] for a matrix with this leading dimension and transposition.
  std::int64_t at(ricci_transpose t, std::int64_t ld, std::int64_t i, std::int64_t j) const {
    return rows() == (t == RICCI_NO_TRANS) ? i * ld + j : i + j * ld;
  }
  /// Elements from the first to behind the last of a matrix, for rows x cols of op(X).
  std::int64_t span(ricci_transpose t, std::int64_t ld, std::int64_t r, std::int64_t c) const {
    return r == 0 || c == 0 ? 0 : at(t, ld, r - 1, c - 1) + 1;
  }
  std::int64_t span_a() const { return span(ta, lda, m, k); }
  std::int64_t span_b() const { return span(tb, ldb, k, n); }
  std::int64_t span_c() const { return span(RICCI_NO_TRANS, ldc, m, n); }

  /// Leading dimensions and strides for dense matrices one behind the other, with `gap` elements between lines and
  /// between matrices.
  void dense(std::int64_t gap = 0) {
    const auto line = [&](ricci_transpose t, std::int64_t r, std::int64_t c) {
      return std::max<std::int64_t>(1, (rows() == (t == RICCI_NO_TRANS) ? c : r)) + gap;
    };
    lda = line(ta, m, k), ldb = line(tb, k, n), ldc = line(RICCI_NO_TRANS, m, n);
    sa = span_a() + gap, sb = span_b() + gap, sc = span_c() + gap;
  }

  std::string text() const {
    const auto z = [](std::complex<double> x) { return "(" + std::to_string(x.real()) + "," + std::to_string(x.imag()) + ")"; };
    std::string out = rows() ? "row" : "col";
    for (const std::int64_t x : {static_cast<std::int64_t>(ta), static_cast<std::int64_t>(tb), m, n, k, lda, ldb, ldc, sa, sb, sc, batch})
      out += " " + std::to_string(x);
    return out + " alpha " + z(alpha) + " beta " + z(beta);
  }
};

/// Elements in a block with guards on both sides; `first` is where matrix 0 begins.
template <class T>
struct block {
  static constexpr std::int64_t guard = 24;
  std::vector<T> memory;
  std::int64_t first = 0;

  block(std::int64_t step, std::int64_t span, std::int64_t batch) {
    const std::int64_t reach = std::abs(step) * std::max<std::int64_t>(batch - 1, 0);
    memory.resize(static_cast<std::size_t>(2 * guard + reach + span));
    first = guard + (step < 0 ? reach : 0);
  }
  T* data() { return memory.data() + first; }

  void fill(std::mt19937& random) {
    const ricci::test::uniform<float> x{-1, 1};
    for (T& e : memory) {
      if constexpr (is_complex<T>) e = T(x(random), x(random));
      else e = static_cast<T>(x(random));
    }
  }
  void poison() {
    for (T& e : memory) e = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  }
};

/// Room for the errors of one result: the unit roundoff of the sum and of the store.
template <class T>
long double bound(long double magnitude, long double value, std::int64_t k) {
  using compute = ricci::compute_of<T>;
  const long double eps = sizeof(compute) == (is_complex<T> ? 2 : 1) * sizeof(float) ? 0x1p-24L : 0x1p-53L;
  long double room = static_cast<long double>(k + 4) * eps * magnitude * (is_complex<T> ? 2 : 1);
  if constexpr (sizeof(T) == 2) {
    const long double store = std::is_same_v<T, ricci::half> ? 0x1p-11L : 0x1p-8L;
    room += store * 2 * (value + room) + 0x1p-24L;
  }
  return room;
}

/// Compares a result with the loops. `old` is c before the call. Returns "" or what is wrong.
template <class T>
std::string compare(const problem& p, const T* const* a, const T* const* b, const T* const* old, const T* const* c) {
  using wide = wide_of<T>;
  const auto conj = [](const wide& x, [[maybe_unused]] ricci_transpose t) {
    if constexpr (is_complex<T>) return t == RICCI_CONJ_TRANS ? std::conj(x) : x;
    else return x;
  };
  const auto scalar = [](const std::complex<double>& x) {
    if constexpr (is_complex<T>) return wide(x);
    else return wide(x.real());
  };
  const wide alpha = scalar(p.alpha), beta = scalar(p.beta);
  for (std::int64_t e = 0; e < p.batch; ++e)
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        wide sum = 0;
        long double magnitude = 0;
        if (p.alpha != 0.0)
          for (std::int64_t k = 0; k < p.k; ++k) {
            const wide x = conj(widen(a[e][p.at(p.ta, p.lda, i, k)]), p.ta);
            const wide y = conj(widen(b[e][p.at(p.tb, p.ldb, k, j)]), p.tb);
            sum += x * y;
            magnitude += std::abs(x) * std::abs(y);
          }
        sum *= alpha;
        magnitude *= std::abs(alpha);
        const std::int64_t at = p.at(RICCI_NO_TRANS, p.ldc, i, j);
        if (p.beta != 0.0) {
          sum += beta * widen(old[e][at]);
          magnitude += std::abs(beta) * std::abs(widen(old[e][at]));
        }
        const long double error = std::abs(widen(c[e][at]) - sum);
        if (!(error <= bound<T>(magnitude, std::abs(sum), p.k)))
          return "C_" + std::to_string(e) + "[" + std::to_string(i) + "," + std::to_string(j) + "] is off by " +
                 std::to_string(static_cast<double>(error)) + ", magnitude " + std::to_string(static_cast<double>(magnitude));
      }
  return "";
}

/// Calls f(e, i, j, offset of C_e[i,j] from matrix 0) for all of C.
template <class F>
void for_each_result(const problem& p, F f) {
  for (std::int64_t e = 0; e < p.batch; ++e)
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) f(e * p.sc + p.at(RICCI_NO_TRANS, p.ldc, i, j));
}

template <class T>
int call_strided(const problem& p, const T* a, const T* b, T* c) {
  using f = face<T>;
  using element = typename f::c_element;
  T r0, r1;
  return f::strided(p.layout, p.ta, p.tb, p.m, p.n, p.k, f::scalar(p.alpha, r0), reinterpret_cast<const element*>(a), p.lda,
                    p.sa, reinterpret_cast<const element*>(b), p.ldb, p.sb, f::scalar(p.beta, r1),
                    reinterpret_cast<element*>(c), p.ldc, p.sc, p.batch);
}

template <class T>
int call_pointers(const problem& p, const T* const* a, const T* const* b, T* const* c) {
  using f = face<T>;
  using element = typename f::c_element;
  T r0, r1;
  return f::pointers(p.layout, p.ta, p.tb, p.m, p.n, p.k, f::scalar(p.alpha, r0),
                     reinterpret_cast<const element* const*>(a), p.lda, reinterpret_cast<const element* const*>(b), p.ldb,
                     f::scalar(p.beta, r1), reinterpret_cast<element* const*>(c), p.ldc, p.batch);
}

/// Runs one problem in both forms and checks all of it: results, guards, gaps. Returns "" or what is wrong.
template <class T>
std::string run_and_check(const problem& p, std::mt19937& random) {
  block<T> a(p.sa, p.span_a(), p.batch), b(p.sb, p.span_b(), p.batch), c(p.sc, p.span_c(), p.batch);
  a.fill(random), b.fill(random), c.fill(random);
  if (p.alpha == 0.0) a.poison(), b.poison();
  if (p.beta == 0.0)
    for_each_result(p, [&](std::int64_t at) { c.data()[at] = static_cast<T>(std::numeric_limits<float>::quiet_NaN()); });
  block<T> before = c;
  std::vector<T*> pa, pb, pc, old;
  for (std::int64_t e = 0; e < p.batch; ++e) {
    pa.push_back(a.data() + e * p.sa), pb.push_back(b.data() + e * p.sb), pc.push_back(c.data() + e * p.sc);
    old.push_back(before.data() + e * p.sc);
  }
  for (const bool pointers : {false, true}) {
    c.memory = before.memory;
    const int status = pointers ? call_pointers<T>(p, pa.data(), pb.data(), pc.data())
                                : call_strided<T>(p, a.data(), b.data(), c.data());
    const std::string form = pointers ? "pointers: " : "strided: ";
    if (status != 0) return form + "returned " + std::to_string(status) + ": " + ricci_last_error();
    if (const std::string bad = compare<T>(p, pa.data(), pb.data(), old.data(), pc.data()); !bad.empty()) return form + bad;
    std::vector<T> rest = c.memory, kept = before.memory;
    for_each_result(p, [&](std::int64_t at) { rest[c.first + at] = kept[c.first + at] = T(0); });
    if (!rest.empty() && std::memcmp(rest.data(), kept.data(), rest.size() * sizeof(T)) != 0)
      return form + "something beside C was written";
  }
  return "";
}

}  // namespace capi
