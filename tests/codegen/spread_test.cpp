// Tiny problems one behind the other, written at run time: guarded memory, poisoned results, a wide reference.
#include <catch2/catch.hpp>

#include <limits>

#include "codegen/spread_shape.hpp"
#include "contract_case.hpp"
#include "known_factors.hpp"
#include "reduced.hpp"

using namespace contract_case;
namespace codegen = ricci::codegen;

namespace {

lanes along = lanes::n;
bool known_factors = false;
int made = 0, others = 0;

bool writes() { return codegen::best_target() == codegen::target::avx512; }

template <class T> codegen::request request_of(const contract_args& g) {
  codegen::request r;
  r.type = r.type_a = r.type_b = r.type_c = ricci::dtype_of<T>;
  r.lanes = along, r.args = g;
  return r;
}

template <class T>
void generated(const contract_args& g, const void* a, const void* b, void* c, const void* alpha, const void* beta) {
  codegen::request r = request_of<T>(g);
  r.alpha = factor_of(*static_cast<const T*>(alpha), known_factors, false), r.beta = factor_of(*static_cast<const T*>(beta), known_factors, true);
  if (made % 3 == 0) r.fetch_ahead = 512, r.fetch_a = r.fetch_b = r.fetch_c = 1024;
  const bool spread = !codegen::spread_of(r, codegen::best_target()).empty();
  ++(spread ? made : others);
  const auto kernel = codegen::make(r, codegen::best_target());
  if (spread) REQUIRE(kernel);
  if (kernel) return (*kernel)(a, b, c, alpha, beta);
  best().contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(along)](g, a, b, c, alpha, beta);
}

template <class T> T number(double real, [[maybe_unused]] double imaginary) {
  if constexpr (complex_type<T>) return {static_cast<typename T::value_type>(real), static_cast<typename T::value_type>(imaginary)};
  else return static_cast<T>(real);
}

template <class T> bool right(shape s, rng& g) {
  kernel_set set = best();
  set.contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(s.along)] = &generated<T>;
  const T factors[] = {T(0), T(1), T(-1), number<T>(-2.5, 0.75), number<T>(0, -1.5)};
  if (complex_type<T>) s.conj_a = g() % 4 == 0, s.conj_b = g() % 4 == 0;
  along = s.along;
  for (const bool known : {false, true}) {
    known_factors = known;
    const T alpha = factors[g() % 5], beta = factors[g() % 5];
    runner<T> r(set, s, g);
    const std::string wrong = r.run(alpha, beta, g);
    if (wrong.empty()) continue;
    INFO(ricci::name_of(ricci::dtype_of<T>) << ' ' << text(s) << ", alpha " << alpha << " beta " << beta << (known ? " known" : ""));
    CHECK(wrong == "");
    return false;
  }
  return true;
}

/// c[e,i,j] = a[e,i,k] b[e,k,j] of `n` a side.
contract_args squares(std::int64_t n, std::int64_t problems) {
  contract_args g;
  g.lane_extent = n, g.row = {n, n, 0, n}, g.k = n, g.k_a = 1, g.k_b = n;
  g.loop_count = 1, g.loops[0] = {problems, n * n, n * n, n * n};
  return g;
}

}  // namespace

TEMPLATE_TEST_CASE("tiny problems one behind the other: every size and number", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(20261129);
  int wrong = 0;
  made = others = 0;
  for (const lanes way : {lanes::n, lanes::batch, lanes::k})
    for (extent_t lane = 1; lane <= 5; ++lane)
      for (extent_t row = 1; row <= 4; ++row)
        for (extent_t k = 1; k <= 3; ++k)
          for (const extent_t problems : {33, 64, 131}) {
            shape s;
            s.along = way, s.lane = way == lanes::k ? 2 : lane, s.row = row, s.col = way == lanes::n ? 1 : 1 + static_cast<extent_t>(g() % 3), s.k = k, s.packed = true;
            s.loops = {problems};
            wrong += wrong < 5 && !right<TestType>(s, g);
          }
  CHECK(wrong == 0);
  if (writes()) CHECK(made > 100);
}

