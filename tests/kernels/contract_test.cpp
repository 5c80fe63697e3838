// The contraction kernels of every instruction set this CPU runs, against a long double reference.
#include <catch2/catch.hpp>

#include <algorithm>

#include "contract_case.hpp"

using namespace contract_case;

namespace {

constexpr lanes all_lanes[] = {lanes::n, lanes::batch, lanes::k};

/// Runs one shape with one alpha and beta; counts a Catch2 assertion only when something is wrong.
template <class T> bool right(const kernel_set& set, const shape& s, T alpha, T beta, rng& g, bool nan_in_a = false) {
  runner<T> r(set, s, g);
  const std::string wrong = r.run(alpha, beta, g, nan_in_a);
  if (wrong.empty()) return true;
  INFO(set.isa << ' ' << ricci::name_of(ricci::dtype_of<T>) << ' ' << text(s));
  INFO("alpha " << alpha << " beta " << beta);
  CHECK(wrong == "");
  return false;
}

template <class T, class F> void for_each_kernel(F&& f) {
  const kernel_sets sets = available();
  REQUIRE(sets.count >= 1);
  for (int i = 0; i < sets.count; ++i)
    for (lanes l : all_lanes) f(*sets.first[i], l);
}

template <class T> std::vector<T> alphas() {
  std::vector<T> x{T(1), T(-2.5), T(0)};
  if constexpr (complex_type<T>) x.push_back(T(typename real_of<T>::type(0.5), typename real_of<T>::type(-2)));
  return x;
}

template <class T> std::vector<T> betas() {
  std::vector<T> x{T(0), T(1), T(0.5)};
  if constexpr (complex_type<T>) x.push_back(T(typename real_of<T>::type(-0.25), typename real_of<T>::type(1.5)));
  return x;
}

template <class T> T pick(const std::vector<T>& from, rng& g) { return from[g() % from.size()]; }

shape random_shape(lanes l, bool complex, rng& g) {
  const auto extent = [&](int most) { return static_cast<extent_t>(1 + g() % static_cast<unsigned>(most)); };
  shape s;
  s.along = l;
  s.lane = extent(g() % 3 == 0 ? 40 : 17);
  s.row = extent(17);
  s.col = extent(g() % 3 == 0 ? 9 : 3);
  s.k = extent(9);
  s.k_outer = g() % 3 == 0 ? extent(4) : 1;
  const unsigned loops = static_cast<unsigned>(g() % 5);
  for (unsigned i = 0; i < loops; ++i) s.loops.push_back(extent(3));
  s.packed = g() % 4 == 0;
  s.conj_a = complex && g() % 2 == 0;
  s.conj_b = complex && g() % 2 == 0;
  std::vector<extent_t*> axes{&s.lane, &s.row, &s.col, &s.k, &s.k_outer};
  for (extent_t& e : s.loops) axes.push_back(&e);
  const extent_t most = reduced_tests() ? 4000 : 60000;  // products, so that the reference stays quick
  for (;;) {
    extent_t work = 1;
    for (const extent_t* e : axes) work *= *e;
    if (work <= most) return s;
    extent_t& e = *axes[g() % axes.size()];
    e = (e + 1) / 2;
  }
}

}  // namespace

