// Kernels that read and write 16-bit numbers: guarded memory, a reference in double, subnormals and infinities.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <ricci/core/types.hpp>

#include "codegen/codegen.hpp"
#include "codegen/amx_code.hpp"
#include "guarded.hpp"
#include "tile_emulator.hpp"
#include "uniform.hpp"

using namespace ricci;

namespace {

using rng = std::mt19937_64;

struct shape {
  std::int64_t rows, lanes, k, batch;
  std::int64_t gap_a = 0, gap_b = 0, gap_c = 0;     // elements between rows
  std::int64_t step_a = 0, step_b = 0, step_c = 0;  // elements between problems beyond dense ones; -1: shared (a, b)
  codegen::tile_use tiles = codegen::tile_use::never;
};

template <class T> T some(rng& g) { return T(ricci::test::uniform<float>{-1, 1}(g)); }

template <class T> constexpr double roundoff() {
  return std::is_same_v<T, half> ? 0x1p-11 : std::is_same_v<T, bfloat16> ? 0x1p-8 : 0x1p-24;
}

/// c = beta c + alpha a b for a batch; the worst error in units of its bound, or more than 1e9 if something else is wrong.
template <class A, class B, class C> double worst(const shape& s, float alpha, float beta, rng& g) {
  const std::int64_t lda = s.k + s.gap_a, ldb = s.lanes + s.gap_b, ldc = s.lanes + s.gap_c;
  const auto next = [](std::int64_t each, std::int64_t more) { return more < 0 ? 0 : each + more; };
  const std::int64_t step_a = next(s.rows * lda, s.step_a), step_b = next(s.k * ldb, s.step_b), step_c = s.rows * ldc + s.step_c;
  const auto length = [&](std::int64_t step, std::int64_t rows, std::int64_t ld, std::int64_t last) {
    return static_cast<std::size_t>(step * (s.batch - 1) + (rows - 1) * ld + last);
  };
  const bool end = g() % 2 == 0;
  guarded<A> a(length(step_a, s.rows, lda, s.k), end);
  guarded<B> b(length(step_b, s.k, ldb, s.lanes), end);
  guarded<C> c(length(step_c, s.rows, ldc, s.lanes), end);
  for (A& x : a) x = some<A>(g);
  for (B& x : b) x = some<B>(g);
  for (C& x : c) x = beta == 0 ? C(std::numeric_limits<float>::quiet_NaN()) : some<C>(g);
  const std::vector<C> before(c.begin(), c.end());
  codegen::request r;
  r.type = dtype::f32;
  r.type_a = element_traits<A>::type, r.type_b = element_traits<B>::type, r.type_c = element_traits<C>::type;
  r.args.lane_extent = s.lanes;
  r.args.row = {s.rows, lda, 0, ldc};
  r.args.k = s.k, r.args.k_a = 1, r.args.k_b = ldb;
  r.args.loop_count = 1;
  r.args.loops[0] = {s.batch, step_a, step_b, step_c};
  r.beta = beta == 0 && g() % 2 ? codegen::factor::zero : codegen::factor::any;
  r.alpha = alpha == 1 && g() % 2 ? codegen::factor::one : codegen::factor::any;
  r.in_pairs = g() % 4 != 0;
  r.c_first = g() % 2 == 0;
  r.alternate = g() % 2 == 0, r.staggered = g() % 2 == 0;
  r.tiles = s.tiles;
  r.fetch_ahead = g() % 2 ? 1024 : 0;
  r.fetch_a = r.fetch_b = r.fetch_c = g() % 3 == 0 ? 200 : 1 << 20;
  const auto code = codegen::make(r, codegen::target::avx512);
  if (!code) return 1e10;
  (*code)(a.data(), b.data(), c.data(), &alpha, &beta);
  double most = 0;
  std::vector<bool> written(before.size());
  for (std::int64_t e = 0; e < s.batch; ++e)
    for (std::int64_t i = 0; i < s.rows; ++i)
      for (std::int64_t j = 0; j < s.lanes; ++j) {
        const auto at = static_cast<std::size_t>(e * step_c + i * ldc + j);
        written[at] = true;
        const double old = beta == 0 ? 0 : double(beta) * float(before[at]);
        double sum = old, size = std::abs(old);
        for (std::int64_t l = 0; l < s.k; ++l) {
          const double x = double(alpha) * float(a[static_cast<std::size_t>(e * step_a + i * lda + l)]) *
                           float(b[static_cast<std::size_t>(e * step_b + l * ldb + j)]);
          sum += x, size += std::abs(x);
        }
        const double bound = static_cast<double>(s.k + 3) * 0x1p-23 * size + roundoff<C>() * (std::abs(sum) + 1e-6 * size) + 0x1p-24;
        const double miss = std::abs(float(c[at]) - sum) / bound;
        if (!(miss <= most)) most = std::isnan(miss) ? 1e10 : miss;
      }
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!written[i] && float(c[i]) != float(before[i]) && !std::isnan(float(before[i]))) return 1e11;
  return most;
}