TEMPLATE_TEST_CASE("tiny problems one behind the other: random shapes", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(29);
  const int count = reduced_tests() ? 300 : 4000;
  int wrong = 0;
  made = others = 0;
  const auto extent = [&](int most) { return static_cast<extent_t>(1 + g() % static_cast<unsigned>(most)); };
  for (int i = 0; i < count && wrong < 5; ++i) {
    INFO("case " << i);
    shape s;
    s.along = static_cast<lanes>(g() % 3);
    s.lane = s.along == lanes::k ? 2 : extent(6), s.row = extent(g() % 2 ? 1 : 4), s.col = extent(g() % 2 ? 1 : 3), s.k = extent(g() % 2 ? 1 : 5);
    s.k_outer = g() % 8 == 0 ? 2 : 1, s.ones = s.along == lanes::k && s.row == 1 && g() % 4 == 0;
    for (unsigned l = static_cast<unsigned>(g() % 3); l > 0; --l) s.loops.push_back(extent(4));
    s.loops.push_back(20 + extent(100));
    if (g() % 4 == 0) s.loops.push_back(extent(3));
    s.packed = g() % 3 != 0, s.dense_c = g() % 4 != 0;
    wrong += !right<TestType>(s, g);
  }
  CHECK(wrong == 0);
  if (writes()) CHECK(made > count / (complex_type<TestType> ? 8 : 4));
}

TEMPLATE_TEST_CASE("tiny problems one behind the other: the result stands where a factor stood", "", float, double, std::complex<float>, std::complex<double>) {
  along = lanes::batch;
  rng g(3);
  for (const std::int64_t lane : {2, 3, 5})
    for (const std::int64_t rows : {1, 2, 3}) {
      CAPTURE(lane, rows);
      constexpr std::int64_t problems = 77;
      contract_args x;  // c[e,i,j] = c[e,i,j] v[e,j]
      x.lane_extent = lane, x.row = {rows, lane, 0, lane};
      x.loop_count = 1, x.loops[0] = {problems, rows * lane, lane, rows * lane};
      std::vector<TestType> c(static_cast<std::size_t>(problems * rows * lane)), v(static_cast<std::size_t>(problems * lane));
      for (TestType& y : c) y = random_value<TestType>(g);
      for (TestType& y : v) y = random_value<TestType>(g);
      const std::vector<TestType> before = c;
      codegen::request r = request_of<TestType>(x);
      r.alpha = codegen::factor::one, r.beta = codegen::factor::zero;
      if (writes() && (!complex_type<TestType> || lane == 2)) CHECK_FALSE(codegen::spread_of(r, codegen::best_target()).empty());
      const TestType one = 1, zero = 0;
      if (const auto kernel = codegen::make(r, codegen::best_target())) (*kernel)(c.data(), v.data(), c.data(), &one, &zero);
      else best().contract[static_cast<int>(ricci::dtype_of<TestType>)][static_cast<int>(along)](x, c.data(), v.data(), c.data(), &one, &zero);
      for (std::int64_t i = 0; i < problems * rows * lane; ++i) {
        const TestType was = before[static_cast<std::size_t>(i)], by = v[static_cast<std::size_t>(i / (rows * lane) * lane + i % lane)];
        const auto bound = 4 * std::numeric_limits<decltype(std::abs(was))>::epsilon() * std::abs(was) * std::abs(by);
        REQUIRE(std::abs(c[static_cast<std::size_t>(i)] - was * by) <= (complex_type<TestType> ? bound : 0));
      }
    }
}

TEST_CASE("what is taken for tiny problems one behind the other") {
  along = lanes::n;
  const auto taken = [](const contract_args& g) { return !codegen::spread_of(request_of<float>(g), codegen::target::avx512).empty(); };
  CHECK(taken(squares(2, 1000)));
  CHECK(taken(squares(4, 1000)));
  CHECK_FALSE(taken(squares(8, 1000)));  // more permutations than rows
  CHECK_FALSE(taken(squares(2, 7)));     // less than two registers
  contract_args apart = squares(2, 1000);
  apart.loops[0].c = 5;
  CHECK_FALSE(taken(apart));  // results with gaps
  apart = squares(2, 1000), apart.loops[0].a = 100;
  CHECK_FALSE(taken(apart));  // a register of results meets four problems of a, far from one another
  apart = squares(2, 1000), apart.loops[0].a = 8;
  CHECK_FALSE(taken(apart));  // between problems of a lies what is others'
  CHECK(codegen::spread_of(request_of<float>(squares(2, 1000)), codegen::target::avx2).empty());
  const auto complex = [](bool conj_a, bool conj_b) {
    contract_args g = squares(2, 1000);
    g.conj_a = conj_a, g.conj_b = conj_b;
    return codegen::spread_of(request_of<std::complex<float>>(g), codegen::target::avx512);
  };
  REQUIRE(complex(false, false).size() == 1);
  REQUIRE(complex(false, true).size() == 1);
  CHECK(complex(false, true)[0].common == 1);
  CHECK(complex(true, false)[0].common == 0);
  CHECK(complex(true, true).empty());
  codegen::request past = request_of<float>(squares(2, 1000));
  past.past_caches = true, past.beta = codegen::factor::zero;
  CHECK(codegen::spread_of(past, codegen::target::avx512).empty());
}
