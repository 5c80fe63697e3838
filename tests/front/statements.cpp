// Statements against plain loops, on integers, so exactly.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

#include "helpers.hpp"

using ricci::labels::a;
using ricci::labels::b;
using ricci::labels::c;
using ricci::labels::e;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::labels::m;
using ricci::labels::n;
using ricci::labels::q;
using ricci::labels::r;
using ricci::labels::s;
using namespace ricci::literals;
using front::count_up;
using ricci::dynamic;
using ricci::tensor;

namespace {

/// C(i,j) = A(i,k) * B(k,j), with extents static or not and any layout.
template <class MA, class MB, class MC>
void check_product(MA A, MB B, MC C) {
  count_up(A);
  count_up(B, 2);
  count_up(C, 3);
  const MC before = C;
  C(i, j) = A(i, k) * B(k, j);
  MC twice = before;
  twice(i, j) += 2 * A(i, k) * B(k, j);
  MC less = before;
  less(i, j) -= A(i, k) * B(k, j);
  for (int x = 0; x < C.extent(0); ++x)
    for (int y = 0; y < C.extent(1); ++y) {
      double sum = 0;
      for (int z = 0; z < A.extent(1); ++z) sum += A(x, z) * B(z, y);
      CHECK(C(x, y) == sum);
      CHECK(twice(x, y) == before(x, y) + 2 * sum);
      CHECK(less(x, y) == before(x, y) - sum);
    }
}

}  // namespace

TEST_CASE("a product of matrices, static, dynamic and mixed, row- and column-major") {
  using ricci::column_major;
  check_product(tensor<double, 3, 4>(), tensor<double, 4, 5>(), tensor<double, 3, 5>());
  check_product(tensor<double, 13, 14>(), tensor<double, 14, 15>(), tensor<double, 13, 15>());
  check_product(tensor<double, dynamic, dynamic>(3, 4), tensor<double, dynamic, dynamic>(4, 5),
                tensor<double, dynamic, dynamic>(3, 5));
  check_product(tensor<double, dynamic, 4>(3), tensor<double, 4, dynamic>(5), tensor<double, 3, 5, column_major>());
  check_product(tensor<float, 3, 4, column_major>(), tensor<float, 4, 5>(), tensor<float, 3, 5, column_major>());
  check_product(tensor<float, dynamic, 4, column_major>(3), tensor<float, 4, 5>(), tensor<float, 3, 5>());
}

TEST_CASE("the statement of the first page, proven disjoint") {
  tensor<double, 8, 8, 9, 8> A, before;
  count_up(A);
  before = A;
  A(i, j, m.in(1, 9), n.in(1, 8)) -= A(i, k, m, 0) * A(k, j, 0, n);
  tensor<double, 8, 8, 9, 8> expected = before;
  for (int x = 0; x < 8; ++x)
    for (int y = 0; y < 8; ++y)
      for (int p1 = 1; p1 < 9; ++p1)
        for (int p2 = 1; p2 < 8; ++p2)
          for (int z = 0; z < 8; ++z) expected(x, y, p1, p2) -= before(x, z, p1, 0) * before(z, y, 0, p2);
  CHECK(A == expected);

  const ricci::program run_time =
      front::program_of(A(i, j, m.in(1, 9), n.in(1, 8)).subtract(A(i, k, m, 0) * A(k, j, 0, n)));
  const ricci::program constants =
      front::program_of(A(i, j, m.in(1_c, 9_c), n.in(1_c, 8_c)).subtract(A(i, k, m, 0_c) * A(k, j, 0_c, n)));
  CHECK(run_time == constants);
  REQUIRE(run_time.overlaps.size() == 2);
  for (const ricci::overlap& o : run_time.overlaps) CHECK(o.verdict == ricci::overlap::kind::disjoint);
}