template <class A, class B, class C> bool right(const shape& s, rng& g) {
  const float factors[] = {1, 0, -1, 0.5f};
  const float alpha = factors[g() % 2 * 3], beta = factors[g() % 4];
  const double miss = worst<A, B, C>(s, alpha, beta, g);
  INFO(s.rows << " x " << s.lanes << " x " << s.k << ", batch " << s.batch << ", gaps " << s.gap_a << ' ' << s.gap_b << ' '
              << s.gap_c << ", steps " << s.step_a << ' ' << s.step_b << ' ' << s.step_c << ", alpha " << alpha << " beta " << beta);
  CHECK(miss <= 1);
  return miss <= 1;
}

bool can() { return codegen::best_target() == codegen::target::avx512; }

}  // namespace

TEMPLATE_TEST_CASE("16-bit kernels: squares in batches", "", half, bfloat16) {
  if (!can()) return;
  rng g(3);
  bool good = true;
  for (std::int64_t n = 1; n <= (reduced_tests() ? 9 : 35) && good; ++n)
    for (const std::int64_t batch : {1, 2, 7, 70}) good = good && right<TestType, TestType, TestType>({n, n, n, batch}, g);
}

TEMPLATE_TEST_CASE("16-bit kernels: random extents, strides and mixtures of types", "", half, bfloat16) {
  if (!can()) return;
  rng g(4);
  bool good = true;
  for (int i = 0; i < (reduced_tests() ? 40 : 400) && good; ++i) {
    const auto upto = [&](unsigned n) { return static_cast<std::int64_t>(g() % n); };
    shape s{1 + upto(40), 1 + upto(70), 1 + upto(60), 1 + upto(9)};
    if (g() % 2) s.gap_a = upto(3), s.gap_b = upto(3), s.gap_c = upto(3);
    if (g() % 2) s.step_a = upto(5) - 1, s.step_b = upto(5) - 1, s.step_c = upto(3);
    switch (g() % 4) {
      case 0: good = right<TestType, float, TestType>(s, g); break;
      case 1: good = right<TestType, TestType, float>(s, g); break;
      case 2: good = right<float, TestType, TestType>(s, g); break;
      default: good = right<TestType, TestType, TestType>(s, g);
    }
  }
}

