// Pointwise functions, index tensors, common subexpressions and symmetric matrices in statements and fused programs,
// against the long double reference.
#include <catch2/catch.hpp>

#include <omp.h>

#include <cmath>
#include <cstring>
#include <random>
#include <sstream>

#include "helpers.hpp"
#include "program/reference.hpp"
#include "uniform.hpp"

using ricci::dynamic;
using ricci::tensor;
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

namespace {

template <class T>
void randomise(T& x, unsigned seed, double low = -1, double high = 1) {
  std::mt19937 rng(seed);
  const ricci::test::uniform<double> value{low, high};
  for (auto& y : x) y = static_cast<typename T::value_type>(value(rng));
}

/// Runs statements as a fused program and by the reference on a copy of the left side's memory: the worst error in
/// units of its bound.
template <class Tensor, class... S>
double error_of(Tensor& left, const S&... statements) {
  using T = typename Tensor::value_type;
  const Tensor before = left;
  ricci::fuse(statements...).run();
  const Tensor got = left;
  left = before;
  front::lowered_call<S...> call(statements...);
  const auto results = ricci::evaluate_all(call.program, call.bindings());
  // The bound of an element of the left side: the largest of the statement's, element by element where it is not looked up.
  double worst = 0;
  const auto& last = results.back();
  const auto& st = call.program.statements.back();
  if (st.left.lookups.empty() && last.magnitude.size() == static_cast<std::size_t>(left.size())) {
    for (std::int64_t n = 0; n < left.size(); ++n) {
      const double bound = 1.5 * double(std::numeric_limits<T>::epsilon()) * double(last.magnitude[std::size_t(n)]) + 1e-300;
      worst = std::max(worst, std::abs(double(got.data()[n]) - double(left.data()[n])) / bound);
    }
  } else {
    double bound = 0;
    for (long double m : last.magnitude) bound = std::max(bound, 4 * double(std::numeric_limits<T>::epsilon()) * double(m));
    for (std::int64_t n = 0; n < left.size(); ++n)
      worst = std::max(worst, std::abs(double(got.data()[n]) - double(left.data()[n])) / bound);
  }
  left = got;
  return worst;
}

template <class Tensor>
Tensor& abs_of(Tensor& x) {
  for (auto& y : x) y = std::abs(y);
  return x;
}

/// A line or square of elements that share their ends: dof(e, a) = e (P - 1) + a.
tensor<std::int32_t, dynamic, dynamic> line_of(int elements, int P) {
  tensor<std::int32_t, dynamic, dynamic> dof(elements, P);
  for (int n = 0; n < elements; ++n)
    for (int m = 0; m < P; ++m) dof(n, m) = n * (P - 1) + m;
  return dof;
}

}  // namespace

TEMPLATE_TEST_CASE("quotients, roots and the like", "", float, double) {
  for (int elements : {1, 5, 16, 67, 3000}) {
    tensor<TestType, dynamic, 5> x(elements), y(elements), w(elements);
    tensor<TestType, 5> z;
    randomise(x, 1, 0.5, 2), randomise(y, 2, 0.5, 2), randomise(z, 3, 0.5, 2), randomise(w, 4);
    CHECK(error_of(w, w(e, q).assign(x(e, q) / y(e, q))) <= 1);
    CHECK(error_of(w, w(e, q).assign(sqrt(x(e, q)) * z(q))) <= 1);
    CHECK(error_of(w, w(e, q).add(3.0 / (2 * z(q) * sqrt(y(e, q))))) <= 1);
    CHECK(error_of(w, w(e, q).subtract(abs(w(e, q)) - 2 * x(e, q) * y(e, q) + exp(z(q)) * x(e, q))) <= 1);
    CHECK(error_of(w, w(e, q).assign(min(x(e, q), y(e, q)) - max(x(e, q), z(q)) + reciprocal(x(e, q)))) <= 1);
  }
}