TEST_CASE("batch labels, outer products, diagonals, traces, lone sums") {
  tensor<double, dynamic, 3, 4> A(5);
  tensor<double, dynamic, 4, 2> B(5);
  tensor<double, dynamic, 3, 2> C(5);
  tensor<double, 3, 4, 2> outer;
  tensor<double, 6, 6> S;
  tensor<double, 6> d;
  tensor<double> trace, total, dot;
  count_up(A), count_up(B), count_up(S);
  C(e, i, j) = A(e, i, k) * B(e, k, j);
  outer(i, j, k) = A(1, i, j) * B(2, 3, k);
  d(i) = S(i, i);
  trace() = S(i, i);
  total() = sum(i, j, S(i, j));
  dot() = S(i, j) * S(i, j);
  double t = 0, all = 0, squares = 0;
  for (int x = 0; x < 6; ++x) {
    t += S(x, x);
    CHECK(d(x) == S(x, x));
    for (int y = 0; y < 6; ++y) all += S(x, y), squares += S(x, y) * S(x, y);
  }
  CHECK(trace() == t);
  CHECK(total() == all);
  CHECK(dot() == squares);
  for (int z = 0; z < 5; ++z)
    for (int x = 0; x < 3; ++x)
      for (int y = 0; y < 2; ++y) {
        double product = 0;
        for (int w = 0; w < 4; ++w) product += A(z, x, w) * B(z, w, y);
        CHECK(C(z, x, y) == product);
      }
  for (int x = 0; x < 3; ++x)
    for (int y = 0; y < 4; ++y)
      for (int z = 0; z < 2; ++z) CHECK(outer(x, y, z) == A(1, x, y) * B(2, 3, z));
}

TEST_CASE("sums, differences, distribution, scalars anywhere") {
  tensor<double, 20, 20> A, B, C, D;
  tensor<double> half_of;
  count_up(A), count_up(B, 4), count_up(D, 8);
  half_of() = 0.5;
  C(i, j) = A(i, j) + B(j, i) - 2 * D(i, j);
  for (int x = 0; x < 20; ++x)
    for (int y = 0; y < 20; ++y) CHECK(C(x, y) == A(x, y) + B(y, x) - 2 * D(x, y));
  C(i, j) = -(A(i, k) * 3) * (B(k, j) - D(j, k) / 2) + half_of() * A(i, j);
  for (int x = 0; x < 20; ++x)
    for (int y = 0; y < 20; ++y) {
      double expected = 0.5 * A(x, y);
      for (int z = 0; z < 20; ++z) expected -= 3 * A(x, z) * (B(z, y) - D(y, z) / 2);
      CHECK(C(x, y) == expected);
    }
  C(i, j) = sum(k, A(i, k) * (B(j, j) + D(j, k)));
  for (int x = 0; x < 20; ++x)
    for (int y = 0; y < 20; ++y) {
      double expected = 0;
      for (int z = 0; z < 20; ++z) expected += A(x, z) * (B(y, y) + D(y, z));
      CHECK(C(x, y) == expected);
    }
}

TEST_CASE("multiplied and divided in place") {
  tensor<double, dynamic, 4> A(100), B(100);
  tensor<double, 4> x;
  tensor<double> scale;
  count_up(A), count_up(x, 1);
  scale() = 8;
  scale() *= 2;
  scale() /= 4;
  CHECK(scale() == 4);
  for (double& element : x) element = std::abs(element) + 1;
  B(e, i) = A(e, i);
  A(e, i) *= 2;
  A(e.in(5, 90), 1) *= 4;
  A(e, i) *= x(i) + 1;  // the sum as a whole
  A(e, i) /= scale();
  A(e, j) /= x(j);
  for (int p = 0; p < 100; ++p)
    for (int d = 0; d < 4; ++d)
      CHECK(A(p, d) == Approx(B(p, d) * 2 * (d == 1 && p >= 5 && p < 90 ? 4 : 1) * (x(d) + 1) / 4 / x(d)).epsilon(1e-15));
}

TEST_CASE("a scalar on the right of a rank-0 left side") {
  tensor<double> number;
  number() = 3.0;
  CHECK(number() == 3.0);
  number() += 2;
  CHECK(number() == 5.0);
  number() -= 0.5 * number() * number();
  CHECK(number() == -7.5);
  const double value = number();
  CHECK(value == -7.5);
}

TEST_CASE("ranges and constants on axes of different extents") {
  tensor<double, 5, 12> A;
  tensor<double, 7, 9> B;
  tensor<double, 6, 6> C;
  count_up(A), count_up(B);
  int first = 1, last = 4;
  C(i.in(first, last), j.in(2, 6)) = A(i, k.in(0, 7)) * B(k, j);
  C(5, 5) = 42;
  C(0, j.in(0, 2)) = A(4, j) + B(6_c, j);
  for (int x = 1; x < 4; ++x)
    for (int y = 2; y < 6; ++y) {
      double expected = 0;
      for (int z = 0; z < 7; ++z) expected += A(x, z) * B(z, y);
      CHECK(C(x, y) == expected);
    }
  CHECK(C(0, 0) == A(4, 0) + B(6, 0));
  CHECK(C(0, 2) == 0);
  CHECK(C(4, 4) == 0);
  CHECK(C(5, 5) == 42);
}

