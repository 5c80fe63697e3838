// Short dot products written at run time: guarded memory, poisoned results, a wide reference.
#include <catch2/catch.hpp>

#include "codegen/codegen.hpp"
#include "contract_case.hpp"
#include "known_factors.hpp"

using namespace contract_case;
namespace codegen = ricci::codegen;

namespace {

bool known_factors = false;
int made = 0, refused = 0;
codegen::target now = codegen::target::none;

std::vector<codegen::target> targets() {
  using enum codegen::target;
  if (codegen::best_target() == avx512) return {avx512, avx2};
  return {codegen::best_target()};
}

template <class T> codegen::request request_of(const contract_args& g) {
  codegen::request r;
  r.type = r.type_a = r.type_b = r.type_c = ricci::dtype_of<T>;
  r.lanes = lanes::k;
  r.args = g;
  return r;
}

template <class T>
void generated(const contract_args& g, const void* a, const void* b, void* c, const void* alpha, const void* beta) {
  codegen::request r = request_of<T>(g);
  r.alpha = factor_of(*static_cast<const T*>(alpha), known_factors, false), r.beta = factor_of(*static_cast<const T*>(beta), known_factors, true);
  if (made % 3 == 0) r.fetch_ahead = 512, r.fetch_a = r.fetch_b = 1024;
  if (const auto k = codegen::make(r, now)) {
    ++made;
    return (*k)(a, b, c, alpha, beta);
  }
  ++refused;
  best().contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(lanes::k)](g, a, b, c, alpha, beta);
}

bool writes() { return codegen::best_target() != codegen::target::none; }