TEMPLATE_TEST_CASE("contraction kernels: small sizes, all of them", "",
                   float, double, std::complex<float>, std::complex<double>) {
  const extent_t most = reduced_tests() ? 3 : 5;
  rng g(20240601);
  int wrong = 0;
  for_each_kernel<TestType>([&](const kernel_set& set, lanes l) {
    for (extent_t m = 1; m <= most; ++m)
      for (extent_t n = 1; n <= most; ++n)
        for (extent_t k = 1; k <= most; ++k)
          for (extent_t lane = 1; lane <= most; lane += 2) {
            if (wrong > 5) return;
            shape s;
            s.along = l, s.lane = l == lanes::n ? n : lane, s.row = m, s.col = l == lanes::n ? lane : n, s.k = k;
            s.loops = {2};
            s.packed = true;
            if (complex_type<TestType>) s.conj_a = (m + n) % 2, s.conj_b = (m + k) % 2;
            wrong += !right<TestType>(set, s, pick(alphas<TestType>(), g), pick(betas<TestType>(), g), g);
          }
  });
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("contraction kernels: ragged sizes, strides, loops", "",
                   float, double, std::complex<float>, std::complex<double>) {
  const int cases = reduced_tests() ? 40 : 400;
  int wrong = 0;
  for_each_kernel<TestType>([&](const kernel_set& set, lanes l) {
    rng g(7 + static_cast<unsigned>(l));
    for (int i = 0; i < cases && wrong < 5; ++i) {
      const shape s = random_shape(l, complex_type<TestType>, g);
      wrong += !right<TestType>(set, s, pick(alphas<TestType>(), g), pick(betas<TestType>(), g), g);
    }
  });
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("contraction kernels: every alpha with every beta", "",
                   float, double, std::complex<float>, std::complex<double>) {
  int wrong = 0;
  for_each_kernel<TestType>([&](const kernel_set& set, lanes l) {
    rng g(11);
    for (TestType alpha : alphas<TestType>())
      for (TestType beta : betas<TestType>())
        for (int i = 0; i < (reduced_tests() ? 1 : 4); ++i)
          wrong += !right<TestType>(set, random_shape(l, complex_type<TestType>, g), alpha, beta, g);
  });
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("contraction kernels: every tile of rows and vectors", "",
                   float, double, std::complex<float>, std::complex<double>) {
  int wrong = 0;
  for_each_kernel<TestType>([&](const kernel_set& set, lanes l) {
    const extent_t width = set.vector_bytes / static_cast<extent_t>(sizeof(TestType));
    rng g(13);
    for (extent_t row = 1; row <= 13; row += reduced_tests() ? 3 : 1)
      for (extent_t vectors = 1; vectors <= 5; ++vectors)
        for (int rest = 0; rest < 2; ++rest) {
          shape s;
          s.along = l, s.row = row, s.k = 3, s.loops = {3, 2};
          const bool along_lane = l == lanes::n && g() % 2 == 0;
          s.lane = (along_lane ? vectors : 1) * width - (width > 1 ? rest : 0);
          s.col = along_lane ? 1 : vectors;
          wrong += !right<TestType>(set, s, TestType(1), TestType(static_cast<float>(g() % 2)), g);
        }
  });
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("contraction kernels: a NaN times zero is a NaN", "",
                   float, double, std::complex<float>, std::complex<double>) {
  for_each_kernel<TestType>([&](const kernel_set& set, lanes l) {
    rng g(17);
    for (int i = 0; i < 20; ++i) {
      shape s = random_shape(l, complex_type<TestType>, g);
      CHECK(right<TestType>(set, s, TestType(1), TestType(0), g, true));
    }
  });
}

TEMPLATE_TEST_CASE("dot products in float of elements of 16 bits", "", ricci::half, ricci::bfloat16) {
  const kernel_sets sets = available();
  const int cases = reduced_tests() ? 40 : 600;
  for (int i = 0; i < sets.count; ++i) {
    rng g(19);
    const kernel_set& set = *sets.first[i];
    const auto try_one = [&](auto& r, const shape& s, float alpha, float beta, bool nan) {
      const std::string wrong = r.run(alpha, beta, g, nan);
      INFO(set.isa << ' ' << text(s) << " alpha " << alpha << " beta " << beta);
      REQUIRE(wrong == "");
    };
    for (int n = 0; n < cases; ++n) {
      const shape s = random_shape(lanes::k, false, g);
      const float alpha = pick(alphas<float>(), g), beta = pick(betas<float>(), g);
      runner<float, TestType, TestType> both(set, s, g);
      runner<float, float, TestType> one(set, s, g);
      try_one(both, s, alpha, beta, false);
      try_one(one, s, alpha, beta, false);
      if (n % 16 == 0) try_one(both, s, 1, 0, true);
    }
  }
}

// Run three times by ctest: without RICCI_ISA, with one that exists, with one that does not.
TEST_CASE("contraction kernels: the best set is the first, or the one RICCI_ISA names") {
  const kernel_sets sets = available();
  const char* wanted = std::getenv("RICCI_ISA");
  const kernel_set* expected = sets.first[0];
  for (int i = 0; i < sets.count; ++i)
    if (wanted && std::string(sets.first[i]->isa) == wanted) expected = sets.first[i];
  CHECK(&best() == expected);
  for (int i = 0; i + 1 < sets.count; ++i) CHECK(std::string(sets.first[i]->isa) != "portable");
}
