// Tables that a statement walks in more than one way.
#include <catch2/catch.hpp>

#include <ricci/ricci.hpp>

#include <algorithm>
#include <sstream>
#include <vector>

#include "small_integers.hpp"

using namespace ricci::labels;
using ricci::dynamic;

namespace {

}  // namespace

TEST_CASE("a table of pairs, both ways") {
  for (const int rows : {1, 2, 3, 9})
    for (const int n : {3, 9, 17, 33, 65}) {
      ricci::tensor<int, dynamic, dynamic> pair(n, n);
      ricci::tensor<double, dynamic, dynamic> u(n * n, rows), K(rows, rows);
      ricci::tensor<double, dynamic, dynamic, dynamic> w(n, n, rows), z(n, n, rows);
      for (int x = 0; x < n; ++x)
        for (int y = 0; y < n; ++y) pair(x, y) = x * n + y;
      fill(u, 1), fill(K, 2);
      w(e, f, i) = u(pair(e, f), i) * u(pair(f, e), i);
      ricci::local<double> g, h;
      ricci::fuse(g(e, f, i).assign(K(i, j) * u(pair(e, f), j)), h(e, f, i).assign(K(i, j) * u(pair(f, e), j)),
                  z(e, f, i).assign(g(e, f, i) * h(e, f, i))).run();
      bool products = true, chains = true;
      for (int x = 0; x < n; ++x)
        for (int y = 0; y < n; ++y)
          for (int row = 0; row < rows; ++row) {
            double there = 0, back = 0;
            for (int col = 0; col < rows; ++col) there += K(row, col) * u(x * n + y, col), back += K(row, col) * u(y * n + x, col);
            products = products && w(x, y, row) == u(x * n + y, row) * u(y * n + x, row);
            chains = chains && z(x, y, row) == there * back;
          }
      INFO("pairs of " << n << ", rows of " << rows);
      CHECK(products);
      CHECK(chains);
    }
}

TEMPLATE_TEST_CASE("signed integers of 32 and 64 bits, whatever they are called", "", int, long, long long) {
  static_assert(sizeof(TestType) == 4 || sizeof(TestType) == 8);
  ricci::tensor<TestType, dynamic, 2> dof(9);
  for (int at = 0; at < 9; ++at) dof(at, 0) = at, dof(at, 1) = at + 1;
  ricci::tensor<double, dynamic> u(10), v(10);
  fill(u, 3);
  v(dof(e, a)) += u(dof(e, a));
  for (int at = 0; at < 10; ++at) CHECK(v(at) == (at % 9 == 0 ? 1 : 2) * u(at));

  const std::vector<TestType> entries{2, 0};
  const auto pick = ricci::view(entries.data(), {2}, {1});
  ricci::tensor<double, 2> two;
  two(i) = u(pick(i));
  CHECK(two(0) == u(2));
  CHECK(two(1) == u(0));
  std::ostringstream text;
  text << pick;
  CHECK(text.str() == "[2, 0]");
}

TEST_CASE("the text of a plan has a table with its own labels") {
  ricci::tensor<int, dynamic> at(9);
  ricci::tensor<double, dynamic, dynamic> u(9, 5), v(9, 5), w(9, 5);
  const auto text_of = [](const auto& statement) {
    std::ostringstream text;
    text << ricci::plan(statement);
    return text.str();
  };
  CHECK_THAT(text_of(v(at(i), j).add(u(i, j))), Catch::Contains("C(dof(i),j) += A(i,j)\n       scatter-add"));
  CHECK_THAT(text_of(w(i, j).assign(u(at(i), j))), Catch::Contains("= A(dof(i),j)\n       gather"));
}

TEST_CASE("a gather or a scatter-add that runs again looks at its table again") {
  constexpr int n = 40;
  std::vector<double> from(n), to(n), sums(n), expected(n);
  std::vector<int> entries(n);
  const auto gather = [](double* y, const double* x, const std::vector<int>& at) {
    const auto v = ricci::view(y, {n});
    const auto u = ricci::view(x, {n});
    const auto table = ricci::view(at.data(), {n});
    v(i) = u(table(i));
  };
  const auto add = [](double* y, const double* x, const std::vector<int>& at, double times) {
    const auto v = ricci::view(y, {n});
    const auto u = ricci::view(x, {n});
    const auto table = ricci::view(at.data(), {n});
    v(table(i)) += times * u(i);
  };
  for (int round = 0; round < 4; ++round) {
    for (int q = 0; q < n; ++q) from[static_cast<std::size_t>(q)] = q * q - round, entries[static_cast<std::size_t>(q)] = (q * (round + 1) + 3 * round) % n;
    gather(to.data(), from.data(), entries);
    add(sums.data(), from.data(), entries, round - 1);
    bool same = true;
    for (std::size_t q = 0; q < n; ++q) {
      const auto at = static_cast<std::size_t>(entries[q]);
      same = same && to[q] == from[at];
      expected[at] += (round - 1) * from[q];
    }
    CHECK(same);
    CHECK(sums == expected);
    entries[5] = round % 2 ? n : -1;
    CHECK_THROWS_WITH(gather(to.data(), from.data(), entries), Catch::Contains("at i = 5 of an index tensor"));
    CHECK_THROWS_WITH(add(sums.data(), from.data(), entries, 1), Catch::Contains("at i = 5 of an index tensor"));
    CHECK(sums == expected);
    // Over the very memory that is read: another plan, and then the first one again.
    for (std::size_t q = 0; q < n; ++q) entries[q] = static_cast<int>(n - 1 - q);
    std::vector<double> turned = from;
    gather(turned.data(), turned.data(), entries);
    CHECK(std::equal(turned.begin(), turned.end(), from.rbegin()));
    turned = from;
    add(turned.data(), turned.data(), entries, 1);
    same = true;
    for (std::size_t q = 0; q < n; ++q) same = same && turned[q] == from[q] + from[n - 1 - q];
    CHECK(same);
  }
}

TEST_CASE("a bad index is named by its place in the table") {
  ricci::tensor<double, dynamic, 3> A(6);
  ricci::tensor<double, dynamic, 3, ricci::interleaved<4>> L(6);
  ricci::tensor<double, dynamic> y(10);
  ricci::tensor<std::int32_t, dynamic, 3> dof(6);
  dof(4, 1) = -1;
  const auto named = Catch::Matchers::Contains("index -1 at e = 4, a = 1 of an index tensor");
  CHECK_THROWS_WITH(y(dof(e, a)) += A(e, a), named);
  CHECK_THROWS_WITH(y(dof(e.in(2, 6), a)) += A(e, a), named);
  CHECK_THROWS_WITH(y(dof(e, a)) += L(e, a), named);
}