TEMPLATE_TEST_CASE("pointwise factors that lack labels between others", "", float, double) {
  for (int elements : {1, 3})
    for (int points : {3, 5, 8, 15, 16, 17, 27, 32, 40, 64, 65, 125}) {
      tensor<TestType, dynamic, 3, dynamic, 2> x(elements, points), y(elements, points), w(elements, points);
      tensor<TestType, dynamic, dynamic, 2> g(elements, points);
      tensor<TestType, 3, dynamic, 2> z(points);
      randomise(x, 1, 0.5, 2), randomise(y, 2, 0.5, 2), randomise(z, 3, 0.5, 2), randomise(g, 4, 0.5, 2), randomise(w, 5);
      CAPTURE(elements, points);
      CHECK(error_of(w, w(e, c, q, r).assign(g(e, q, r) * x(e, c, q, r) - z(c, q, r) / y(e, c, q, r))) <= 1);
      CHECK(error_of(w, w(e, c, q, r).add(sqrt(g(e, q, r)) * x(e, c, q, r) + z(c, q, r) * y(e, c, q, r))) <= 1);
      tensor<TestType, 3, dynamic, dynamic, 2> turned(elements, points);
      randomise(turned, 6);
      CHECK(error_of(turned, turned(c, e, q, r).assign(g(e, q, r) / x(e, c, q, r) + z(c, q, r) * g(e, q, r))) <= 1);
      ricci::local<TestType> first("first");
      CHECK(error_of(w, first(e, c, q, r).assign(g(e, q, r) * x(e, c, q, r) + z(c, q, r) * g(e, q, r)),
                     w(e, c, q, r).subtract(first(e, c, q, r) * g(e, q, r) + first(e, c, q, r) / y(e, c, q, r))) <= 1);
    }
}

TEST_CASE("functions of transposed and 16-bit tensors, and in sums") {
  tensor<double, 7, 9> x, w;
  tensor<double, 9, 7> t;
  tensor<double, 7> v;
  randomise(x, 1, 0.5, 2), randomise(t, 2, 0.5, 2), randomise(w, 3), randomise(v, 4);
  CHECK(error_of(w, w(i, j).assign(sqrt(t(j, i)) / x(i, j))) <= 1);
  CHECK(error_of(v, v(i).assign(sqrt(t(j, i)) * x(i, j))) <= 1);  // a function, then a sum
  CHECK(error_of(w, w(i, j).assign(sqrt(abs_of(w)(i, j)) + w(i, j) / x(i, j))) <= 1);
  tensor<ricci::half, 40> h, g;
  for (int n = 0; n < 40; ++n) h(n) = 0.25f * float(n + 1);
  g(i) = sqrt(h(i));
  for (int n = 0; n < 40; ++n) CHECK(float(g(n)) == float(ricci::half(std::sqrt(float(h(n))))));
}

TEST_CASE("pointwise statements inside a fused chain") {
  for (int elements : {3, 8, 37, 500}) {
    tensor<double, 4, 3> B;
    tensor<double, dynamic, 3, 3> u(elements), v(elements);
    tensor<double, dynamic, 4, 4> D(elements), G(elements);
    randomise(B, 1), randomise(u, 2), randomise(v, 3), randomise(D, 4, 0.5, 1), randomise(G, 5, 0.5, 1);
    ricci::local<double> g("g"), h("h"), n("n");
    CHECK(error_of(v, g(e, q, r).assign(B(q, i) * B(r, j) * u(e, i, j)),
                   n(e, q, r).assign(D(e, q, r) * D(e, q, r) + G(e, q, r) * G(e, q, r)),
                   h(e, q, r).assign(g(e, q, r) * D(e, q, r) / sqrt(n(e, q, r)) + G(e, q, r) * g(e, q, r)),
                   v(e, a, b).assign(B(q, a) * B(r, b) * h(e, q, r))) <= 1);
  }
}