TEMPLATE_TEST_CASE("16-bit kernels: in tile registers", "", half, bfloat16) {
  if (!can()) return;
  if (!codegen::has_tile_registers()) tile_emulator::install();
  rng g(5);
  bool good = true;
  for (int i = 0; i < (reduced_tests() ? 40 : 600) && good; ++i) {
    const auto upto = [&](unsigned n) { return static_cast<std::int64_t>(g() % n); };
    shape s{1 + upto(64), 1 + upto(64), 1 + upto(64), 1 + upto(i % 3 ? 4 : 12)};
    if (i % 3 == 0) s.rows = 1 + upto(20), s.lanes = 1 + upto(20), s.k = 1 + upto(40);
    if (i % 4 == 0) s.rows = s.lanes = s.k;
    if (g() % 2) s.gap_a = upto(3), s.gap_b = upto(3), s.gap_c = upto(3);
    if (g() % 2) s.step_a = upto(5) - 1, s.step_b = upto(5) - 1, s.step_c = upto(3);
    s.tiles = codegen::tile_use::always;
    good = i % 5 ? right<TestType, TestType, TestType>(s, g) : right<TestType, TestType, float>(s, g);
  }
  CHECK((codegen::has_tile_registers() || tile_emulator::executed > 1000));
}

TEST_CASE("half kernels: infinities, NaNs and subnormal numbers in tile registers") {
  if (!can()) return;
  if (!codegen::has_tile_registers()) tile_emulator::install();
  rng g(6);
  constexpr std::int64_t m = 5, n = 19, k = 21, batch = 11;
  codegen::request r;
  r.type = r.type_c = dtype::f32, r.type_a = r.type_b = dtype::f16;
  r.args.row = {m, k, 0, n}, r.args.lane_extent = n, r.args.k = k, r.args.k_a = 1, r.args.k_b = n;
  r.args.loop_count = 1, r.args.loops[0] = {batch, m * k, k * n, m * n};
  r.alpha = codegen::factor::one, r.beta = codegen::factor::one, r.tiles = codegen::tile_use::always;
  const auto code = codegen::make(r, codegen::target::avx512);
  REQUIRE(code);
  const float inf = std::numeric_limits<float>::infinity();
  const float special[] = {inf, -inf, std::nanf(""), 0};
  for (int round = 0; round < 20; ++round) {
    std::vector<half> a(m * k * batch), b(k * n * batch);
    std::vector<float> c(m * n * batch, 1.0f);
    const float size = round % 2 ? 0x1p-20f : 3e4f;  // with few bits, and large
    for (auto* v : {&a, &b})
      for (half& x : *v) x = half(float(some<float>(g)) * size);
    for (std::int64_t e = 0; e < batch; e += 2) {
      a[static_cast<std::size_t>(e * m * k) + g() % (m * k)] = half(special[g() % 4]);
      b[static_cast<std::size_t>(e * k * n) + g() % (k * n)] = half(special[g() % 4]);
    }
    (*code)(a.data(), b.data(), c.data(), nullptr, nullptr);
    int wrong = 0;
    for (std::int64_t e = 0; e < batch; ++e)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 1, bound = 1;
          for (std::int64_t l = 0; l < k; ++l) {
            const double x = double(float(a[static_cast<std::size_t>((e * m + i) * k + l)])) *
                             float(b[static_cast<std::size_t>((e * k + l) * n + j)]);
            sum += x, bound += std::abs(x);
          }
          const float got = c[static_cast<std::size_t>((e * m + i) * n + j)];
          if (std::isnan(sum)) wrong += !std::isnan(got);
          else if (std::isinf(sum)) wrong += got != sum;
          else wrong += !(std::abs(got - sum) <= (k + 3) * 0x1p-23 * bound);
        }
    CHECK(wrong == 0);
  }
}

TEST_CASE("16-bit kernels: what they leave to others") {
  codegen::request r;
  r.type = dtype::f32;
  r.type_a = r.type_b = r.type_c = dtype::f16;
  r.args.row = {4, 8, 0, 8}, r.args.lane_extent = 8;
  r.args.k = 8, r.args.k_a = 2, r.args.k_b = 8;  // a's elements are no neighbours
  CHECK(codegen::make(r, codegen::target::avx512) == nullptr);
  r.args.k_a = 1;
  CHECK(codegen::make(r, codegen::target::avx2) == nullptr);
  r.args.row.extent = codegen::most_staged;
  CHECK(codegen::make(r, codegen::target::avx512) == nullptr);
}

