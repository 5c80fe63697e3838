// Statements over interleaved tensors as several programs: one for each piece of the problems, or with copies around.
#include <catch2/catch.hpp>

#include <complex>

#include <ricci/ricci.hpp>

using namespace ricci::labels;
using ricci::dynamic;

namespace {

/// Small integers that differ along every axis: every result is exact.
template <class Tensor>
void count_up(Tensor& t, int start) {
  int x = start;
  for (auto& element : t) element = (x = (x * 7 + 3) % 11) - 5;
}

template <class T> using plain = ricci::tensor<T, dynamic, 3, 4>;

}  // namespace

TEST_CASE("terms without a label of problems that others sum over") {
  for (const int count : {1, 7, 8, 15, 24, 29}) {
    INFO("count " << count);
    plain<double> A(count);
    ricci::tensor<double, dynamic, 3, 4> B(11);
    count_up(A, 1), count_up(B, 4);
    const auto a = ricci::interleave<8>(A);
    const auto b = ricci::interleave<4>(B);
    ricci::tensor<double, 3, 4> D, C, c;
    count_up(D, 3);
    C(i, j) = sum(e, A(e, i, j)) + D(i, j);
    c(i, j) = sum(e, a(e, i, j)) + D(i, j);
    CHECK(c == C);
    C(i, j) += D(i, j) - 2 * sum(e, A(e, i, j));
    c(i, j) += D(i, j) - 2 * sum(e, a(e, i, j));
    CHECK(c == C);
    C(i, j) -= sum(e, A(e.in(1, count), i, j)) + D(i, j);
    c(i, j) -= sum(e, a(e.in(1, count), i, j)) + D(i, j);
    CHECK(c == C);
    // Two labels that are cut, each in one of the terms, and a term without either.
    C(i, j) = sum(e, A(e, i, j)) - sum(f, B(f, i, j)) + D(i, j);
    const auto plan = ricci::plan(c(i, j).assign(sum(e, a(e, i, j)) - sum(f, b(f, i, j)) + D(i, j)));
    plan.run();
    CHECK(c == C);
    C(i, j) = sum(e, f, A(e, i, j) * B(f, i, j)) + sum(f, B(f, i, j)) + sum(e, A(e, i, j));
    c(i, j) = sum(e, f, a(e, i, j) * b(f, i, j)) + sum(f, b(f, i, j)) + sum(e, a(e, i, j));
    CHECK(c == C);
    ricci::tensor<double> S, s;
    S() = sum(e, sum(i, sum(j, A(e, i, j)))) + 7;
    s() = sum(e, sum(i, sum(j, a(e, i, j)))) + 7;
    CHECK(s() == S());
  }
}

TEST_CASE("fused programs whose tensors are copied") {
  using complex = std::complex<double>;
  ricci::tensor<complex, dynamic> T(5), Z(5), X(3), G(3);
  for (int at = 0; at < 5; ++at) T(at) = complex(at + 1, 2 - at), Z(at) = complex(3 * at, 1), X(at % 3) = at;
  auto t = ricci::interleave<4>(T);
  const auto z = ricci::interleave<2>(Z);
  const auto x = ricci::interleave<4>(X);
  auto g = ricci::interleave<4>(G);
  // Within a statement a tensor may be read and written.
  G(e) = 2 * X(e);
  T(e.in(0, 3)) = conj(T(e)) - sum(k, Z(k.in(2, 5)) * T(e));
  ricci::fuse(g(e).assign(2 * x(e)), t(e.in(0, 3)).assign(conj(t(e)) - sum(k, z(k.in(2, 5)) * t(e)))).run();
  CHECK((g == G && t == T));
  T(e.in(0, 3)) -= sum(k, Z(k) * T(e));
  ricci::fuse(g(e).assign(2 * x(e)), t(e.in(0, 3)).subtract(sum(k, z(k) * t(e)))).run();
  CHECK(t == T);
  // What one statement reads and a later one writes is read before; what a later one reads is refused.
  G(e) = 2 * T(e.in(0, 3));
  T(e.in(0, 3)) = conj(T(e)) - sum(k, Z(k) * T(e));
  ricci::fuse(g(e).assign(2 * t(e.in(0, 3))), t(e.in(0, 3)).assign(conj(t(e)) - sum(k, z(k) * t(e)))).run();
  CHECK((g == G && t == T));
  const auto refused = [](auto f) { CHECK_THROWS_WITH(f(), Catch::Contains("write separate statements")); };
  refused([&] { ricci::fuse(t(e.in(0, 3)).assign(conj(t(e)) - sum(k, z(k) * t(e))), g(e).assign(2 * t(e.in(0, 3)))); });
  CHECK(t == T);
}

TEMPLATE_TEST_CASE("index tensors that are interleaved", "", std::int32_t, std::int64_t) {
  for (const int count : {1, 7, 8, 13}) {
    INFO("count " << count);
    ricci::tensor<TestType, dynamic, 3> order(count);
    ricci::tensor<TestType, dynamic, 3, ricci::interleaved<4>> lanes(count);
    for (int at = 0; at < count; ++at)
      for (int n = 0; n < 3; ++n) order(at, n) = lanes(at, n) = static_cast<TestType>((at * 5 + n * 2) % 11);
    ricci::tensor<double, 11> u;
    ricci::tensor<double, dynamic, 3> C(count), c(count);
    count_up(u, 2);
    C(e, i) = u(order(e, i));
    c(e, i) = u(lanes(e, i));
    CHECK(c == C);
    // What a piece does not finish: sums over the problems into 16 bits or in a program of several statements.
    ricci::tensor<ricci::half, 11> h;
    ricci::tensor<ricci::half, 3> S, s;
    count_up(h, 3);
    S(i) = sum(e, h(order(e, i)));
    s(i) = sum(e, h(lanes(e, i)));
    for (int n = 0; n < 3; ++n) CHECK(float(s(n)) == float(S(n)));
    ricci::local<double> g;
    ricci::tensor<double, dynamic> t(3);
    ricci::fuse(g(i).assign(sum(e, u(lanes(e.in(count / 2, count), i)))), t(i).assign(2 * g(i))).run();
    for (int n = 0; n < 3; ++n) {
      double sum = 0;
      for (int at = count / 2; at < count; ++at) sum += u(order(at, n));
      CHECK(t(n) == 2 * sum);
    }
    // Two ranges of one table are two tables.
    C(e, i) = sum(a, u(order(a.in(0, (count + 1) / 2), i))) * u(order(e, i));
    ricci::fuse(g(i).assign(sum(a, u(lanes(a.in(0, (count + 1) / 2), i)))), c(e, i).assign(g(i) * u(lanes(e, i)))).run();
    CHECK(c == C);
    lanes(count - 1, 2) = 11;
    CHECK_THROWS_WITH((s(i) = sum(e, h(lanes(e, i)))), Catch::Contains("index 11"));
  }
}
