// The right side is evaluated as if complete before the left side changes, whatever overlaps whatever.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <sstream>

#include "helpers.hpp"

using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::labels::y;
using ricci::labels::z;
using front::count_up;
using ricci::dynamic;
using ricci::tensor;
using kind = ricci::overlap::kind;

namespace {

/// Checks `statement` run on `left` against the same statement reading from copies.
template <class Tensor>
void transpose_in_place(Tensor A) {
  count_up(A);
  const Tensor before = A;
  A(i, j) = A(j, i);
  for (int x = 0; x < A.extent(0); ++x)
    for (int y = 0; y < A.extent(1); ++y) CHECK(A(x, y) == before(y, x));
}

template <class Tensor>
void multiply_in_place(Tensor U, Tensor B) {
  count_up(U), count_up(B, 3);
  const Tensor before = U;
  U(i, j) = U(i, k) * B(k, j);
  for (int x = 0; x < U.extent(0); ++x)
    for (int y = 0; y < U.extent(1); ++y) {
      double expected = 0;
      for (int z = 0; z < U.extent(1); ++z) expected += before(x, z) * B(z, y);
      CHECK(U(x, y) == expected);
    }
}

}  // namespace

TEST_CASE("in place: transposition and products, inlined and planned") {
  transpose_in_place(tensor<double, 4, 4>());
  transpose_in_place(tensor<double, 40, 40>());
  transpose_in_place(tensor<double, dynamic, dynamic>(9, 9));
  multiply_in_place(tensor<double, 4, 4>(), tensor<double, 4, 4>());
  multiply_in_place(tensor<double, 30, 30>(), tensor<double, 30, 30>());
  multiply_in_place(tensor<double, dynamic, 5>(5), tensor<double, dynamic, 5>(5));
}

TEST_CASE("shifted views of one vector") {
  for (const int shift : {1, 3, 7}) {
    INFO("shift " << shift);
    tensor<double, 50> v;
    for (int direction = 0; direction < 2; ++direction) {
      count_up(v);
      const tensor<double, 50> before = v;
      const ricci::extents<dynamic> shape{50 - shift};
      auto low = ricci::view(v.data(), shape);
      auto high = ricci::view(v.data() + shift, shape);
      if (direction == 0) {
        low(i) = high(i);
        for (int x = 0; x < 50; ++x) CHECK(v(x) == before(x + shift < 50 ? x + shift : x));
      } else {
        high(i) = low(i);
        for (int x = 0; x < 50; ++x) CHECK(v(x) == before(x >= shift ? x - shift : x));
      }
    }
  }
}

TEST_CASE("one statement type on memory that overlaps and memory that does not") {
  // The remembered plan of one must not serve the other.
  std::int64_t n = 30;
  tensor<double, dynamic, dynamic> A(n, n), B(n, n), C(n, n);
  const auto product = [](auto left, auto first, auto second) { left(i, j) = first(i, k) * second(k, j); };
  count_up(A), count_up(B, 2);
  tensor<double, dynamic, dynamic> expected(n, n);
  expected(i, j) = A(i, k) * B(k, j);
  for (int round = 0; round < 3; ++round) {
    product(C.view(), A.view(), B.view());
    CHECK(C == expected);
    auto left = A;
    product(left.view(), left.view(), B.view());
    CHECK(left == expected);
    auto right = B;
    product(right.view(), A.view(), right.view());
    CHECK(right == expected);
  }
}

TEST_CASE("what the program says of overlaps") {
  tensor<double, 40, 40> A, B;
  CHECK(front::program_of(B(i, j).assign(A(j, i))).overlaps.empty());
  const auto same = front::program_of(A(i, j).add(A(i, j) * B(i, j)));
  REQUIRE(same.overlaps.size() == 1);
  CHECK(same.overlaps[0].verdict == kind::same);
  CHECK(same.overlaps[0].other_slot == 1);
  const auto transposed = front::program_of(A(i, j).assign(A(j, i)));
  REQUIRE(transposed.overlaps.size() == 1);
  CHECK(transposed.overlaps[0].verdict == kind::may);
  const auto halves = front::program_of(A(0, i).assign(A(1, i)));
  REQUIRE(halves.overlaps.size() == 1);
  CHECK(halves.overlaps[0].verdict == kind::disjoint);
}

TEST_CASE("scatter-adds that read the tensor they write") {
  constexpr int n = 37;
  tensor<std::int64_t, dynamic> perm(n);
  for (int q = 0; q < n; ++q) perm(q) = (5 * q + 3) % n;
  tensor<double, dynamic> before(n), other(n);
  count_up(before), count_up(other, 4);
  // What `run` leaves of the tensor, and what it should: a first, then b for each entry.
  const auto check = [&](auto run, double a, double b) {
    tensor<double, dynamic> u = before, expected(n);
    run(u);
    for (int q = 0; q < n; ++q) expected(q) = a * before(q);
    for (int q = 0; q < n; ++q) expected(static_cast<int>(perm(q))) += b * before(q);
    CHECK(u == expected);
  };
  check([&](auto& u) { u(perm(i)) += u(i); }, 1, 1);
  check([&](auto& u) { u(perm(i)) -= u(i); }, 1, -1);
  check([&](auto& u) { u(perm(i)) += 2 * u(i); }, 1, 2);
  check([&](auto& u) { u(perm(i)) += u(i) + u(i); }, 1, 2);
  check([&](auto& u) { ricci::plan(u(perm(i)).add(u(i))).run(); }, 1, 1);
  check([&](auto& u) { ricci::fuse(u(perm(i)).add(u(i)), u(i).add(u(i))).run(); }, 2, 2);
  ricci::local<double> g;
  check([&](auto& u) { ricci::fuse(g(i).assign(2 * u(i)), u(perm(i)).add(g(i))).run(); }, 1, 2);

  tensor<double, dynamic> u = before, expected = before;
  const auto reversed = ricci::view(u.data() + n - 1, {n}, {-1});
  for (int q = 0; q < n; ++q) expected(static_cast<int>(perm(q))) += before(n - 1 - q);
  u(perm(i)) += reversed(i);
  CHECK(u == expected);

  tensor<double, dynamic, 3> U(n), W(n);
  count_up(U), count_up(W, 2);
  auto V = U;
  for (int q = 0; q < n; ++q)
    for (int x = 0; x < 3; ++x) V(static_cast<int>(perm(q)), x) += U(q, x);
  U(perm(i), k) += U(i, k);
  CHECK(U == V);

  // The plan says so, strict options refuse it, and what lies apart pays nothing.
  std::ostringstream text;
  text << ricci::plan(u(perm(i)).add(u(i)));
  CHECK(text.str().find("computed aside") != std::string::npos);
  CHECK_THROWS_AS(ricci::plan(u(perm(i)).add(u(i)), {.strict = true}), ricci::error);
  CHECK_NOTHROW(ricci::plan(u(perm(i)).add(other(i)), {.strict = true}));
}

