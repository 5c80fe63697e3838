// Operators some of whose tensors have their elements side by side in memory while the others' lie one after the other:
// against the same operators on plain tensors, and how they are planned.
#include <catch2/catch.hpp>

#include <array>
#include <complex>
#include <sstream>
#include <string>
#include <vector>

#include "../../examples/fem/operators.hpp"
#include "codegen/codegen.hpp"
#include "operator_data.hpp"
#include "reduced.hpp"

using namespace front;
using namespace hex;

namespace {

template <class T, int W> struct storage {
  using scalar = T;
  using geometry = side_by_side<T, W>;
  static constexpr int width = W;
};

constexpr ricci::options two_threads{.threads = 2};

struct on_two_threads {
  template <class... S> auto operator()(const S&... statements) const { return ricci::fuse(two_threads, statements...); }
};

template <class Plan> std::string text_of(const Plan& plan) {
  std::ostringstream text;
  text << plan;
  return text.str();
}

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

bool writes_kernels() { return ricci::codegen::best_target() == ricci::codegen::target::avx512; }

/// to = mass of u, in T.
template <class T, class To, class U, class Weights> auto mass_of(To& to, const square<T>& M, const Weights& W, const U& u) {
  const auto B = ricci::even_odd(M);
  ricci::local<T> p("p"), q("q");
  return ricci::fuse(p(e, t, s, r).assign(B(t, k) * B(s, j) * B(r, i) * u(e, k, j, i)), q(e, t, s, r).assign(W(e, t, s, r) * p(e, t, s, r)),
                     to(e, n, m, l).assign(B(t, n) * B(s, m) * B(r, l) * q(e, t, s, r)));
}

/// Elements in a row that share their sides: dof(e, k, j, i).
indices row_of(std::int64_t elements, int P) {
  indices dof(elements, P, P, P);
  for (int at = 0; at < elements; ++at)
    for (int z = 0; z < P; ++z)
      for (int y = 0; y < P; ++y)
        for (int x = 0; x < P; ++x) dof(at, z, y, x) = static_cast<std::int32_t>(((at * (P - 1) + z) * P + y) * P + x);
  return dof;
}

}  // namespace

