// Fused programs with locals.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <sstream>

#include "helpers.hpp"

using ricci::labels::a;
using ricci::labels::b;
using ricci::labels::c;
using ricci::labels::e;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::labels::q;
using ricci::labels::r;
using ricci::labels::s;
using front::count_up;
using ricci::dynamic;
using ricci::tensor;

namespace {

struct mass_problem {
  tensor<double, 4, 3> B;
  tensor<double, dynamic, 4, 4, 4> D{5};
  tensor<double, dynamic, 3, 3, 3> U{5}, V{5}, expected{5};
  mass_problem() {
    count_up(B), count_up(D), count_up(U);
    expected(e, a, b, c) = B(q, a) * B(r, b) * B(s, c) * D(e, q, r, s) * B(q, i) * B(r, j) * B(s, k) * U(e, i, j, k);
  }
};

}  // namespace

TEST_CASE("the program that a fusion lowers to") {
  mass_problem p;
  ricci::local<double> g, h;
  const ricci::program made = front::program_of(
      g(e, q, r, s).assign(p.B(q, a) * p.B(r, b) * p.B(s, c) * p.U(e, a, b, c)),
      h(e, q, r, s).assign(p.D(e, q, r, s) * g(e, q, r, s)),
      p.V(e, a, b, c).assign(p.B(q, a) * p.B(r, b) * p.B(s, c) * h(e, q, r, s)));
  CHECK(made.local_count == 2);
  REQUIRE(made.statements.size() == 3);
  CHECK(made.statements[0].left.local == 0);
  CHECK(made.statements[1].left.local == 1);
  CHECK(made.statements[1].terms[0].factors[1].local == 0);
  CHECK(made.statements[2].terms[0].factors[3].local == 1);
  CHECK(made.statements[2].left.local == -1);
  CHECK(made.overlaps.empty());
  ricci::check(made);
}

TEST_CASE("a fused program computes what the one statement does") {
  mass_problem p;
  ricci::local<double> g, h;
  const auto mass = ricci::fuse(g(e, q, r, s).assign(p.B(q, a) * p.B(r, b) * p.B(s, c) * p.U(e, a, b, c)),
                                h(e, q, r, s).assign(p.D(e, q, r, s) * g(e, q, r, s)),
                                p.V(e, a, b, c).assign(p.B(q, a) * p.B(r, b) * p.B(s, c) * h(e, q, r, s)));
  mass.run();
  CHECK(p.V == p.expected);
  p.U(2, 1, 1, 1) += 1;
  p.V.fill(0);
  mass.run();
  CHECK(!(p.V == p.expected));
  std::ostringstream text;
  text << mass;
  CHECK(!text.str().empty());
}

TEST_CASE("a local takes its extents from its assignment, under whatever labels it is read") {
  tensor<double, 3, dynamic> A(7);
  tensor<double, 3, 7> C;
  ricci::local<double> g;
  count_up(A);
  const ricci::program made = front::program_of(g(i, j).assign(2 * A(i, j)), C(r, s).assign(g(r, s)));
  REQUIRE(made.labels.size() == 4);
  CHECK(made.labels[2].extent == 3);
  CHECK(made.labels[3].extent == 7);
}

TEST_CASE("wrong locals") {
  tensor<double, dynamic, dynamic> A(3, 4), C(3, 4);
  ricci::local<double> g;
  CHECK_THROWS_WITH(ricci::fuse(C(i, j).assign(g(i, j)), g(i, j).assign(A(i, j))), Catch::Contains("read before"));
  CHECK_THROWS_WITH(ricci::fuse(g(i, j).assign(A(i, j)), g(i, j).assign(A(i, j)), C(i, j).assign(g(i, j))),
                    Catch::Contains("assigned twice"));
  CHECK_THROWS_WITH(ricci::fuse(g(i, j).assign(A(i, j)), C(r, s).assign(g(s, r))), Catch::Contains("R003"));
  CHECK_THROWS_WITH(ricci::fuse(g(i, j).assign(A(i, j)), C(i, r).assign(sum(s, A(i, r) * g(s, i)))),
                    Catch::Contains("R003"));
}

