// The generator's kernels under the tests of the compiled ones: guarded memory, poisoned results, a wide reference.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

#include "codegen/codegen.hpp"
#include "contract_case.hpp"

using namespace contract_case;
namespace codegen = ricci::codegen;

namespace {

/// What the contract_fn below is to make, since its signature has no room for it.
codegen::target now = codegen::target::none;
bool exact_factors = false;  // alpha and beta are said to the generator where they are 0, 1 or -1
codegen::tail_kind last_columns = codegen::tail_kind::open;  // open: any of the candidates
codegen::tile_choice wanted_tile;                            // zeros: any of the candidates
bool assigns = false;                                        // beta is 0
int made = 0, refused = 0, past = 0;

template <class T> codegen::factor factor_of(T x) {
  using enum codegen::factor;
  if (!exact_factors) return any;
  return x == T(0) ? zero : x == T(1) ? one : x == T(-1) ? minus_one : any;
}

template <class T, lanes L>
void generated(const contract_args& g, const void* a, const void* b, void* c, const void* alpha, const void* beta) {
  codegen::request r;
  r.type = r.type_a = r.type_b = r.type_c = ricci::dtype_of<T>;
  r.lanes = L;
  r.args = g, r.args.ones_a = false;
  r.only_sums = L == lanes::n && g.ones_a;
  r.alpha = factor_of(*static_cast<const T*>(alpha));
  if (r.alpha == codegen::factor::zero) r.alpha = codegen::factor::any;
  r.beta = factor_of(*static_cast<const T*>(beta));
  const auto tiles = codegen::tile_candidates(r, now, 3);
  r.tile = tiles[static_cast<std::size_t>(made) % tiles.size()];
  r.b_in_order = made % 3 == 0;
  r.c_first = made % 2 == 0;
  r.alternate = made / 4 % 2 == 0;  // each case makes four
  r.staggered = made / 8 % 2 == 0;
  if (made / 16 % 2 == 0) r.fetch_ahead = 512, r.fetch_a = r.fetch_b = r.fetch_c = 1 << 16;
  r.ask_rows = made / 32 % 2 == 0;
  if (last_columns != codegen::tail_kind::open) r.tile = {0, 0, 0, last_columns};
  if (wanted_tile.widest) r.tile = wanted_tile;
  r.past_caches = r.beta == codegen::factor::zero && reinterpret_cast<std::uintptr_t>(c) % 64 == 0;
  auto k = codegen::make(r, now);
  if (r.past_caches && k) ++past;
  if (r.past_caches && !k) {
    r.past_caches = false;
    k = codegen::make(r, now);
  }
  if (k) {
    ++made;
    return (*k)(a, b, c, alpha, beta);
  }
  ++refused;
  best().contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(L)](g, a, b, c, alpha, beta);
}

template <class T> void fill(kernel_set& s) {
  s.contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(lanes::n)] = &generated<T, lanes::n>;
  s.contract[static_cast<int>(ricci::dtype_of<T>)][static_cast<int>(lanes::batch)] = &generated<T, lanes::batch>;
}

std::vector<codegen::target> targets() {
  std::vector<codegen::target> out;
  if (codegen::best_target() == codegen::target::none) return out;
  out.push_back(codegen::target::avx2);
  if (codegen::best_target() == codegen::target::avx512) out.push_back(codegen::target::avx512);
  return out;
}

template <class T> T pick(const std::vector<T>& from, rng& g) { return from[g() % from.size()]; }

template <class T> std::vector<T> factors() {
  std::vector<T> x{T(0), T(1), T(-1), T(-2.5)};
  if constexpr (complex_type<T>) x.push_back(T(typename real_of<T>::type(0.5), typename real_of<T>::type(-2)));
  return x;
}