TEST_CASE("extents of 0 mean what mathematics says") {
  tensor<double, dynamic, dynamic> A(3, 0), B(0, 4), C(3, 4), none(0, 4);
  C.fill(7);
  C(i, j) = A(i, k) * B(k, j);
  for (double x : C) CHECK(x == 0);
  C.fill(7);
  C(i, j) += A(i, k) * B(k, j);
  for (double x : C) CHECK(x == 7);
  none(k, j) = B(k, j);
  tensor<double, 0, 3> empty;
  tensor<double, 3> d;
  d.fill(5);
  d(j) = sum(i, empty(i, j));
  for (double x : d) CHECK(x == 0);
  d.fill(5);
  d(j.in(2, 2)) = d(j);
  CHECK(d(2) == 5);
}

TEST_CASE("extents whose product passes 64 bits, beside one of 0") {
  constexpr std::int64_t much = std::int64_t{1} << 40;
  using last = ricci::tensor_view<const double, much, much, 0>;
  using first = ricci::tensor_view<const double, 0, much, much>;
  static_assert(last().size() == 0 && first().size() == 0);  // evaluated by the compiler: nothing overflows
  static_assert(first().stride(2) == 1 && first().stride(1) == much);
  static_assert((static_cast<void>(first().stride(0)), true));
  tensor<double, dynamic, dynamic, dynamic> A(much, much, 0), B(0, much, much);
  tensor<double, dynamic, dynamic, dynamic, ricci::column_major> C(much, much, 0);
  tensor<double> squares, product;
  squares.fill(7), product.fill(7);
  squares() = A(i, j, k) * A(i, j, k) + B(k, i, j) * B(k, i, j);
  product() = C(i, j, k) * A(i, j, k);
  CHECK(squares() == 0);
  CHECK(product() == 0);
  A(i, j, k) = C(i, j, k) + B(k, i, j);
  CHECK(A == C);
  const auto other = A;
  CHECK(other.size() == 0);
}

TEST_CASE("many factors") {
  constexpr int n1 = 3, q1 = 4;
  tensor<double, q1, n1> B;
  tensor<double, dynamic, q1, q1, q1> D(2);
  tensor<double, dynamic, n1, n1, n1> U(2), V(2), expected(2);
  count_up(B), count_up(D), count_up(U);
  V(e, a, b, c) = B(q, a) * B(r, b) * B(s, c) * D(e, q, r, s) * B(q, i) * B(r, j) * B(s, k) * U(e, i, j, k);
  for (int z = 0; z < 2; ++z)
    for (int qq = 0; qq < q1; ++qq)
      for (int rr = 0; rr < q1; ++rr)
        for (int ss = 0; ss < q1; ++ss) {
          double at = 0;
          for (int x = 0; x < n1; ++x)
            for (int y = 0; y < n1; ++y)
              for (int w = 0; w < n1; ++w) at += B(qq, x) * B(rr, y) * B(ss, w) * U(z, x, y, w);
          at *= D(z, qq, rr, ss);
          for (int x = 0; x < n1; ++x)
            for (int y = 0; y < n1; ++y)
              for (int w = 0; w < n1; ++w) expected(z, x, y, w) += at * B(qq, x) * B(rr, y) * B(ss, w);
        }
  CHECK(V == expected);
}

TEST_CASE("a statement kept in a variable, and labels of one's own") {
  constexpr ricci::label<"elem"> elem;
  constexpr ricci::label<"i"> also_i;
  tensor<double, 4, 3> A, C;
  count_up(A);
  const auto right = A(elem, i) * 2;
  C(elem, also_i) = right;
  CHECK(C(3, 2) == 2 * A(3, 2));
  A(3, 2) = 100;
  C(elem, i) = right;
  CHECK(C(3, 2) == 200);
}

TEST_CASE("an access copies elements, not views") {
  tensor<double, 4> x1, x2;
  count_up(x1);
  auto left = x2(i);
  left = x1(i);
  CHECK(x1 == x2);
  x1.fill(3);
  x2(i) = x1(i);
  CHECK(x2(3) == 3);
}