TEST_CASE("a local under a range is no slice of it") {
  tensor<double, dynamic> x(8), y(8);
  count_up(x);
  ricci::local<double> g("g");
  const auto square = g(e).assign(x(e) * x(e));
  CHECK_THROWS_WITH(ricci::fuse(square, y(a.in(2, 5)).assign(g(a))), Catch::Contains("R015") && Catch::Contains("label a has the range [2, 5) of extent 8: g(a) in statement 2"));
  CHECK_THROWS_WITH(ricci::fuse(square, y(a).assign(g(a.in(0, 5)) + x(a))), Catch::Contains("R015"));
  CHECK_THROWS_WITH(ricci::fuse(square, y(a.in(0, 9)).assign(g(a))), Catch::Contains("R005"));
  // Assigned under a range, a local has the extent of the range; read under all of it, it is whole.
  ricci::fuse(g(e).assign(x(e.in(2, 5)) * x(e)), y(a.in(0, 3)).assign(g(a))).run();
  for (int n = 0; n < 3; ++n) CHECK(y(n) == x(n + 2) * x(n + 2));
}

TEST_CASE("statements over common tensors know of each other") {
  tensor<double, 10, 10> A, B, C;
  const ricci::program made = front::program_of(B(i, j).assign(A(j, i)), C(i, j).assign(B(j, i)));
  REQUIRE(made.overlaps.size() == 1);
  CHECK(made.overlaps[0].left_slot == 0);
  CHECK(made.overlaps[0].other_slot == 3);
}

TEST_CASE("a local without labels stands in functions and products") {
  tensor<double, 4> x, y;
  x.fill(2);
  ricci::local<double> n, m;
  ricci::fuse(n().assign(x(i) * x(i)), m().assign(sqrt(n()) * n() - 2 * n()), y(i).assign(m() * x(i) / n())).run();
  CHECK(y(3) == (4. * 16 - 2 * 16) * 2 / 16);
}

TEST_CASE("signs before functions") {
  tensor<double, dynamic> x(5), y(5), w(5);
  for (int n = 0; n < 5; ++n) x(n) = n + 1, y(n) = 3 - n;
  w(i) = -reciprocal(-x(i)) - exp(-(-y(i))) + y(i) / -x(i) - max(x(i), y(i)) - -min(x(i), y(i));
  for (int n = 0; n < 5; ++n) {
    const double terms[] = {1 / x(n), -std::exp(y(n)), -y(n) / x(n), -std::max(x(n), y(n)), std::min(x(n), y(n))};
    double sum = 0, magnitude = 0;
    for (const double t : terms) sum += t, magnitude += std::abs(t);
    CHECK(std::abs(w(n) - sum) <= 8 * 0x1p-52 * magnitude);
  }
}

TEMPLATE_TEST_CASE("minima and maxima of what is no number", "", float, double, ricci::half, ricci::bfloat16) {
  const auto text = [](float v) { return std::isnan(v) ? std::string("nan") : std::to_string(v + 0); };  // zeros have no sign here
  const float values[] = {std::nanf(""), 1, -1, 0, -0.0f, INFINITY, -INFINITY};
  for (const int count : {1, 5, 16, 37}) {
    tensor<TestType, dynamic> x(count), y(count), z(count);
    tensor<TestType, dynamic, 2> far(count);
    for (int n = 0; n < count; ++n) {
      const float one = values[n * 3 % 7], other = values[n % 3];
      x(n) = one, y(n) = other, far(n, 0) = other;
    }
    const auto check = [&](const char* what, auto f) {
      for (int n = 0; n < count; ++n) {
        INFO(what << ", element " << n << " of " << count);
        CHECK(text(float(z(n))) == text(f(float(x(n)), float(y(n)))));
      }
    };
    const auto least = [](float one, float other) { return std::min(one, other); };
    const auto most = [](float one, float other) { return std::max(one, other); };
    z(i) = min(x(i), y(i));
    check("min", least);
    z(i) = max(x(i), y(i));
    check("max", most);
    z(i) = max(x(i), far(i, 0));
    check("max with strides", most);
    z(i) = min(y(i), x(i));
    check("min the other way", [&](float one, float other) { return least(other, one); });
    z(i) = max(abs(y(i)), x(i));
    check("max of a function", [&](float one, float other) { return most(std::abs(other), one); });
  }
}

