// Every element type, on integers small enough for 16 bits; complex conjugation; rounding within the bound.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <random>

#include "helpers.hpp"
#include "program/reference.hpp"
#include "uniform.hpp"

using ricci::labels::e;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::dynamic;
using ricci::tensor;

namespace {

template <class T>
T make(int re, int im) {
  if constexpr (ricci::is_complex(ricci::dtype_of<T>)) {
    using real = typename T::value_type;
    return T(static_cast<real>(re), static_cast<real>(im));
  } else {
    return static_cast<T>(static_cast<float>(re));
  }
}

template <class X>
void fill_numbers(X& x, int seed) {
  for (auto& e : x) {
    seed = (seed * 5 + 3) % 17;
    e = make<typename X::value_type>(seed % 5 - 2, seed % 3 - 1);
  }
}

template <class T>
std::complex<double> wide(const T& x) {
  if constexpr (ricci::is_complex(ricci::dtype_of<T>)) return std::complex<double>(x);
  else return static_cast<double>(x);
}

}  // namespace

TEMPLATE_TEST_CASE("products in every element type", "", float, double, std::complex<float>, std::complex<double>,
                   ricci::half, ricci::bfloat16) {
  constexpr bool complex = ricci::is_complex(ricci::dtype_of<TestType>);  // of which fewer are inlined
  constexpr int rows = complex ? 2 : 4, sums = complex ? 2 : 3, columns = complex ? 2 : 5;
  tensor<TestType, rows, sums> A;
  tensor<TestType, sums, columns> B;
  tensor<TestType, rows, columns> C;
  tensor<TestType, dynamic, dynamic> a(rows, sums), b(sums, columns), c(rows, columns);
  fill_numbers(A, 1), fill_numbers(B, 2);
  a(i, j) = A(i, j), b(i, j) = B(i, j);
  REQUIRE(front::is_inlined(C(i, j).assign(2 * conj(A(i, k)) * B(k, j))));
  C(i, j) = 2 * conj(A(i, k)) * B(k, j) - A(i, k) * conj(B(k, j));
  c(i, j) = 2 * conj(a(i, k)) * b(k, j) - a(i, k) * conj(b(k, j));
  for (int x = 0; x < rows; ++x)
    for (int y = 0; y < columns; ++y) {
      std::complex<double> expected = 0;
      for (int z = 0; z < sums; ++z)
        expected += 2.0 * std::conj(wide(A(x, z))) * wide(B(z, y)) - wide(A(x, z)) * std::conj(wide(B(z, y)));
      CHECK(wide(C(x, y)) == expected);
      CHECK(wide(c(x, y)) == expected);
    }
}

TEMPLATE_TEST_CASE("elements of every type are added to and multiplied in place", "", float, double, std::complex<float>, ricci::half, ricci::bfloat16) {
  ricci::tensor<TestType, 3> A;
  A.fill(TestType(2.0f));
  A(0) += TestType(0.5f);
  A(1) -= A(0);
  for (TestType& element : A) element *= 3.0f;
  (A(2) /= 4.0f) += 1.0f;
  CHECK(A(0) == TestType(7.5f));
  CHECK(A(1) == TestType(-1.5f));
  CHECK(A(2) == TestType(2.5f));

  ricci::tensor<TestType> s;
  s() = TestType(0.5f);
  TestType& element = A(0);
  element += s(), element -= 2 * s(), element *= s() - 1.0f, element /= s() * s();
  CHECK(element == TestType(-14));
}

TEST_CASE("conj of a product and of a sum with complex coefficients") {
  using complex = std::complex<double>;
  tensor<complex, 9, 9> A, B, C, D;
  fill_numbers(A, 1), fill_numbers(B, 2);
  const complex alpha(1, 2);
  C(i, j) = conj(alpha * A(i, k) * B(k, j));
  D(i, j) = conj(A(i, j) + alpha * conj(B(i, j))) * complex(0, 1);
  for (int x = 0; x < 9; ++x)
    for (int y = 0; y < 9; ++y) {
      complex product = 0;
      for (int z = 0; z < 9; ++z) product += A(x, z) * B(z, y);
      CHECK(C(x, y) == std::conj(alpha * product));
      CHECK(D(x, y) == std::conj(A(x, y) + alpha * std::conj(B(x, y))) * complex(0, 1));
    }
}