/// Runs one shape on every target, with and without known factors.
template <class T> bool right(const shape& s, rng& g) {
  kernel_set set = best();
  fill<T>(set);
  for (codegen::target t : targets())
    for (bool exact : {false, true}) {
      now = t;
      exact_factors = exact;
      const T alpha = pick(factors<T>(), g), beta = assigns ? T(0) : pick(factors<T>(), g);
      const bool nan = !s.ones && alpha == T(1) && beta == T(0) && g() % 8 == 0;
      runner<T> r(set, s, g);
      const std::string wrong = r.run(alpha, beta, g, nan);
      if (wrong.empty()) continue;
      INFO((t == codegen::target::avx2 ? "AVX2 " : "AVX-512 ") << ricci::name_of(ricci::dtype_of<T>) << ' ' << text(s));
      INFO("alpha " << alpha << " beta " << beta << (exact ? " known" : "") << (nan ? " with a NaN" : ""));
      CHECK(wrong == "");
      return false;
    }
  return true;
}

shape random_shape(bool complex, rng& g) {
  const auto extent = [&](int most) { return static_cast<extent_t>(1 + g() % static_cast<unsigned>(most)); };
  shape s;
  s.along = g() % 3 == 0 ? lanes::batch : lanes::n;
  s.lane = extent(g() % 3 == 0 ? 70 : 18);
  s.row = extent(g() % 3 == 0 ? 33 : 9);
  s.col = extent(g() % 3 == 0 ? 12 : 2);
  s.k = extent(g() % 4 == 0 ? 90 : 9);
  s.k_outer = g() % 3 == 0 ? extent(5) : 1;
  const unsigned loops = static_cast<unsigned>(g() % 6);
  for (unsigned i = 0; i < loops; ++i) s.loops.push_back(extent(3));
  if (g() % 16 == 0) s.loops.assign(12, 1), s.loops[3] = s.loops[11] = 2;
  s.packed = g() % 3 == 0;
  s.conj_a = complex && g() % 2 == 0;
  s.conj_b = complex && g() % 2 == 0;
  std::vector<extent_t*> axes{&s.lane, &s.row, &s.col, &s.k, &s.k_outer};
  for (extent_t& e : s.loops) axes.push_back(&e);
  const extent_t most = reduced_tests() ? 4000 : 100000;
  for (;;) {
    extent_t work = 1;
    for (const extent_t* e : axes) work *= *e;
    if (work <= most) return s;
    extent_t& e = *axes[g() % axes.size()];
    e = (e + 1) / 2;
  }
}

}  // namespace