TEST_CASE("a matrix with numbers that are none is neither even nor odd") {
  tensor<double, 4, 4> M, X, Y;
  M.fill(1);
  const auto even = ricci::even_odd(M);
  Y(i, j) = even(i, k) * X(k, j);
  M(1, 1) = std::nan("");
  CHECK_THROWS_WITH((Y(i, j) = even(i, k) * X(k, j)), Catch::Contains("neither: element (1,1)"));
}

TEST_CASE("a range of a matrix that is even or odd") {
  constexpr int points = 8, nodes = 6;
  for (const int sign : {1, -1}) {
    tensor<double, points, nodes> B;
    for (int x = 0; x < points; ++x)
      for (int y = 0; y < nodes; ++y) B(x, y) = x < points / 2 ? (x * 5 + y * 3) % 7 : sign * B(points - 1 - x, nodes - 1 - y);
    const auto E = ricci::even_odd(B);
    tensor<double, dynamic, nodes> u(33);
    tensor<double, dynamic, points> w(33), expected(33);
    count_up(u);
    for (const auto& [first, last] : {std::pair{0, nodes}, {0, nodes - 1}, {1, nodes - 1}, {2, nodes}, {3, 3}}) {
      INFO("sign " << sign << ", range " << first << ":" << last);
      expected(e, q) = B(q, a.in(first, last)) * u(e, a);
      w(e, q) = E(q, a.in(first, last)) * u(e, a);
      CHECK(w == expected);
    }
    expected(e, q) = B(q.in(0, 5), a) * u(e, a);
    w(e, q) = E(q.in(0, 5), a) * u(e, a);
    CHECK(w == expected);
    // The promise is about the whole matrix, whatever part is used.
    B(0, 0) += 1;
    CHECK_THROWS_WITH((w(e, q) = E(q, a.in(1, nodes - 1)) * u(e, a)), Catch::Contains("neither: element (0,0)"));
  }
}

TEMPLATE_TEST_CASE("products that read the same tensor, and its conjugate", "", float, double, std::complex<float>, std::complex<double>, ricci::half,
                   ricci::bfloat16) {
  using T = TestType;
  tensor<T, dynamic, 3, 2> x(21), y(21), expected(21);
  tensor<T, 3, 3> A, B, C;
  count_up(x), count_up(A, 2), count_up(B, 3), count_up(C, 5);
  if constexpr (ricci::is_complex(ricci::dtype_of<T>))
    for (T* t = x.data(); t < x.data() + x.size(); ++t) *t += T(0, static_cast<typename T::value_type>((t - x.data()) % 3 - 1));
  ricci::local<T> u("u"), v("v"), w("w");
  ricci::fuse(u(e, i, k).assign(A(i, j) * x(e, j, k)), v(e, i, k).assign(B(i, j) * conj(x(e, j, k))), w(e, i, k).assign(C(i, j) * x(e, j, k)),
              y(e, i, k).assign(u(e, i, k) + v(e, i, k) + w(e, i, k)))
      .run();
  expected(e, i, k) = A(i, j) * x(e, j, k);
  expected(e, i, k) += B(i, j) * conj(x(e, j, k));
  expected(e, i, k) += C(i, j) * x(e, j, k);
  CHECK(std::equal(y.begin(), y.end(), expected.begin(), [](T left, T right) { return left == right; }));
}