TEST_CASE("bfloat16 kernels: infinities, NaNs and the smallest numbers") {
  if (!can()) return;
  codegen::request r;
  r.type = dtype::f32;
  r.type_a = r.type_b = r.type_c = dtype::bf16;
  r.args.row = {1, 1, 0, 5}, r.args.lane_extent = 5;
  r.args.k = 1, r.args.k_a = 1, r.args.k_b = 5;
  r.alpha = codegen::factor::one, r.beta = codegen::factor::zero;
  const bfloat16 a(1.0f);
  const float inf = std::numeric_limits<float>::infinity(), least = std::numeric_limits<float>::min();
  const bfloat16 b[5] = {inf, -inf, std::nanf(""), least, 0x1p-130f};
  bfloat16 c[5];
  const auto code = codegen::make(r, codegen::target::avx512);
  REQUIRE(code);
  (*code)(&a, b, c, nullptr, nullptr);
  CHECK(float(c[0]) == inf);
  CHECK(float(c[1]) == -inf);
  CHECK(std::isnan(float(c[2])));
  CHECK(float(c[3]) == least);
  CHECK((float(c[4]) == 0 || float(c[4]) == 0x1p-130f));  // processors with bfloat16 round subnormal results to zero
}

TEST_CASE("bfloat16 kernels: an odd sum ends with a number alone") {
  if (!can()) return;
  const float inf = std::numeric_limits<float>::infinity();
  for (const std::int64_t lanes : {3, 4, 7, 8, 16, 19, 40})
    for (const int way : {0, 1, 2}) {  // converted, in pairs, in tile registers
      codegen::request r;
      r.type = dtype::f32;
      r.type_a = r.type_b = r.type_c = dtype::bf16;
      r.args.row = {3, 3, 0, lanes}, r.args.lane_extent = lanes;
      r.args.k = 3, r.args.k_a = 1, r.args.k_b = lanes;
      r.alpha = codegen::factor::one, r.beta = codegen::factor::zero;
      r.in_pairs = way == 1;
      r.tiles = way == 2 ? codegen::tile_use::always : codegen::tile_use::never;
      if (!codegen::has_tile_registers()) tile_emulator::install();
      // Behind the last element of a and b stand NaNs, which must not get into the sums; before the infinity, zeros.
      std::vector<bfloat16> a(10, bfloat16(std::nanf(""))), b(static_cast<std::size_t>(4 * lanes), bfloat16(std::nanf("")));
      const float rows[3][3] = {{1, 2, 1}, {3, 1, -1}, {1, 1, inf}};
      for (std::size_t i = 0; i < 9; ++i) a[i] = bfloat16(rows[i / 3][i % 3]);
      for (std::int64_t j = 0; j < lanes; ++j)
        for (std::int64_t l = 0; l < 3; ++l) b[static_cast<std::size_t>(l * lanes + j)] = bfloat16(l < 2 ? float(j % 5 + l) : j % 2 ? inf : 4.0f);
      std::vector<bfloat16> c(static_cast<std::size_t>(3 * lanes));
      const auto code = codegen::make(r, codegen::target::avx512);
      REQUIRE(code);
      (*code)(a.data(), b.data(), c.data(), nullptr, nullptr);
      for (std::int64_t j = 0; j < lanes; ++j) {
        const float x = float(j % 5), last = j % 2 ? inf : 4;
        CHECK(float(c[static_cast<std::size_t>(j)]) == x + 2 * (x + 1) + last);
        CHECK(float(c[static_cast<std::size_t>(lanes + j)]) == 3 * x + (x + 1) - last);
        CHECK(float(c[static_cast<std::size_t>(2 * lanes + j)]) == inf);
      }
    }
}