TEMPLATE_TEST_CASE("an inlined product stays within its bound of the reference", "", float, double, std::complex<float>,
                   ricci::half, ricci::bfloat16) {
  const unsigned seed = 20240607;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const ricci::test::uniform<float> number{-1, 1};
  constexpr bool complex = ricci::is_complex(ricci::dtype_of<TestType>);  // of which fewer are inlined
  constexpr int rows = complex ? 1 : 4, columns = complex ? 2 : 4;
  tensor<TestType, rows, 4> A;
  tensor<TestType, 4, columns> B;
  tensor<TestType, rows, columns> C;
  for (auto& x : A) x = static_cast<TestType>(number(random));
  for (auto& x : B) x = static_cast<TestType>(number(random));
  const auto step = C(i, j).assign(A(i, k) * B(k, j));
  REQUIRE(front::is_inlined(step));
  void* pointers[] = {C.data(), A.data(), B.data()};
  const ricci::reference_result expected = ricci::evaluate(front::program_of(step), 0, {pointers, nullptr});
  ricci::plan(step).run();
  constexpr ricci::dtype type = ricci::dtype_of<TestType>;
  const double store = type == ricci::dtype::f16 ? 0x1p-11 : type == ricci::dtype::bf16 ? 0x1p-8 : 0;
  const double eps = type == ricci::dtype::f64 ? 0x1p-53 : 0x1p-24;
  for (std::size_t x = 0; x < expected.value.size(); ++x) {
    const auto got = wide(C.data()[x]);
    const double bound = (2 * 5 + 2) * eps * static_cast<double>(expected.magnitude[x]) +
                         store * std::abs(std::complex<double>(expected.value[x])) + 0x1p-24 * (store > 0);
    CHECK(std::abs(got - std::complex<double>(expected.value[x])) <= bound);
  }
}

namespace {

bool same(double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y; }

template <class T>
bool same(const std::complex<T>& x, const std::complex<T>& y) { return same(x.real(), y.real()) && same(x.imag(), y.imag()); }

}  // namespace

TEMPLATE_TEST_CASE("complex numbers divided by real ones, by zero too", "", float, double) {
  using number = std::complex<TestType>;
  const number values[] = {{1, 2}, {-1, 0}, {0, 0}, {0, -3}, {5, -4}};
  tensor<number, 5> x, y;
  tensor<number, dynamic> u(35), v(35), w(35);
  for (int n = 0; n < 35; ++n) x(n % 5) = values[n % 5], u(n) = values[n % 5];
  REQUIRE(front::is_inlined(y(i).assign(x(i) / 0.0)));
  for (const double by : {2.0, 0.0, -0.0}) {
    const auto check = [&](TestType factor) {
      for (int n = 0; n < 35; ++n) {
        INFO(values[n % 5] << " times " << factor << " by " << by << ": " << y(n % 5) << ' ' << v(n) << ' ' << w(n));
        const number expected = factor * values[n % 5] / static_cast<TestType>(by);
        CHECK((same(y(n % 5), expected) && same(v(n), expected) && same(w(n), expected)));
      }
    };
    ricci::local<number> g;
    y(i) = x(i) / by, v(i) = u(i) / by;
    ricci::fuse(g(i).assign(u(i) / by), w(i).assign(g(i))).run();
    check(1);
    y(i) = -3 * x(i) / by, v(i) = -3 * u(i) / by;
    ricci::fuse(g(i).assign(-3 * u(i)), w(i).assign(g(i) / by)).run();
    check(-3);
  }
}

namespace {

/// What of 4 and 2 is computed with so many elements, far from anything that a program could trap.
template <class T>
void divides_quietly(int count) {
  tensor<T, dynamic> x(count), y(count), z(count);
  tensor<T, dynamic, dynamic> A(count, count), B(count, count), C(count, count);
  x.fill(T(4)), y.fill(T(2)), A.fill(T(4)), B.fill(T(2));
  const auto column = ricci::view(B.data(), {count}, {count});
  const auto are = [](const auto& t, double expected) { return std::all_of(t.begin(), t.end(), [&](T at) { return at == T(expected); }); };
  CAPTURE(count, sizeof(T));
  std::feclearexcept(FE_ALL_EXCEPT);
  z(i) = x(i) / y(i);
  CHECK(are(z, 2));
  z(i) = 1 / y(i);
  CHECK(are(z, 0.5));
  z(i) = y(i) / sqrt(x(i));
  CHECK(are(z, 1));
  z(i) = 3 * x(i) / y(i) - x(i);
  CHECK(are(z, 2));
  z(i) = sqrt(x(i)) / column(i);
  CHECK(are(z, 1));
  C(i, j) = A(i, j) / B(j, i);
  CHECK(are(C, 2));
  C(i, j) = A(i, j) / x(j) - reciprocal(B(j, i));
  CHECK(are(C, 0.5));
  ricci::local<T> g;
  ricci::fuse(g(i).assign(A(i, j) * y(j)), z(i).assign(sqrt(g(i)) / g(i))).run();
  CHECK(z(0) == Approx(1 / std::sqrt(8.0 * count)));
  CHECK(std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) == 0);
}

}  // namespace

TEST_CASE("quotients set no flag of the floating point environment beside the elements") {
  for (const int count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33}) divides_quietly<double>(count), divides_quietly<float>(count);
}
