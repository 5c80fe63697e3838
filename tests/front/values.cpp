// Numbers beside tensors: values of rank 0, comparisons of them, products of scalars, sums of the larger of two.
#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <limits>

#include <ricci/ricci.hpp>

using namespace ricci::labels;
using complex = std::complex<double>;

namespace {

template <class T>
double real_of(const T& x) {
  if constexpr (std::is_same_v<T, std::complex<float>>) return static_cast<double>(x.real());
  else return static_cast<double>(static_cast<float>(x));
}

/// The scalars of a term are multiplied in double, whether the statement is inlined or planned: alone each is beyond T's range.
template <class T>
void check_scalars() {
  const double tiny = 1e-60, small = 1e-30, large = 1e90, twice = 2;
  ricci::tensor<T, 3> a, c;
  ricci::tensor<T, ricci::dynamic> b(3), d(3);
  for (std::int64_t n = 0; n < 3; ++n) a.data()[n] = b.data()[n] = T(static_cast<float>(n + 1));
  c(i) = tiny * a(i) * small * large * twice;
  d(i) = tiny * b(i) * small * large * twice;
  for (std::int64_t n = 0; n < 3; ++n) {
    CHECK(real_of(c.data()[n]) == 2.0 * static_cast<double>(n + 1));
    CHECK(real_of(d.data()[n]) == 2.0 * static_cast<double>(n + 1));
  }
}

}  // namespace

TEST_CASE("scalars are multiplied in double") {
  check_scalars<float>();
  check_scalars<ricci::half>();
  check_scalars<ricci::bfloat16>();
  check_scalars<std::complex<float>>();
  ricci::tensor<std::complex<float>, 2> a, c;
  a.data()[0] = {1, 2}, a.data()[1] = {3, -1};
  c(i) = complex(0, 1e-60) * a(i) * complex(0, 1e60) * 2;
  CHECK(c.data()[0] == std::complex<float>(-2, -4));
  ricci::tensor<float> s;
  s() = 3;
  const double tiny = 1e-60, large = 1e60;
  const float value = tiny * s() * large;
  CHECK(value == 3.0F);
}

TEST_CASE("values of rank 0 are compared") {
  ricci::tensor<double> s, t;
  s() = 6, t() = 3;
  CHECK((s() == 2 * t()));
  CHECK((2 * t() == s()));
  CHECK((2 * t() == 6.0));
  CHECK((6 == 2 * t()));
  CHECK((s() != t()));
  CHECK((t() < s()));
  CHECK((s() < 3 * t()));
  CHECK((2 * s() > 6));
  CHECK((s() / t() >= 2.0));
  CHECK((1.0 <= s() / t()));
  CHECK((-s() < t()));
  CHECK(!(s() == t() + 1));
  ricci::tensor<float> third;
  third() = 1;
  CHECK((third() / 3.0 == third() / 3.0));
  CHECK((third() / 3.0 == 1.0F / 3.0F));  // the value is a float
  CHECK((third() / 3.0 != 1.0 / 3.0));
  ricci::tensor<complex> x, y;
  x() = complex(1, 2), y() = complex(0.5, 1);
  CHECK((x() == 2 * y()));
  CHECK((x() != y()));
  CHECK((x() == complex(1, 2)));
  CHECK((complex(1, 2) == x()));
  CHECK(!(x() == 1.0));
}

TEST_CASE("the larger of two tensors, summed over a label that occurs once") {
  ricci::tensor<double, 4> a;
  ricci::tensor<double, ricci::dynamic> b(4);
  ricci::tensor<double> zero, s;
  zero() = 0;
  for (std::int64_t n = 0; n < 4; ++n) a.data()[n] = b.data()[n] = n % 2 ? -1.0 : 3.0 + static_cast<double>(n);
  s() = sum(i, max(a(i), zero()));
  CHECK(s.data()[0] == 8);
  s() = sum(i, max(b(i), zero()));
  CHECK(s.data()[0] == 8);
  s() = sum(i, min(b(i), a(i)));
  CHECK(s.data()[0] == 6);
}

