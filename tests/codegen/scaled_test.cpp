// Kernels whose sums are multiplied by a tensor that lies as c does: c = beta c + d (a b), in guarded memory.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <ricci/core/types.hpp>

#include "codegen/codegen.hpp"
#include "guarded.hpp"
#include "uniform.hpp"

using namespace ricci;

namespace {

using rng = std::mt19937_64;

struct shape {
  kernels::lanes along = kernels::lanes::n;
  std::int64_t rows, lanes, k, batch, gap;  // gap: elements between rows of c and d
};

std::int64_t a_index(const shape& s, std::int64_t e, std::int64_t r, std::int64_t k, std::int64_t l) {
  return s.along == kernels::lanes::n ? (e * s.rows + r) * s.k + k : ((e * s.rows + r) * s.k + k) * s.lanes + l;
}
std::int64_t b_index(const shape& s, std::int64_t e, std::int64_t k, std::int64_t l) { return (e * s.k + k) * s.lanes + l; }
std::int64_t c_index(const shape& s, std::int64_t e, std::int64_t r, std::int64_t l) {
  return (e * s.rows + r) * (s.lanes + s.gap) + l;
}

template <class T> codegen::request request_of(const shape& s, T beta, rng& g) {
  const bool n = s.along == kernels::lanes::n;
  codegen::request r;
  r.type = r.type_a = r.type_b = r.type_c = dtype_of<T>;
  r.lanes = s.along;
  r.args.lane_extent = s.lanes;
  const std::int64_t a_k = n ? 1 : s.lanes;
  r.args.row = {s.rows, s.k * a_k, 0, s.lanes + s.gap};
  r.args.k = s.k, r.args.k_a = a_k, r.args.k_b = s.lanes;
  r.args.loop_count = 1;
  r.args.loops[0] = {s.batch, s.rows * s.k * a_k, s.k * s.lanes, s.rows * (s.lanes + s.gap)};
  r.alpha = codegen::factor::tensor;
  r.fetch_scale = g() % 2 ? 512 : 0;
  r.beta = g() % 2 ? codegen::factor::any : beta == 0 ? codegen::factor::zero : beta == 1 ? codegen::factor::one : codegen::factor::any;
  return r;
}

/// The worst error in units of its bound.
template <class T> double worst(const shape& s, T beta, codegen::target t, rng& g) {
  const bool end = g() % 2 == 0;
  const std::int64_t last = c_index(s, s.batch - 1, s.rows - 1, s.lanes - 1) + 1;
  guarded<T> a(static_cast<std::size_t>(a_index(s, s.batch - 1, s.rows - 1, s.k - 1, s.lanes - 1) + 1), end);
  guarded<T> b(static_cast<std::size_t>(b_index(s, s.batch - 1, s.k - 1, s.lanes - 1) + 1), end);
  guarded<T> c(static_cast<std::size_t>(last), end), d(static_cast<std::size_t>(last), end);
  const ricci::test::uniform<double> number{-1, 1};
  for (auto* x : {&a, &b, &c, &d})
    for (T& y : *x) y = static_cast<T>(number(g));
  if (beta == 0)
    for (T& y : c) y = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> before(c.begin(), c.end());
  const auto k = codegen::make(request_of(s, beta, g), t);
  REQUIRE(k != nullptr);
  (*k)(a.begin(), b.begin(), c.begin(), d.begin(), &beta);
  double most = 0;
  std::vector<bool> written(before.size());
  for (std::int64_t e = 0; e < s.batch; ++e)
    for (std::int64_t r = 0; r < s.rows; ++r)
      for (std::int64_t l = 0; l < s.lanes; ++l) {
        const auto at = static_cast<std::size_t>(c_index(s, e, r, l));
        long double sum = 0, size = 0;
        for (std::int64_t i = 0; i < s.k; ++i) {
          const long double x = static_cast<long double>(a.begin()[a_index(s, e, r, i, l)]) * b.begin()[b_index(s, e, i, l)];
          sum += x, size += std::abs(x);
        }
        const long double by = d.begin()[at], old = beta == 0 ? 0 : static_cast<long double>(beta) * before[at];
        const long double bound = static_cast<long double>(s.k + 3) * std::numeric_limits<T>::epsilon() * (size * std::abs(by) + std::abs(old));
        const long double error = std::abs(c.begin()[at] - (old + by * sum));
        most = std::max(most, error == 0 ? 0 : static_cast<double>(error / bound));
        if (!(error == error)) most = 1e9;
        written[at] = true;
      }
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!written[i] && std::memcmp(&before[i], c.begin() + i, sizeof(T)) != 0) return 1e9;
  return most;
}

}  // namespace

TEMPLATE_TEST_CASE("sums multiplied by a tensor", "", float, double) {
  rng g(11);
  const auto upto = [&](int most) { return static_cast<std::int64_t>(1 + g() % static_cast<unsigned>(most)); };
  for (const codegen::target t : {codegen::target::avx2, codegen::target::avx512}) {
    if (codegen::best_target() < t) continue;
    for (int i = 0; i < 600; ++i) {
      shape s{g() % 3 ? kernels::lanes::n : kernels::lanes::batch, upto(12), upto(i % 2 ? 40 : 10), upto(i % 5 ? 9 : 60), upto(4), 0};
      s.gap = g() % 2 ? upto(5) : 0;
      const TestType betas[] = {0, 1, TestType(0.5)};
      const TestType beta = betas[g() % 3];
      INFO((t == codegen::target::avx2 ? "AVX2" : "AVX-512") << " rows " << s.rows << " lanes " << s.lanes << " k " << s.k << " batch " << s.batch << " gap " << s.gap << " beta " << beta << (s.along == kernels::lanes::n ? "" : " a problem a lane"));
      REQUIRE(worst<TestType>(s, beta, t, g) <= 1.0);
    }
  }
}
