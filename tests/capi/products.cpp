// Batched products from C: every layout, transposition, leading dimension, stride and kind of scalar.
#include <catch2/catch.hpp>

#include "problem.hpp"
#include "uniform.hpp"

using namespace capi;

namespace {

template <class T>
std::complex<double> random_scalar(std::mt19937& random) {
  const ricci::test::uniform<float> x{-2, 2};
  switch (random() % 6) {
    case 0: return 0;
    case 1: return 1;
    case 2: return -1;
    default: return {x(random), is_complex<T> ? x(random) : 0.0f};
  }
}

template <class T>
problem random_problem(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  problem p;
  p.layout = below(2) ? RICCI_ROW_MAJOR : RICCI_COL_MAJOR;
  p.ta = static_cast<ricci_transpose>(RICCI_NO_TRANS + below(3));
  p.tb = static_cast<ricci_transpose>(RICCI_NO_TRANS + below(3));
  const auto extent = [&] { return below(8) == 0 ? below(70) : below(4) == 0 ? below(2) : 1 + below(18); };
  p.m = extent(), p.n = extent(), p.k = extent(), p.batch = below(10) == 0 ? below(60) : below(6);
  p.dense(below(2) ? below(5) : 0);
  if (below(4) == 0) p.sa = 0;
  if (below(4) == 0) p.sb = 0;
  if (below(6) == 0) p.sa = -p.sa;
  if (below(6) == 0) p.sb = -p.sb;
  if (below(6) == 0) p.sc = -p.sc;
  if (below(6) == 0 && p.batch > 0) {  // matrices side by side: lines of one lie between lines of the others
    const std::int64_t line = p.rows() ? p.n : p.m;
    p.sc = std::max<std::int64_t>(1, line);
    p.ldc = std::max<std::int64_t>(1, line * p.batch);
  }
  p.alpha = random_scalar<T>(random), p.beta = random_scalar<T>(random);
  return p;
}

}  // namespace

TEMPLATE_TEST_CASE("random products agree with loops in long double", "", float, double, std::complex<float>,
                   std::complex<double>, ricci::half, ricci::bfloat16) {
  for (unsigned seed = 0; seed < 350; ++seed) {
    std::mt19937 random(seed);
    const problem p = random_problem<TestType>(random);
    const std::string bad = run_and_check<TestType>(p, random);
    INFO("seed " << seed << ": " << p.text());
    REQUIRE(bad == "");
  }
}

TEMPLATE_TEST_CASE("every size to 9 in every direction", "", float, double) {
  std::mt19937 random(7);
  for (std::int64_t m = 1; m <= 9; m += 2)
    for (std::int64_t n = 1; n <= 9; ++n)
      for (std::int64_t k = 1; k <= 9; k += 3)
        for (const double beta : {0.0, 1.0}) {
          problem p;
          p.m = m, p.n = n, p.k = k, p.batch = 5, p.beta = beta;
          p.dense();
          const std::string bad = run_and_check<TestType>(p, random);
          INFO(p.text());
          REQUIRE(bad == "");
        }
}

TEST_CASE("many problems and large ones, where threads join in") {
  std::mt19937 random(3);
  for (const auto& [m, n, k, batch] : {std::array<std::int64_t, 4>{4, 4, 4, 20000}, {9, 7, 5, 3000}, {120, 130, 90, 3}}) {
    problem p;
    p.m = m, p.n = n, p.k = k, p.batch = batch, p.beta = 1;
    p.dense();
    REQUIRE(run_and_check<double>(p, random) == "");
  }
}

TEST_CASE("memory that is aligned to elements only") {
  std::mt19937 random(5);
  std::vector<float> a(200), b(200), c(200), old;
  for (auto* x : {&a, &b, &c})
    for (float& e : *x) e = static_cast<float>(random() % 17) - 8;
  old = c;
  problem p;
  p.m = 5, p.n = 7, p.k = 3, p.batch = 2, p.beta = 1;
  p.dense();
  for (int offset = 0; offset < 8; ++offset) {
    c = old;
    REQUIRE(call_strided<float>(p, &a[offset], &b[(offset * 3) % 8], &c[(offset * 5) % 8]) == 0);
    const float* pa[] = {&a[offset], &a[offset] + p.sa};
    const float* pb[] = {&b[(offset * 3) % 8], &b[(offset * 3) % 8] + p.sb};
    const float* po[] = {&old[(offset * 5) % 8], &old[(offset * 5) % 8] + p.sc};
    const float* pc[] = {&c[(offset * 5) % 8], &c[(offset * 5) % 8] + p.sc};
    REQUIRE(compare<float>(p, pa, pb, po, pc) == "");
  }
}

TEST_CASE("matrices C that share memory are computed in order") {
  const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 10, 100, 1000, 1e4, 1e5};
  double c = 7;
  REQUIRE(ricci_dgemm_batch_strided(RICCI_ROW_MAJOR, RICCI_NO_TRANS, RICCI_NO_TRANS, 1, 1, 1, 1, a, 1, 1, b, 1, 1, 1, &c, 1,
                                    0, 6) == 0);
  CHECK(c == 654321 + 7);
}

TEST_CASE("calls inside a parallel region of the caller") {
  std::mt19937 random(11);
  problem p;
  p.m = p.n = p.k = 6, p.batch = 50;
  p.dense();
  block<double> a(p.sa, p.span_a(), p.batch), b(p.sb, p.span_b(), p.batch);
  a.fill(random), b.fill(random);
  constexpr int calls = 64;
  std::vector<block<double>> c(calls, block<double>(p.sc, p.span_c(), p.batch));
  int failures = 0;
#pragma omp parallel for num_threads(4) reduction(+ : failures)
  for (int t = 0; t < calls; ++t) failures += call_strided<double>(p, a.data(), b.data(), c[t].data()) != 0;
  REQUIRE(failures == 0);
  for (int t = 1; t < calls; ++t) REQUIRE(c[t].memory == c[0].memory);
}
