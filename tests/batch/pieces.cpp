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
  // What one statement writes and another reads is refused.
  const auto refused = [](auto f) { CHECK_THROWS_WITH(f(), Catch::Contains("write separate statements")); };
  refused([&] { ricci::fuse(g(e).assign(2 * t(e.in(0, 3))), t(e.in(0, 3)).assign(conj(t(e)) - sum(k, z(k) * t(e)))); });
  refused([&] { ricci::fuse(t(e.in(0, 3)).assign(conj(t(e)) - sum(k, z(k) * t(e))), g(e).assign(2 * t(e.in(0, 3)))); });
  CHECK(t == T);
}