TEST_CASE("gather and scatter-add") {
  for (int elements : {1, 7, 64, 2000}) {
    const int P = 4;
    auto dof = line_of(elements, P);
    const std::int64_t size = elements * (P - 1) + 1;
    tensor<std::int64_t, dynamic, dynamic> wide(elements, P);
    for (int n = 0; n < elements; ++n)
      for (int m = 0; m < P; ++m) wide(n, m) = dof(n, m);
    tensor<double, dynamic> u(size), v(size);
    tensor<double, dynamic, 4> w(elements);
    tensor<double, 5, 4> B;
    tensor<double, dynamic, 5> D(elements);
    randomise(u, 1), randomise(v, 2), randomise(w, 3), randomise(B, 4), randomise(D, 5);
    CHECK(error_of(w, w(e, a).assign(u(dof(e, a)))) == 0);
    CHECK(error_of(w, w(e, a).subtract(2 * u(wide(e, a)) * w(e, a))) <= 1);
    CHECK(error_of(v, v(dof(e, a)).add(w(e, a))) <= 1);
    CHECK(error_of(v, v(wide(e, a)).subtract(0.5 * w(e, a) * u(dof(e, a)))) <= 1);
    ricci::local<double> g("g"), h("h");
    CHECK(error_of(v, g(e, q).assign(B(q, a) * u(dof(e, a))), h(e, q).assign(D(e, q) * g(e, q)),
                   v(dof(e, b)).add(B(q, b) * h(e, q))) <= 1);
    CHECK(error_of(v, v(dof(e, b)).add(B(q, b) * D(e, q) * B(q, a) * u(dof(e, a)))) <= 1);
    v(dof(e, a)) += w(e, a);
  }
}

TEST_CASE("an operator with stored coefficients on a global vector") {
  for (const int elements : {5, 8, 37, 64, 1500})
    for (const int P : {2, 3, 4}) {
      const int Q = P + 1;
      tensor<std::int32_t, dynamic, dynamic, dynamic> dof(elements, P, P);  // a strip of squares, row after row
      const int width = elements * (P - 1) + 1;
      for (int n = 0; n < elements; ++n)
        for (int y = 0; y < P; ++y)
          for (int x = 0; x < P; ++x) dof(n, y, x) = y * width + n * (P - 1) + x;
      tensor<double, dynamic, dynamic> even(Q, P), odd(Q, Q);
      for (int y = 0; y < Q; ++y) {
        for (int x = 0; x < P; ++x) even(y, x) = std::cos(y * P + x + 1.0) + std::cos((Q - 1 - y) * P + P - x);
        for (int x = 0; x < Q; ++x) odd(y, x) = std::cos(y * Q + x + 1.0) - std::cos((Q - 1 - y) * Q + Q - x);
      }
      tensor<double, dynamic> u(P * width), v(P * width);
      tensor<double, dynamic, dynamic, dynamic> F(elements, Q, Q), G(elements, Q, Q), H(elements, Q, Q);
      randomise(u, 1), randomise(v, 2), randomise(F, 3), randomise(G, 4), randomise(H, 5);
      const auto B = ricci::even_odd(even);
      const auto D = ricci::even_odd(odd);
      ricci::local<double> p("p"), x("x"), y("y"), f("f"), g("g"), h("h");
      CHECK(error_of(v, p(e, q, r).assign(B(q, i) * B(r, j) * u(dof(e, i, j))), x(e, q, r).assign(D(q, k) * p(e, k, r)),
                     y(e, q, r).assign(D(r, k) * p(e, q, k)), f(e, q, r).assign(F(e, q, r) * x(e, q, r) + G(e, q, r) * y(e, q, r)),
                     g(e, q, r).assign(G(e, q, r) * x(e, q, r) + H(e, q, r) * y(e, q, r)),
                     h(e, q, r).assign(D(k, q) * f(e, k, r) + D(k, r) * g(e, q, k)),
                     v(dof(e, a, b)).add(B(q, a) * B(r, b) * h(e, q, r))) <= 2);
    }
}

TEST_CASE("a local that is gathered, read again and added to") {
  for (const int elements : {3, 8, 300}) {
    auto dof = line_of(elements, 4);
    tensor<double, dynamic> u(elements * 3 + 1);
    tensor<double, dynamic, 4> w(elements);
    randomise(u, 1), randomise(w, 2);
    ricci::local<double> g("g"), h("h");
    CHECK(error_of(w, g(e, a).assign(u(dof(e, a))), w(e, a).assign(g(e, a) * u(dof(e, a)))) <= 1);
    CHECK(error_of(w, g(e, a).assign(u(dof(e, a))), h(e, a).assign(-u(dof(e, a))), w(e, a).add(g(e, a) * h(e, a))) <= 1);
    CHECK(error_of(w, g(e, a).assign(2 * u(dof(e, a))), w(e, a).assign(g(e, a) - u(dof(e, a)))) <= 1);
    // More than one, where the local lies in another order than the table.
    CHECK(error_of(w, g(a, e).assign(u(dof(e, a))), w(e, b).assign(g(b, e) * w(e, b))) <= 1);
  }
}