TEMPLATE_TEST_CASE("a tensor that cancels itself keeps NaN and infinities", "", float, double, std::complex<double>, ricci::half) {
  using T = TestType;
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto is_nan = [](T x) { return std::isnan(std::abs(std::complex<double>(static_cast<std::complex<double>>(x)))); };
  tensor<T, dynamic, 5> a(7), b(7), t(7);
  tensor<T, 3> small;
  b.fill(T(1)), t.fill(T(3));
  for (const double value : {nan, inf}) {
    INFO("value " << value);
    const auto gives_nan = [&](auto run) {
      a.fill(T(value)), small.fill(T(value));
      run(a, j), run(small, 0);
      CHECK(is_nan(a(6, 4)));
      CHECK(is_nan(small(2)));
    };
    const auto at = [](auto& x, auto second) {
      if constexpr (std::is_same_v<decltype(second), int>) return x(i);
      else return x(i, second);
    };
    gives_nan([&](auto& x, auto s) { at(x, s) = at(x, s) - at(x, s); });
    gives_nan([&](auto& x, auto s) { at(x, s) -= at(x, s); });
    gives_nan([&](auto& x, auto s) { at(x, s) = 2 * at(x, s) - at(x, s); });
    gives_nan([&](auto& x, auto s) { at(x, s) += -2 * at(x, s); });
    gives_nan([&](auto& x, auto s) { at(x, s) = at(x, s) - 2 * at(x, s) + 3 * at(x, s); });
    a.fill(T(value));
    a(i, j) = a(i, j) - a(i, j) + b(i, j);
    CHECK(is_nan(a(0, 0)));
  }
  // Where nothing is lost it stays one operation, without a copy.
  const auto strict = [&](const auto& statement) { ricci::plan(statement, {.strict = true}).run(); };
  a.fill(T(2));
  strict(a(i, j).add(a(i, j)));
  CHECK(a(3, 3) == T(4));
  strict(a(i, j).assign(2 * a(i, j) - a(i, j)));
  CHECK(a(3, 3) == T(4));
  strict(a(i, j).assign(2 * a(i, j) - a(i, j) + b(i, j)));
  CHECK(a(3, 3) == T(5));
  strict(a(i, j).subtract(3 * a(i, j) - b(i, j) - t(i, j)));
  CHECK(a(3, 3) == T(-6));
  strict(a(i, j).assign(b(i, j) - a(i, j)));
  CHECK(a(3, 3) == T(7));
}

TEST_CASE("a left side of any strides is written where no two elements share a place, and refused where they do") {
  const tensor<double, 3, 3> A = [] {
    tensor<double, 3, 3> numbers;
    count_up(numbers, 1);
    return numbers;
  }();
  int refused = 0, written = 0;
  bool right = true;
  for (int down = -9; down <= 9; ++down)
    for (int along = -9; along <= 9; ++along) {
      std::vector<double> memory(73, 100), expected = memory;
      bool shared = false;
      const auto at = [&](int row, int col) { return static_cast<std::size_t>(36 + row * down + col * along); };
      for (int row = 0; row < 3; ++row)
        for (int col = 0; col < 3; ++col) {
          shared = shared || expected[at(row, col)] != 100;
          expected[at(row, col)] = A(row, col);
        }
      const auto C = ricci::view(memory.data() + 36, {3, 3}, {down, along});
      try {
        C(i, j) = A(i, j);
        right = right && !shared && memory == expected;
        ++written;
      } catch (const ricci::error& problem) {
        right = right && shared && problem.code() == ricci::errc::bad_argument;
        ++refused;
      }
    }
  CHECK(right);
  CHECK(written > 100);  // many of them with strides that do not nest, as 2 and 3
  CHECK(refused > 50);

  std::vector<double> memory(40);
  const auto skew = ricci::view(memory.data(), {2, 3}, {7, 5}), shared = ricci::view(memory.data(), {3, 4}, {3, 2});
  skew(i.in(0, 2), j) = A(i, k.in(0, 2)) * A(j, k);
  for (int row = 0; row < 2; ++row)
    for (int col = 0; col < 3; ++col) CHECK(memory[static_cast<std::size_t>(7 * row + 5 * col)] == A(row, 0) * A(col, 0) + A(row, 1) * A(col, 1));
  tensor<double, 3, 4> B;
  std::string words;
  try {
    shared(i, j) = B(i, j);
  } catch (const ricci::error& problem) {
    words = problem.what();
  }
  CHECK(words == "the left side C keeps two elements in one place: label j has stride 2, label i has stride 3");
}