TEST_CASE("functions beside those of the standard library") {
  using namespace std;
  tensor<double, dynamic> x(5), y(5), w(5);
  count_up(x), count_up(y, 3);
  w(i) = max(x(i), y(i));
  for (int at = 0; at < 5; ++at) CHECK(w(at) == std::max(x(at), y(at)));
  w(i) = min(x(i), y(i)) + abs(x(i));
  for (int at = 0; at < 5; ++at) CHECK(w(at) == std::min(x(at), y(at)) + std::abs(x(at)));
  CHECK(max(1, 2) == 2);
}

TEST_CASE("a zero has one sign all along a row, that of the arithmetic") {
  constexpr int count = 19;  // whole registers, and what fills none
  tensor<double, dynamic> x(count), y(count), w(count);
  tensor<float, dynamic> u(count), v(count);
  const auto has = [](const auto& t, double expected) {
    int right = 0;
    for (const auto z : t) right += z == 0 && std::signbit(z) == std::signbit(expected);
    return right == count;
  };
  y.fill(4);
  for (const double zero : {0.0, -0.0}) {
    x.fill(zero), u.fill(static_cast<float>(zero));
    w(i) = sqrt(x(i));
    CHECK(has(w, zero));
    w(i) = -sqrt(x(i));
    CHECK(has(w, -zero));
    w(i) = -2 * sqrt(x(i));
    CHECK(has(w, -zero));
    w(i) = x(i) / y(i);
    CHECK(has(w, zero));
    w(i) = -x(i) / y(i);
    CHECK(has(w, -zero));
    w(i) = -x(i) * y(i) - x(i) * sqrt(y(i));
    CHECK(has(w, -zero));
    w(i) = x(i) * y(i) - x(i) * sqrt(y(i));
    CHECK(has(w, 0.0));
    w(i) = -min(x(i), y(i));
    CHECK(has(w, -zero));
    v(i) = -abs(u(i));
    CHECK(has(v, -0.0));
  }
}

namespace {

template <class T, class E>
constexpr bool gives = std::is_convertible_v<E, T>;

}  // namespace

TEST_CASE("an expression without labels has a value") {
  tensor<double> x, y;
  tensor<double, 3> row;
  tensor<float> small;
  tensor<std::complex<double>> z;
  const std::complex<double> w(1, -2);
  x() = 3, y() = 7, small() = 0.5F, z() = w;
  const double twice = 2 * x(), quotient = x() / y(), both = sqrt(x()) * y() - x() / 4 + 1;
  CHECK(twice == 6);
  CHECK(quotient == 3.0 / 7.0);  // one division
  CHECK(both == std::sqrt(3.0) * 7 - 3 * 0.25 + 1);
  const double minus = -abs(x()), other = 1 / y() + reciprocal(x());
  CHECK(minus == -3);
  CHECK(other == 1.0 / 7.0 + 1.0 / 3.0);
  const float half = 3 * small() * small();
  CHECK(half == 0.75F);
  const std::complex<double> turned = std::complex<double>(0, 1) * conj(z()) * 2, far = z() / 0.0;
  CHECK(turned == std::complex<double>(0, 1) * std::conj(w) * 2.0);
  CHECK((far.real() == std::numeric_limits<double>::infinity() && far.imag() == -far.real()));
  const auto later = 2 * x();
  x() = 5;
  CHECK(static_cast<double>(later) == 10);  // read when it converts

  double running = 1;
  running += 2 * y(), running -= x(), running *= x() * y(), running /= y() / 2;
  CHECK(running == 100);  // (1 + 14 - 5) * 35 / 3.5
  z() = w;
  std::complex<double> total = w;
  total += z(), total *= 2 * z(), total -= conj(z());
  CHECK(total == 4.0 * w * w - std::conj(w));

  // What was an expression stays one.
  row.fill(2 * x());
  row(i) = x() * y() * row(i);
  CHECK(row(2) == 350);
  y() = x() * 2;
  y() += x() * x();
  CHECK(y() == 35);

  static_assert(gives<double, decltype(2 * x())>);
  static_assert(!gives<float, decltype(2 * x())>);
  static_assert(!gives<double, decltype(2 * row(i))>);
  static_assert(!gives<double, decltype(x() * row(i))>);
  static_assert(!gives<double, decltype(x() * small())>);
  static_assert(!gives<double, decltype(w * x())>);
  static_assert(!gives<double, decltype(sum(i, row(i)))>);
}