TEST_CASE("components beside a looked-up axis, and integers in the table's subscripts") {
  const int elements = 30;
  auto dof = line_of(elements, 4);
  tensor<double, dynamic, 3> u(elements * 3 + 1), v(elements * 3 + 1);
  tensor<double, dynamic, 4, 3> w(elements);
  tensor<double, dynamic> first(elements);
  randomise(u, 1), randomise(v, 2), randomise(w, 3);
  CHECK(error_of(w, w(e, a, c).assign(u(dof(e, a), c))) == 0);
  CHECK(error_of(v, v(dof(e, a), c).add(w(e, a, c))) <= 1);
  first(e) = u(dof(e, 2), 1);
  CHECK(first(7) == u(7 * 3 + 2, 1));
}

TEST_CASE("a scatter-add gives the same bits with any number of threads") {
  const int elements = 20000;
  auto dof = line_of(elements, 4);
  tensor<double, dynamic> u(elements * 3 + 1), v(elements * 3 + 1);
  tensor<double, 5, 4> B;
  randomise(u, 1), randomise(B, 2);
  const auto apply = ricci::fuse(v(dof(e, b)).add(B(q, b) * B(q, a) * u(dof(e, a))));
  std::vector<double> first;
  for (int threads : {1, 2, 3, 5}) {
    omp_set_num_threads(threads);
    v.fill(0);
    apply.run();
    if (first.empty()) first.assign(v.begin(), v.end());
    CHECK(std::memcmp(first.data(), v.data(), first.size() * sizeof(double)) == 0);
  }
  omp_set_num_threads(omp_get_num_procs());
}

TEST_CASE("runs of one colour share nothing, in tensors of many groups") {
  // Elements far from each other meet in every element of a line; the same bits, and the reference's sums.
  const int elements = 30000, half = elements / 2;
  tensor<std::int32_t, dynamic, dynamic> dof(elements, 3);
  for (int n = 0; n < elements; ++n)
    for (int m = 0; m < 3; ++m) dof(n, m) = (n % half) * 2 + m;
  tensor<double, dynamic> v(2 * half + 1);
  tensor<double, dynamic, 3> w(elements);
  randomise(w, 1);
  CHECK(error_of(v, v(dof(e, a)).add(w(e, a))) <= 1);
  const auto apply = ricci::fuse(v(dof(e, a)).add(w(e, a)));
  std::vector<double> first;
  for (int round = 0; round < 20; ++round) {
    omp_set_num_threads(1 + round % 4);
    v.fill(0);
    apply.run();
    if (first.empty()) first.assign(v.begin(), v.end());
    CHECK(std::memcmp(first.data(), v.data(), first.size() * sizeof(double)) == 0);
  }
  omp_set_num_threads(omp_get_num_procs());
}

TEMPLATE_TEST_CASE("every index is looked at", "", std::int32_t, std::int64_t) {
  const int elements = 21;
  tensor<TestType, dynamic, dynamic> dof(elements, 3);
  tensor<double, dynamic> u(40);
  tensor<double, dynamic, 3> w(elements);
  tensor<double, dynamic> part(elements);
  dof.fill(39);
  for (int n = 0; n < elements; ++n)
    for (int m = 0; m < 3; ++m)
      for (const TestType wrong : {TestType(40), TestType(-1), std::numeric_limits<TestType>::max(), std::numeric_limits<TestType>::min()}) {
        dof(n, m) = wrong;
        const std::string where = "index " + std::to_string(wrong) + " at e = " + std::to_string(n) + ", a = " + std::to_string(m);
        CHECK_THROWS_WITH(ricci::fuse(w(e, a).assign(u(dof(e, a)))), Catch::Contains(where));
        if (m == 1) CHECK_THROWS_WITH(ricci::fuse(part(e).assign(u(dof(e, 1)))), Catch::Contains("e = " + std::to_string(n)));
        else CHECK_NOTHROW(ricci::fuse(part(e).assign(u(dof(e, 1)))));
        dof(n, m) = n % 2 ? 39 : 0;
      }
}

