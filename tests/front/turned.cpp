// Fused programs that read a local under turned labels, and 16-bit elements where they are not contracted.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "helpers.hpp"

using namespace ricci::labels;
using front::count_up;
using ricci::dynamic;
using ricci::tensor;

TEST_CASE("a pointwise statement reads what another has just made, with its labels exchanged") {
  tensor<double, dynamic, 3, 3> A(64), B(64), C(64), t(64), expected(64);
  count_up(A), count_up(B, 4);
  t(e, i, j) = A(e, i, j) * B(e, i, j) + A(e, j, i);
  expected(e, i, j) = max(t(e, i, j), t(e, j, i));
  ricci::local<double> g;
  ricci::fuse(g(e, i, j).assign(A(e, i, j) * B(e, i, j) + A(e, j, i)), C(e, i, j).assign(max(g(e, i, j), g(e, j, i)))).run();
  CHECK(C == expected);
}

TEST_CASE("a stage does not run in blocks of a label that stands elsewhere where its local is read") {
  tensor<double, 6, 6, 6, 6> A, T, X, expected;
  tensor<double, 6> B, C;
  count_up(A), count_up(B, 1), count_up(C, 2);
  T(b, e, d, f) = sum(a, A(d, f, e, a)) * B(b);
  expected(b, d, e, c) = sum(f, C(d) * B(e) * T(c, d, f, e) * T(e, c, b, d));
  ricci::local<double> t;
  ricci::fuse(t(b, e, d, f).assign(sum(a, A(d, f, e, a)) * B(b)),
              X(b, d, e, c).assign(sum(f, C(d) * B(e) * t(c, d, f, e) * t(e, c, b, d)))).run();
  CHECK(X == expected);
}

TEST_CASE("blocks of two labels do not take one copy for two places") {
  tensor<ricci::bfloat16, 3, 46, 3> A;
  tensor<ricci::bfloat16, 46, 3, 3> B;
  count_up(A);
  ricci::plan(B(e, i, j).assign(min(A(j, e, i), A(i, e, j)))).run();
  for (int x = 0; x < 46; ++x)
    for (int y = 0; y < 9; ++y)
      REQUIRE(static_cast<float>(B(x, y / 3, y % 3)) == std::min<float>(A(y % 3, x, y / 3), A(y / 3, x, y % 3)));
}

TEMPLATE_TEST_CASE("16-bit elements are scattered and added", "", ricci::half, ricci::bfloat16) {
  tensor<std::int32_t, 5, 2> dof;
  for (int el = 0; el < 5; ++el) dof(el, 0) = el, dof(el, 1) = el + 1;
  tensor<TestType, 5, 2> w;
  tensor<TestType, 5> z;
  tensor<TestType, 6> v;
  count_up(w), count_up(z, 2), v.fill(1);
  float expected[6] = {1, 1, 1, 1, 1, 1};
  for (int el = 0; el < 5; ++el)
    for (int node = 0; node < 2; ++node) expected[dof(el, node)] += 2 * w(el, node) - w(el, node) * z(el);
  v(dof(e, a)) += 2 * w(e, a);           // a tensor as it lies
  v(dof(e, a)) -= w(e, a) * z(e);        // what is computed in float before
  for (int n = 0; n < 6; ++n) CHECK(static_cast<float>(v(n)) == expected[n]);
}

TEMPLATE_TEST_CASE("functions of a single 16-bit element", "", ricci::half, ricci::bfloat16) {
  tensor<TestType> x, y, z;
  x.fill(4), y.fill(0.5f), z.fill(7);
  z() = sqrt(x()) * y() + abs(y());
  CHECK(static_cast<float>(*z.data()) == 1.5f);
  z() += max(x(), y());
  CHECK(static_cast<float>(*z.data()) == 5.5f);
}

TEST_CASE("a local is written along problems side by side and read under other labels") {
  for (const int n : {5, 8, 12, 16}) {
    tensor<double, dynamic, dynamic> B(n, n), C(n, n), expected(n, n);
    tensor<double, dynamic, dynamic, ricci::interleaved<8>> X(n, n);
    count_up(B), count_up(X, 4);
    expected(i, j) = 2 * X(i, j) * B(j, i);
    ricci::local<double> g;
    ricci::fuse(g(i, j).assign(2 * B(i, j)), C(i, j).assign(X(i, j) * g(j, i))).run();
    CHECK(C == expected);

    tensor<double, dynamic> b(n), c(n), sums(n);
    count_up(b);
    sums(i) = 2 * X(i, j) * b(j);
    ricci::local<double> h;
    ricci::fuse(h(i).assign(2 * b(i)), c(i).assign(X(i, j) * h(j))).run();
    CHECK(c == sums);
  }
}

TEST_CASE("two axes of a factor have stride 1 and are copied between neighbours") {
  std::vector<double> memory(200);
  for (std::size_t x = 0; x < memory.size(); ++x) memory[x] = static_cast<double>(x);
  const auto A = ricci::view(memory.data(), {9, 6, 6}, {1, 6, 1});
  tensor<double, dynamic, dynamic, dynamic> C(6, 9, 6), B(9, 6, 6);
  tensor<double> s;
  ricci::fuse(ricci::options{.threads = 1}, C(b, a, c).assign(A(a, c, b) + 2 * B(a, b, c)), s().assign(C(d, a, c) * B(a, d, c))).run();
  for (int x = 0; x < 6; ++x)
    for (int y = 0; y < 9; ++y)
      for (int z = 0; z < 6; ++z) REQUIRE(C(x, y, z) == A(y, z, x));
}

TEST_CASE("a local has no diagonal") {
  tensor<double, 4, 4> A;
  tensor<double> s;
  ricci::local<double> g;
  CHECK_THROWS_WITH(ricci::fuse(g(i, j).assign(A(i, k) * A(k, j)), s().assign(g(i, i))).run(),
                    Catch::Matchers::Contains("[R015]") && Catch::Matchers::Contains("diagonal") && Catch::Matchers::Contains("(i,i)"));
}