#ifdef RICCI_FEW_TYPES
TEMPLATE_TEST_CASE("mass operators with mixed storage", "", (storage<double, 2>), (storage<double, 16>), (storage<float, 8>)) {
#else
TEMPLATE_TEST_CASE("mass operators with mixed storage", "", (storage<double, 2>), (storage<double, 4>), (storage<double, 8>), (storage<double, 16>),
                   (storage<float, 8>), (storage<float, 16>)) {
#endif
  using T = typename TestType::scalar;
  using lanes = typename TestType::geometry;
  for (const int P : {2, 5, 8})
    for (const int elements : reduced_tests() ? std::vector{5, 21} : std::vector{5, 21, 64}) {
      if (reduced_tests() && P == 8 && elements > 5) continue;
      const square<T> B = symmetric<T>(P + 1, P, 1);
      const auto u = field_of<in_order<T>>(elements, P, -1, 3), W = field_of<in_order<T>>(elements, P + 1, 0, 3);
      const auto u_lanes = field_of<lanes>(elements, P, -1, 3), W_lanes = field_of<lanes>(elements, P + 1, 0, 3);
      in_order<T> v(u), expected(u);
      lanes v_lanes(u_lanes);
      mass_of(expected, B, W, u).run();
      CAPTURE(P, elements, TestType::width);
      mass_of(v, B, W_lanes, u).run();
      CHECK(v == expected);
      mass_of(v_lanes, B, W, u).run();
      CHECK(v_lanes == expected);
      mass_of(v, B, W, u_lanes).run();
      CHECK(v == expected);
      mass_of(v_lanes, B, W_lanes, u).run();
      CHECK(v_lanes == expected);
    }
}

#ifdef RICCI_FEW_TYPES
TEMPLATE_TEST_CASE("diffusion with mixed storage", "", (storage<double, 4>), (storage<double, 8>)) {
#else
TEMPLATE_TEST_CASE("diffusion with mixed storage", "", (storage<double, 4>), (storage<double, 8>), (storage<double, 16>)) {
#endif
  using lanes = typename TestType::geometry;
  using plain = in_order<double>;
  for (const int P : {2, 4, 7})
    for (const int elements : reduced_tests() ? std::vector{3, 29} : std::vector{3, 29, 64})
      for (const bool collocated : {false, true}) {
        if (reduced_tests() && P == 7 && elements > 3) continue;
        const int Q = collocated ? P : P + 1;
        const square<double> M = symmetric<double>(Q, P, 1), N = symmetric<double>(Q, Q, -1);
        const auto B = ricci::even_odd(M), D = ricci::even_odd(N);
        const auto u = field_of<plain>(elements, P, -1, 3);
        std::array<plain, 6> G{u, u, u, u, u, u};
        std::array<lanes, 6> beside{lanes(elements, Q, Q, Q), lanes(elements, Q, Q, Q), lanes(elements, Q, Q, Q),
                                    lanes(elements, Q, Q, Q), lanes(elements, Q, Q, Q), lanes(elements, Q, Q, Q)};
        for (int x = 0; x < 6; ++x) G[x] = field_of<plain>(elements, Q, x % 3 - 1, 3), beside[x](e, t, s, r) = G[x](e, t, s, r);
        plain v(u), expected(u);
        lanes v_lanes(elements, P, P, P);
        const auto run = [&](auto& to, const auto& six) {
          if (collocated) collocated_diffusion(D, six, u(e, t, s, r), [&](const auto& right) { return to(e, t, s, r).assign(right); }).run();
          else diffusion(B, D, six, u(e, k, j, i), [&](const auto& right) { return to(e, n, m, l).assign(right); }).run();
        };
        CAPTURE(P, elements, collocated, TestType::width);
        run(expected, G);
        run(v, beside);
        CHECK(v == expected);
        run(v_lanes, beside);
        CHECK(v_lanes == expected);
        beside[4](e, t, s, r) = 0 * G[4](e, t, s, r);  // one of them is read where it lies
        G[4](e, t, s, r) = 0 * G[4](e, t, s, r);
        run(expected, G);
        run(v, beside);
        CHECK(v == expected);
      }
}

TEST_CASE("operators on global vectors whose geometry lies side by side") {
  for (const int P : {2, 3, 5})
    for (const int elements : {5, 8, 40, 203}) {
      const square<double> M = symmetric<double>(P + 1, P, 1);
      const auto B = ricci::even_odd(M);
      const auto W = field_of<in_order<double>>(elements, P + 1, 0, 3);
      const auto lanes = ricci::interleave<8>(W);
      const indices dof = row_of(elements, P);
      vector x((elements * (P - 1) + 1) * P * P), y(x), expected(x);
      fill(x, -1, 3), fill(y, 0, 3), expected = y;
      const auto put_to = [&](vector& to) { return [&](const auto& right) { return to(dof(e, n, m, l)).add(right); }; };
      mass(B, W, x(dof(e, k, j, i)), put_to(expected)).run();
      const auto plan = mass(B, lanes, x(dof(e, k, j, i)), put_to(y), on_two_threads{});
      plan.run();
      const std::string text = text_of(plan);
      CAPTURE(P, elements, text);
      CHECK(equal(y, expected));
      CHECK_FALSE(says(text, "copied to plain memory"));
      CHECK((elements < 8 || !writes_kernels() || says(text, "lanes along e%8")));
      plan.run();
      mass(B, W, x(dof(e, k, j, i)), put_to(expected)).run();
      CHECK(equal(y, expected));
    }
}

TEST_CASE("parts of tables, and copies where a vector is read and added to") {
  const int elements = 43, P = 3;
  const indices dof = row_of(elements, P);
  const auto W = field_of<in_order<double>>(elements, P, -1, 3);
  const auto lanes = ricci::interleave<8>(W);
  vector x((elements * (P - 1) + 1) * P * P), y(x), expected(x);
  fill(x, -1, 3), fill(y, 0, 3), expected = y;
  // A range that begins and ends inside of blocks.
  expected(dof(e.in(3, 38), k, j, i)) += W(e, k, j, i) * x(dof(e, k, j, i));
  y(dof(e.in(3, 38), k, j, i)) += lanes(e, k, j, i) * x(dof(e, k, j, i));
  CHECK(equal(y, expected));
  // Gathered into what lies side by side, and added from there.
  auto made = lanes;
  in_order<double> plain(W);
  made(e, k, j, i) = lanes(e, k, j, i) * x(dof(e, k, j, i));
  plain(e, k, j, i) = W(e, k, j, i) * x(dof(e, k, j, i));
  CHECK(made == plain);
  expected(dof(e, k, j, i)) -= plain(e, k, j, i);
  y(dof(e, k, j, i)) -= made(e, k, j, i);
  CHECK(equal(y, expected));
  CHECK_NOTHROW(ricci::fuse(ricci::options{.strict = true}, y(dof(e, k, j, i)).add(made(e, k, j, i))).run());
  expected(dof(e, k, j, i)) += plain(e, k, j, i);
  CHECK(equal(y, expected));
  // The same vector on both sides: what is read is what was there before.
  auto old = expected;
  expected(dof(e, k, j, i)) += W(e, k, j, i) * old(dof(e, k, j, i));
  y(dof(e, k, j, i)) += lanes(e, k, j, i) * y(dof(e, k, j, i));
  CHECK(equal(y, expected));
  // A table that names problems side by side in no order.
  ricci::tensor<std::int64_t, dynamic> back(elements);
  for (int at = 0; at < elements; ++at) back(at) = (at * 17 + 5) % elements;
  ricci::tensor<double, dynamic, 3, 3> sums(elements), sums_expected(elements);
  sums.fill(0), sums_expected.fill(0);
  sums_expected(back(e), j, i) += W(e, 1, j, i);
  sums(back(e), j, i) += lanes(e, 1, j, i);
  CHECK(sums == sums_expected);
}

TEST_CASE("lanes are the elements that lie side by side, whichever tensors do") {
  if (!writes_kernels()) return;
  for (const int P : {2, 3, 5, 8}) {
    const int elements = 64;
    const square<double> B = symmetric<double>(P + 1, P, 1);
    const auto u = field_of<in_order<double>>(elements, P, -1, 3), W = field_of<in_order<double>>(elements, P + 1, 0, 3);
    const auto u_lanes = ricci::interleave<8>(u), W_lanes = ricci::interleave<8>(W);
    in_order<double> v(u);
    for (const std::string& text : {text_of(mass_of(v, B, W_lanes, u)), text_of(mass_of(v, B, W, u_lanes))}) {
      CAPTURE(P, text);
      CHECK(says(text, "lanes along e%8"));
      CHECK_FALSE(says(text, "lanes along e/8"));
    }
  }
}

TEMPLATE_TEST_CASE("single products with mixed storage", "", float, double, std::complex<double>) {
  using T = TestType;
  using plain = tensor<T, dynamic, dynamic, dynamic>;
  using lanes = tensor<T, dynamic, dynamic, dynamic, ricci::interleaved<8>>;
  for (const int n : {1, 3, 4, 9})
    for (const int count : {8, 24, 37}) {
      plain a(count, n, n + 1), b(count, n + 1, n), c(count, n, n), expected(count, n, n);
      fill(a, -1, 3), fill(b, -2, 5), fill(c, 0, 4), expected = c;
      const lanes A = ricci::interleave<8>(a), B = ricci::interleave<8>(b);
      lanes C = ricci::interleave<8>(c);
      const auto run = [&](auto& to, const auto& x, const auto& y) { to(e, i, j) -= T(2) * x(e, i, k) * y(e, k, j); };
      CAPTURE(n, count);
      run(expected, a, b), run(c, A, b), run(C, a, b);
      CHECK(c == expected);
      CHECK(C == expected);
      run(expected, a, b), run(c, a, B), run(C, A, b);
      CHECK(c == expected);
      CHECK(C == expected);
      run(expected, a, b), run(c, A, B), run(C, a, B);
      CHECK(c == expected);
      CHECK(C == expected);
      // A matrix that all problems share, even or not.
      const square<double> M = symmetric<double>(n + 2, n, 1);
      const auto even = ricci::even_odd(M);
      tensor<double, dynamic, dynamic, dynamic> u(count, n, n), v(count, n + 2, n), w(v);
      fill(u, -1, 3), fill(v, 0, 3);
      auto V = ricci::interleave<8>(v);
      w(e, l, j) = M(l, i) * u(e, i, j);
      V(e, l, j) = M(l, i) * u(e, i, j);
      CHECK(V == w);
      V(e, l, j) = even(l, i) * u(e, i, j);
      CHECK(V == w);
      const auto U = ricci::interleave<8>(u);
      v(e, l, j) = even(l, i) * U(e, i, j);
      CHECK(v == w);
    }
}