template <class T> bool right(shape s, rng& g) {
  kernel_set set = best();
  set.contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(lanes::k)] = &generated<T>;
  const T factors[] = {T(0), T(1), T(-1), T(-2.5)};
  s.along = lanes::k;
  if (s.ones) s.row = 1;
  for (const codegen::target t : targets())
    for (const bool known : {false, true}) {
      known_factors = known, now = t;
      const T alpha = factors[g() % 4], beta = factors[g() % 4];
      const bool nan = !s.ones && alpha == T(1) && beta == T(0) && g() % 8 == 0;
      runner<T> r(set, s, g);
      const std::string wrong = r.run(alpha, beta, g, nan);
      if (wrong.empty()) continue;
      INFO(ricci::name_of(ricci::dtype_of<T>) << ' ' << text(s) << ", alpha " << alpha << " beta " << beta << (known ? " known" : "") << (nan ? " with a NaN" : "") << (t == codegen::target::avx2 ? " AVX2" : ""));
      CHECK(wrong == "");
      return false;
    }
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("short dot products: every length and few results", "", float, double) {
  rng g(20261126);
  int wrong = 0;
  made = refused = 0;
  for (extent_t length = 2; length <= 40 && wrong < 5; ++length)
    for (extent_t results = 2; results <= 19; ++results) {
      shape s;
      s.packed = g() % 2 == 0, s.dense_c = true, s.ones = g() % 3 == 0;
      s.lane = length, (results % 2 && !s.ones ? s.row : s.col) = results;
      wrong += !right<TestType>(s, g);
      if (length == 24 && results == 19 && writes()) CHECK(made > 10 * refused);  // six of the shortest registers; longer ones may be refused
    }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("short dot products: matrices that meet a vector each", "", float, double) {
  rng g(3);
  int wrong = 0;
  made = refused = 0;
  for (extent_t rows = 1; rows <= 18 && wrong < 5; ++rows)
    for (const extent_t length : {2, 3, 4, 5, 7, 8, 9, 16, 17, 33})
      for (const extent_t problems : {1, 2, 3, 5, 8, 16, 37}) {
        shape s;
        s.lane = length, s.row = rows, s.loops = {problems};
        s.packed = g() % 3 != 0, s.dense_c = true;
        wrong += !right<TestType>(s, g);
      }
  CHECK(wrong == 0);
  if (writes()) CHECK(made > 5 * refused);
}

TEMPLATE_TEST_CASE("short dot products: each result has its own factors", "", float, double) {
  rng g(5);
  int wrong = 0;
  for (const extent_t length : {2, 3, 4, 5, 8, 9, 60, 200})
    for (extent_t results = 2; results <= 70 && wrong < 5; ++results) {
      shape s;
      s.lane = length, s.loops = {results};
      s.packed = g() % 8 != 0, s.dense_c = true, s.ones = g() % 8 == 0;
      wrong += !right<TestType>(s, g);
    }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("a dot product or a sum alone", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(20261128);
  int wrong = 0;
  made = refused = 0;
  for (extent_t length = 1; length <= 130 && wrong < 5; ++length)
    for (const extent_t k : {1, 1, 2, 3}) {
      shape s;
      s.lane = length, s.k = k;
      s.packed = g() % 2 == 0, s.ones = g() % 3 == 0;
      if (is_complex(ricci::dtype_of<TestType>)) s.conj_a = g() % 2 == 0, s.conj_b = g() % 2 == 0;
      wrong += !right<TestType>(s, g);
    }
  for (const extent_t length : {257, 300, 512, 1000, 1024, 1025, 1031, 2049, 2060, 4100}) {  // in a loop
    shape s;
    s.lane = length, s.packed = g() % 2 == 0, s.ones = g() % 3 == 0;
    if (is_complex(ricci::dtype_of<TestType>)) s.conj_a = g() % 2 == 0, s.conj_b = g() % 2 == 0;
    wrong += !right<TestType>(s, g);
  }
  CHECK(wrong == 0);
  if (writes()) CHECK(made > refused / 4);  // of complex numbers none for a beta that is not known
}

TEMPLATE_TEST_CASE("dot products and sums of complex numbers, results of any strides", "", std::complex<float>, std::complex<double>) {
  rng g(28);
  int wrong = 0;
  made = refused = 0;
  const auto extent = [&](int most) { return static_cast<extent_t>(1 + g() % static_cast<unsigned>(most)); };
  for (int i = 0; i < (reduced_tests() ? 200 : 1500) && wrong < 5; ++i) {
    INFO("case " << i);
    shape s;
    s.lane = extent(g() % 4 == 0 ? 70 : 12), (g() % 2 ? s.row : s.col) = extent(9), s.k = g() % 4 == 0 ? extent(4) : 1;
    for (unsigned l = static_cast<unsigned>(g() % 4); l > 0; --l) s.loops.push_back(extent(l == 1 ? 9 : 3));
    s.packed = g() % 3 == 0, s.ones = g() % 4 == 0, s.conj_a = g() % 2 == 0, s.conj_b = g() % 2 == 0;
    wrong += !right<TestType>(s, g);
  }
  CHECK(wrong == 0);
  if (writes()) CHECK(made > refused / 2);
}

TEMPLATE_TEST_CASE("short dot products: random shapes", "", float, double) {
  rng g(17);
  const int count = reduced_tests() ? 200 : 3000;
  int wrong = 0;
  made = refused = 0;
  const auto extent = [&](int most) { return static_cast<extent_t>(1 + g() % static_cast<unsigned>(most)); };
  for (int i = 0; i < count && wrong < 5; ++i) {
    INFO("case " << i);
    shape s;
    s.lane = extent(g() % 4 == 0 ? 70 : 12), s.row = extent(9), s.col = extent(g() % 2 ? 1 : 6), s.k = g() % 4 == 0 ? extent(4) : 1;
    s.k_outer = g() % 16 == 0 ? 2 : 1;
    for (unsigned l = static_cast<unsigned>(g() % 4); l > 0; --l) s.loops.push_back(extent(l == 1 ? 9 : 3));
    s.packed = g() % 3 == 0, s.dense_c = g() % 2 == 0, s.ones = g() % 5 == 0;
    wrong += !right<TestType>(s, g);
  }
  CHECK(wrong == 0);
  if (writes()) CHECK(made > refused / 2);
}

TEST_CASE("dot products that no code is written for") {
  contract_args g;
  g.lane_extent = 4, g.row = {8, 4, 0, 1};
  if (writes()) CHECK(codegen::make(request_of<double>(g), codegen::best_target()) != nullptr);
  codegen::request complex = request_of<std::complex<double>>(g);
  CHECK(codegen::make(complex, codegen::best_target()) == nullptr);  // for a beta that is not known
  complex.beta = codegen::factor::one;
  if (writes()) CHECK(codegen::make(complex, codegen::best_target()) != nullptr);
  g.row.c = 2;  // results that are not neighbours
  CHECK(codegen::make(request_of<double>(g), codegen::best_target()) == nullptr);
  g.row = {8, std::int64_t{1} << 40, 0, 1};
  CHECK(codegen::make(request_of<double>(g), codegen::best_target()) == nullptr);
  g.row = {8, 1000, 0, 1}, g.lane_extent = 1000;
  CHECK(codegen::make(request_of<double>(g), codegen::best_target()) == nullptr);
}