TEST_CASE("infinite parts of complex numbers stay apart where the coefficient is 1 or -1") {
  using number = std::complex<double>;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const int n : {2, 8, 13}) {
    ricci::tensor<number, ricci::dynamic, ricci::dynamic> A(n, n), B(n, n), C(n, n);
    A.fill({1, 0.5}), B.fill({0.25, 1}), C.fill({1, 2});
    C(1, 1) = number(infinite, 2);
    C(i, j) = A(i, k) * B(k, j) - C(i, j);
    CHECK((C(1, 1) == number(-infinite, 1.125 * n - 2)));
    C(i, j) += A(i, k) * B(k, j);
    CHECK((C(1, 1) == number(-infinite, 2 * 1.125 * n - 2)));
  }
  ricci::tensor<number, 16> a;
  ricci::tensor<int, 16> table;
  a.fill({1, 2}), a(3) = number(infinite, 2);
  for (int n = 0; n < 16; ++n) table(n) = n % 8;
  ricci::tensor<number, 8> g;
  g(table(i)) += a(i);
  CHECK((g(3) == number(infinite, 4) && g(2) == number(2, 4)));
  g.fill(0);
  g(table(i)) -= a(i);
  CHECK((g(3) == number(-infinite, -4) && g(2) == number(-2, -4)));
}

TEST_CASE("a value of a tensor that was moved from") {
  ricci::tensor<double> s, t = std::move(s);
  t() = 3;
  CHECK(double(2 * t()) == 6);
#ifndef NDEBUG
  CHECK_THROWS_AS(double(2 * s()), ricci::error);
#endif
}

TEST_CASE("numbers of any type are assigned to elements of any type") {
  ricci::tensor<ricci::half> h;
  ricci::tensor<ricci::bfloat16> b;
  ricci::tensor<std::complex<float>> c;
  h() = 2.5, b() = 3, c() = 1000000L;
  CHECK((static_cast<float>(h.data()[0]) == 2.5f && static_cast<float>(b.data()[0]) == 3 && c() == std::complex<float>(1e6f, 0)));
  c() = complex(1, 2);
  CHECK(c() == std::complex<float>(1, 2));
}

TEST_CASE("extents that are constants and enumerators") {
  using namespace ricci::literals;
  enum few { three = 3 };
  enum class some : int { four = 4 };
  ricci::tensor<double, ricci::dynamic, ricci::dynamic, ricci::dynamic> A(3_c, three, some::four);
  CHECK((A.extent(0) == 3 && A.extent(1) == 3 && A.extent(2) == 4));
  CHECK(ricci::view(A.data(), ricci::extents<ricci::dynamic, 12>{3_c}).extent(0) == 3);
}

TEMPLATE_TEST_CASE("signs of zeros are the same in statements that are inlined and in plans", "", float, double, std::complex<double>) {
  using ricci::dynamic;
  ricci::tensor<TestType, 2, 2> a, b, c;
  ricci::tensor<TestType, dynamic, dynamic> A(2, 2), B(2, 2), C(2, 2);
  const auto signs = [](const auto& x) {
    int bits = 0;
    for (const TestType& y : x) bits = 4 * bits + std::signbit(std::real(y)) + 2 * std::signbit(std::imag(y));
    return bits;
  };
  for (const double x : {0.0, -0.0, -1.0})
    for (const double y : {0.0, -0.0}) {
      a.fill(TestType(x)), A.fill(TestType(x)), b.fill(TestType(y)), B.fill(TestType(y));
      INFO("A = " << x << ", B = " << y);
      const auto same = [&](const auto& inlined, const auto& planned) {
        inlined(), planned();
        return signs(c) == signs(C);
      };
      CHECK(same([&] { c(i, j) = b(j, i); }, [&] { C(i, j) = B(j, i); }));
      CHECK(same([&] { c(i, j) = -b(i, j); }, [&] { C(i, j) = -B(i, j); }));
      if constexpr (std::is_floating_point_v<TestType>) {
        CHECK(same([&] { c(i, j) = -2 * b(i, j); }, [&] { C(i, j) = -2 * B(i, j); }));
        CHECK(same([&] { c(i, j) = a(i, j) * b(i, j); }, [&] { C(i, j) = A(i, j) * B(i, j); }));
      } else {
        CHECK(same([&] { c(i, j) = conj(b(i, j)); }, [&] { C(i, j) = conj(B(i, j)); }));
      }
    }
}