TEST_CASE("indices out of bounds are found when the plan is made") {
  auto dof = line_of(10, 3);
  tensor<double, dynamic> u(21);
  tensor<double, dynamic, 3> w(10);
  dof(4, 1) = 21;
  CHECK_THROWS_WITH(ricci::plan(w(e, a).assign(u(dof(e, a)))), Catch::Contains("index 21") && Catch::Contains("e = 4, a = 1") &&
                                                                  Catch::Contains("extent 21"));
  CHECK_THROWS_WITH(u(dof(e, a)) += w(e, a), Catch::Contains("index 21"));
  dof(4, 1) = -1;
  CHECK_THROWS_WITH(ricci::fuse(w(e, a).assign(u(dof(e, a)))), Catch::Contains("index -1"));
  dof(4, 1) = 21;
  CHECK_NOTHROW(ricci::plan(w(e, a).assign(u(dof(e, a))), {.check_indices = false}));
}

TEST_CASE("the components of a gradient share what they have in common") {
  const int elements = 40, P = 4, Q = 5;
  tensor<double, dynamic, dynamic> B(Q, P), D(Q, P);
  tensor<double, dynamic, dynamic, dynamic, dynamic> u(elements, P, P, P), x(elements, Q, Q, Q), y(elements, Q, Q, Q),
      z(elements, Q, Q, Q);
  randomise(B, 1), randomise(D, 2), randomise(u, 3);
  const auto gradient = ricci::fuse(x(e, q, r, s).assign(D(q, i) * B(r, j) * B(s, k) * u(e, i, j, k)),
                                    y(e, q, r, s).assign(B(q, i) * D(r, j) * B(s, k) * u(e, i, j, k)),
                                    z(e, q, r, s).assign(B(q, i) * B(r, j) * D(s, k) * u(e, i, j, k)));
  // B and D of one axis each, then what shares: 2 products along the first axis contracted, 3 along the second, 3 last.
  const double one = 2.0 * elements * (Q * P * P * P), two = 2.0 * elements * (Q * Q * P * P), three = 2.0 * elements * (Q * Q * Q * P);
  CHECK(gradient.flops() == 3 * one + 3 * two + 3 * three);  // as written; run is less
  const front::lowered_call call(x(e, q, r, s).assign(D(q, i) * B(r, j) * B(s, k) * u(e, i, j, k)),
                                 y(e, q, r, s).assign(B(q, i) * D(r, j) * B(s, k) * u(e, i, j, k)),
                                 z(e, q, r, s).assign(B(q, i) * B(r, j) * D(s, k) * u(e, i, j, k)));
  CHECK(ricci::flops(*ricci::compile(call.program, {}, call.bindings())) == 2 * one + 3 * two + 3 * three);
  gradient.run();
  CHECK(error_of(z, x(e, q, r, s).assign(D(q, i) * B(r, j) * B(s, k) * u(e, i, j, k)),
                 y(e, q, r, s).assign(B(q, i) * D(r, j) * B(s, k) * u(e, i, j, k)),
                 z(e, q, r, s).assign(B(q, i) * B(r, j) * D(s, k) * u(e, i, j, k))) <= 1);
}

TEST_CASE("products with even and odd matrices") {
  for (int P = 1; P <= 8; ++P)
    for (int Q : {P, P + 1, P + 2}) {
      const int elements = 24;
      tensor<double, dynamic, dynamic> even(Q, P), odd(Q, P);
      for (int y = 0; y < Q; ++y)
        for (int x = 0; x < P; ++x) {
          even(y, x) = std::cos(y * P + x + 1.0) + std::cos((Q - 1 - y) * P + P - x);
          odd(y, x) = std::cos(y * P + x + 1.0) - std::cos((Q - 1 - y) * P + P - x);
        }
      tensor<double, dynamic, dynamic, dynamic> u(elements, P, P), w(elements, Q, Q), v(elements, P, P);
      randomise(u, 1), randomise(w, 2), randomise(v, 3);
      const auto E = ricci::even_odd(even);
      const auto O = ricci::even_odd(odd);
      CHECK(error_of(w, w(e, q, r).assign(E(q, i) * O(r, j) * u(e, i, j))) <= 2);
      CHECK(error_of(v, v(e, i, j).subtract(O(q, i) * E(r, j) * w(e, q, r))) <= 2);
    }
  tensor<double, 3, 2> wrong;
  randomise(wrong, 7);
  tensor<double, 4, 2> u;
  tensor<double, 4, 3> w;
  const auto W = ricci::even_odd(wrong);
  CHECK_THROWS_WITH(ricci::plan(w(e, q).assign(W(q, i) * u(e, i))), Catch::Contains("even_odd"));
}