TEMPLATE_TEST_CASE("generated kernels: small sizes, all of them", "", float, double, std::complex<float>,
                   std::complex<double>) {
  const extent_t most = reduced_tests() ? 4 : 10;
  rng g(20261121);
  int wrong = 0;
  for (lanes along : {lanes::n, lanes::batch})
    for (extent_t m = 1; m <= most && wrong < 5; ++m)
      for (extent_t n = 1; n <= most; ++n)
        for (extent_t k = 1; k <= 4; ++k) {
          shape s;
          s.along = along, s.row = m, s.lane = n, s.k = k;
          s.packed = g() % 2 == 0;
          wrong += !right<TestType>(s, g);
        }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("generated kernels: random shapes", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(7);
  const int count = reduced_tests() ? 100 : 1000;
  int wrong = 0;
  made = refused = 0;
  for (int i = 0; i < count && wrong < 5; ++i) {
    INFO("case " << i);
    wrong += !right<TestType>(random_shape(complex_type<TestType>, g), g);
  }
  CHECK(wrong == 0);
  if (!targets().empty()) CHECK(made > 20 * refused);
}

TEMPLATE_TEST_CASE("generated kernels: long sums across problems, columns of several axes", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(11);
  int wrong = 0;
  for (int i = 0; i < (reduced_tests() ? 40 : 100) && wrong < 5; ++i) {
    shape s;
    s.along = lanes::batch;
    const auto extent = [&](unsigned least, unsigned most) { return static_cast<extent_t>(least + g() % (most - least + 1)); };
    s.lane = extent(1, 40), s.col = extent(1, 8), s.k = extent(8, 40), s.k_outer = extent(1, 12);
    s.loops = {extent(2, 6), extent(1, 2)};
    s.packed = g() % 3 == 0;
    s.conj_a = complex_type<TestType> && g() % 2 == 0;
    INFO("case " << i);
    wrong += !right<TestType>(s, g);
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("generated kernels: rows that fill lines, past the caches", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(5);
  int wrong = 0;
  past = 0;
  assigns = true;
  for (int i = 0; i < (reduced_tests() ? 60 : 400) && wrong < 5; ++i) {
    shape s = random_shape(complex_type<TestType>, g);
    s.lane = static_cast<extent_t>(16 / sizeof(TestType)) * static_cast<extent_t>(1 + g() % 9), s.packed = true;
    INFO("case " << i);
    wrong += !right<TestType>(s, g);
  }
  assigns = false;
  CHECK(wrong == 0);
  if (!targets().empty()) CHECK(past > (reduced_tests() ? 1 : 10));
}

TEMPLATE_TEST_CASE("generated kernels: thousands of columns", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(11);
  int wrong = 0;
  made = refused = 0;
  for (int i = 0; i < (reduced_tests() ? 4 : 24) && wrong < 5; ++i) {
    shape s;
    s.along = lanes::n;
    s.lane = static_cast<extent_t>(1 + g() % (i % 4 == 0 ? 20 : 4)), s.row = static_cast<extent_t>(1 + g() % 4), s.k = static_cast<extent_t>(1 + g() % 3);
    s.col = static_cast<extent_t>(i % 3 == 0 ? 1024 * (4 + g() % 3) : 4000 + g() % 3000);
    if (i % 5 == 0) s.loops.push_back(2);
    s.packed = g() % 2 == 0;
    INFO("case " << i);
    wrong += !right<TestType>(s, g);
  }
  CHECK(wrong == 0);
  if (!targets().empty()) CHECK(made > 10 * refused);
}

TEMPLATE_TEST_CASE("generated kernels: last columns in every way", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(11);
  int wrong = 0;
  made = refused = 0;
  for (const codegen::tail_kind tail : {codegen::tail_kind::sums, codegen::tail_kind::packed})
    for (extent_t n = complex_type<TestType> ? 5 : 9; n <= 31 && wrong < 5; ++n)
      for (const extent_t m : {1, 2, 3, 4, 5, 7, 26, 27, 55}) {
        shape s;
        s.along = lanes::n, s.row = m, s.lane = n, s.k = static_cast<extent_t>(4 + g() % 30);
        s.packed = g() % 2 == 0;
        if (g() % 2 == 0) s.loops = {3};
        s.conj_a = complex_type<TestType> && g() % 2 == 0, s.conj_b = complex_type<TestType> && g() % 2 == 0;
        last_columns = tail;
        wrong += !right<TestType>(s, g);
        last_columns = codegen::tail_kind::open;
      }
  CHECK(wrong == 0);
  const auto all = targets();
  if (std::find(all.begin(), all.end(), codegen::target::avx512) != all.end()) CHECK(made > 40);
}

TEMPLATE_TEST_CASE("generated kernels: few columns and long sums", "", float, double, std::complex<float>, std::complex<double>) {
  rng g(12);
  int wrong = 0;
  made = refused = 0;
  const int every = reduced_tests() ? 4 : 1;
  for (const extent_t k : {2, 3, 7, 8, 9, 31, 32, 33, 47, 64, 129, 260, 1031})
    for (extent_t n = 1; n <= 9 && wrong < 5; ++n)
      for (const extent_t m : {1, 2, 3, 5, 8, 13, 26, 27, 40, 210}) {
        if (static_cast<int>(g() % static_cast<unsigned>(every)) != 0 || m * n * k > 100000) continue;
        shape s;
        s.along = g() % 8 == 0 ? lanes::batch : lanes::n, s.row = m, s.lane = n, s.k = k;
        s.packed = g() % 4 != 0;
        if (g() % 4 == 0) s.loops = {3};
        if (g() % 6 == 0) s.k_outer = 2;
        s.conj_a = complex_type<TestType> && g() % 2 == 0, s.conj_b = complex_type<TestType> && g() % 2 == 0;
        last_columns = pick<codegen::tail_kind>({codegen::tail_kind::open, codegen::tail_kind::lanes, codegen::tail_kind::packed}, g);
        wrong += !right<TestType>(s, g);
        last_columns = codegen::tail_kind::open;
      }
  CHECK(wrong == 0);
  if (!targets().empty()) CHECK(made > 20 * refused);
}

TEMPLATE_TEST_CASE("generated kernels: tiles of two vectors", "", float, double) {
  rng g(13);
  int wrong = 0;
  const extent_t lanes_of_two = 128 / sizeof(TestType);
  for (extent_t n = lanes_of_two / 2 + 1; n <= lanes_of_two && wrong < 5; ++n)
    for (const extent_t m : {2, 3, 6, 13, 14, 29}) {
      shape s;
      s.along = lanes::n, s.row = m, s.lane = n, s.k = static_cast<extent_t>(1 + g() % 30);
      s.packed = g() % 2 == 0;
      wanted_tile = {64, static_cast<int>(std::min<extent_t>(m, 14)), 2, codegen::tail_kind::lanes};
      wrong += !right<TestType>(s, g);
      wanted_tile = {};
    }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("generated kernels: sums of one tensor", "", float, double) {
  rng g(2026);
  int wrong = 0;
  made = refused = 0;
  const auto extent = [&](int most) { return static_cast<extent_t>(1 + g() % static_cast<unsigned>(most)); };
  for (int i = 0; i < (reduced_tests() ? 100 : 800) && wrong < 5; ++i) {
    INFO("case " << i);
    shape s;
    s.along = lanes::n, s.ones = true;
    s.lane = extent(g() % 3 ? 20 : 150), s.k = extent(g() % 2 ? 8 : 90), s.k_outer = g() % 4 == 0 ? extent(3) : 1, s.col = g() % 4 == 0 ? extent(5) : 1;
    for (unsigned l = static_cast<unsigned>(g() % 3); l > 0; --l) s.loops.push_back(extent(4));
    s.packed = g() % 2 == 0;
    wrong += !right<TestType>(s, g);
  }
  CHECK(wrong == 0);
  if (codegen::best_target() != codegen::target::none) CHECK(made > 10 * refused);
}

TEST_CASE("rows of the next tile are asked for where they are some lines of neighbours") {
  const auto bytes_of = [](codegen::target t, std::int64_t sums, std::int64_t step, std::int64_t row, bool asks) {
    codegen::request r;
    r.alpha = codegen::factor::one, r.beta = codegen::factor::zero;
    r.args.lane_extent = 16, r.args.row = {12, row, 0, 16};
    r.args.k = sums, r.args.k_a = step, r.args.k_b = 16;
    r.ask_rows = asks;
    const auto k = codegen::make(r, t);
    REQUIRE(k);
    return k->bytes();
  };
  for (const codegen::target t : targets()) {
    const auto asks = [&](std::int64_t sums, std::int64_t step = 1, std::int64_t row = 400) { return bytes_of(t, sums, step, row, true) > bytes_of(t, sums, step, row, false); };
    CHECK((asks(64) && asks(200) && asks(384) && asks(64, 1, 1 << 17)));
    CHECK_FALSE((asks(31) || asks(385) || asks(64, 2) || asks(64, 1, 1 << 18)));
  }
}

TEST_CASE("a generator that cannot says so") {
  codegen::request r;
  r.lanes = lanes::k, r.args.row.extent = r.args.col.extent = 2;
  CHECK(codegen::make(r, codegen::best_target()) == nullptr);
  r.lanes = lanes::n;
  r.args.row = {2, std::int64_t{1} << 40, 0, 1};
  CHECK(codegen::make(r, codegen::best_target()) == nullptr);
  CHECK(codegen::make(codegen::request{}, codegen::target::none) == nullptr);
}