TEST_CASE("locals that only name a tensor") {
  for (int elements : {1, 5, 16, 61}) {
    tensor<double, dynamic, 4, 3> u(elements), v(elements);
    tensor<double, dynamic, 3, 3> w(elements);
    tensor<double, 4, 4> B;
    randomise(u, 1), randomise(v, 2), randomise(w, 3), randomise(B, 4);
    CAPTURE(elements);
    ricci::local<double> p("p"), f("f"), g("g");
    CHECK(error_of(v, p(j, e, i).assign(u(e, i, j)), f(e, i, j).assign(B(i, k) * p(j, e, k)),
                   v(e, i, j).subtract(f(e, i, j) / p(j, e, i) + p(j, e, i) * p(j, e, i))) <= 1);
    CHECK(error_of(w, p(e, i, j).assign(u(e, i, j)), w(e, q, r).assign(p(e, k, q) * p(e, k, r) + abs(p(e, k, q)) * p(e, k, r))) <= 1);
    CHECK(error_of(v, p(e, i, j).assign(v(e, i, j)), v(e, i, j).assign(B(i, k) * p(e, k, j))) <= 1);  // what is read is written
    CHECK(error_of(v, p(e, i, j).assign(-u(e, i, j)), g(e, i, j).assign(p(e, i, j)), v(e, i, j).assign(B(i, k) * g(e, k, j))) <= 1);
    std::ostringstream text;
    text << ricci::fuse(p(j, e, i).assign(u(e, i, j)), v(e, i, j).assign(B(i, k) * p(j, e, k)));
    CHECK(text.str().find("not copied") != std::string::npos);
  }
}

TEST_CASE("components that share coefficients, a field read under several labels") {
  for (int elements : {1, 3, 8, 37, 64})
    for (int P : {2, 3, 5, 8}) {
      CAPTURE(elements, P);
      tensor<double, dynamic, dynamic> d(P, P);
      randomise(d, 1);
      for (int x = 0; x < P; ++x)
        for (int y = 0; y < P; ++y)
          if (2 * (x * P + y) >= P * P) d(x, y) = -d(P - 1 - x, P - 1 - y);
      if (P % 2) d(P / 2, P / 2) = 0;
      const auto D = ricci::even_odd(d);
      tensor<double, dynamic, 3, dynamic, dynamic> u(elements, P, P), v(elements, P, P);
      tensor<double, dynamic, dynamic, dynamic> G(elements, P, P), H(elements, P, P);
      randomise(u, 2), randomise(v, 3), randomise(G, 4), randomise(H, 5);
      ricci::local<double> x("x"), y("y"), f("f"), g("g");
      CHECK(error_of(v, x(e, c, i, j).assign(D(i, k) * u(e, c, k, j)), y(e, c, i, j).assign(D(j, k) * u(e, c, i, k)),
                     f(e, c, i, j).assign(G(e, i, j) * x(e, c, i, j) + H(e, i, j) * y(e, c, i, j)),
                     g(e, c, i, j).assign(H(e, i, j) * x(e, c, i, j) - G(e, i, j) * u(e, c, i, j)),
                     v(e, c, i, j).add(D(k, i) * f(e, c, k, j) + D(k, j) * g(e, c, i, k))) <= 1);
    }
}

TEST_CASE("errors name the local") {
  tensor<double, dynamic, dynamic> A(3, 4), C(3, 4);
  ricci::local<double> g("g"), h;
  CHECK_THROWS_WITH(ricci::fuse(C(i, j).assign(g(i, j)), g(i, j).assign(A(i, j))), Catch::Contains("g(i,j) in statement 1"));
  CHECK_THROWS_WITH(ricci::fuse(h(i, j).assign(A(i, j)), h(i, j).assign(A(i, j)), C(i, j).assign(h(i, j))),
                    Catch::Contains("local(i,j) in statement 2"));
}
