// One statement over and over, with other extents, other memory, other scalars: the plan that is remembered must be the right one each
// time. All numbers are small integers, so every evaluation is exact; all of the memory is compared, also what is between and around.
#include <catch2/catch.hpp>

#include <complex>
#include <random>
#include <thread>
#include <vector>

#include <ricci/ricci.hpp>

using namespace ricci::labels;
using ricci::dynamic;
using ricci::extents;

namespace {

constexpr std::int64_t pool_size = 2000;

template <class T> T number(std::int64_t x) {
  if constexpr (ricci::is_complex(ricci::dtype_of<T>)) return T(static_cast<float>(x % 5 - 2), static_cast<float>(x % 3 - 1));
  else return T(static_cast<float>(x % 7 - 3));
}

/// Where a tensor of any strides is in the pool; the statements see it as a view, the loops as offsets.
struct place {
  std::int64_t at, row, col;
  std::int64_t operator()(std::int64_t x, std::int64_t y = 0) const { return at + x * row + y * col; }
};

/// One statement of each form, run on views of the pool and as loops that read a copy of it.
template <class T> class pool {
 public:
  explicit pool(unsigned seed) : random_(seed), memory_(pool_size) {
    for (std::size_t x = 0; x < memory_.size(); ++x) memory_[x] = number<T>(static_cast<std::int64_t>(x));
  }

  bool step() {
    now_ = expected_ = memory_;
    const int form = draw(0, 9), n = few_[draw(0, 3)];
    const T s = number<T>(draw(0, 14));
    // Vectors that lie alike, or with any steps; the left side's elements share no place.
    const bool dense = draw(0, 1) == 1;
    const std::int64_t step = dense ? 1 : draw(1, 3);
    const place d{draw(0, 900), step, 0}, a{draw(0, 900), dense ? 1 : draw(0, 3), 0}, b{draw(0, 900), dense ? 1 : draw(1, 2), 0};
    const place C{draw(0, 900), n, 1}, A{draw(0, 900), dense ? n : draw(1, 3), dense ? 1 : draw(1, n + 1)}, B{draw(0, 900), n, 1};
    if (dense) dense_statements(form, n, s, d.at, a.at, b.at, C.at, A.at, B.at);
    else strided_statements(form, n, s, d, a, b, C, A, B);
    loops(form, n, s, d, a, b, C, A, B);
    const bool right = now_ == expected_;
    if (!right) UNSCOPED_INFO("form " << form << ", " << n << " a side, dense " << dense);
    memory_ = now_;
    for (T& x : memory_)
      if (std::abs(std::complex<double>(x)) > 1000) x = T(1);  // stays exact
    return right;
  }

 private:
  int draw(int first, int last) { return std::uniform_int_distribution<int>(first, last)(random_); }

  template <class Vector, class Matrix, class Number>
  static void run(int form, T s, const Vector& d, const Vector& a, const Vector& b, const Matrix& C, const Matrix& A, const Matrix& B, const Number& r) {
    switch (form) {
      case 0: d(i) = a(i) + b(i); break;
      case 1: d(i) += s * a(i); break;
      case 2: d(i) = A(i, i) * b(i); break;
      case 3: C(i, j) = A(i, k) * B(k, j); break;
      case 4: C(i, j) = A(j, i); break;
      case 5: d(i) = b(i) - A(i, j) * a(j); break;
      case 6: r() = a(i) * b(i); break;
      case 7: d(i) -= conj(a(i)) * s; break;
      case 8: C(i, j) += A(i, j) - B(i, j); break;
      default: d(i) += A(i, i); break;
    }
  }

  void dense_statements(int form, std::int64_t n, T s, std::int64_t d, std::int64_t a, std::int64_t b, std::int64_t C, std::int64_t A, std::int64_t B) {
    T* const p = now_.data();
    const auto vector = [&](std::int64_t at) { return ricci::view(p + at, extents<dynamic>{n}); };
    const auto matrix = [&](std::int64_t at) { return ricci::view(p + at, extents<dynamic, dynamic>{n, n}); };
    run(form, s, vector(d), vector(a), vector(b), matrix(C), matrix(A), matrix(B), ricci::view(p + d, extents<>{}));
  }

  void strided_statements(int form, std::int64_t n, T s, const place& d, const place& a, const place& b, const place& C, const place& A, const place& B) {
    T* const p = now_.data();
    const auto vector = [&](const place& x) { return ricci::view(p + x.at, {n}, {x.row}); };
    const auto matrix = [&](const place& x) { return ricci::view(p + x.at, {n, n}, {x.row, x.col}); };
    run(form, s, vector(d), vector(a), vector(b), matrix(C), matrix(A), matrix(B), ricci::view(p + d.at, extents<>{}));
  }

  void loops(int form, std::int64_t n, T s, const place& d, const place& a, const place& b, const place& C, const place& A, const place& B) {
    const auto from = [&](std::int64_t at) { return memory_[static_cast<std::size_t>(at)]; };
    const auto to = [&](std::int64_t at) -> T& { return expected_[static_cast<std::size_t>(at)]; };
    const auto conjugate = [](T x) {
      if constexpr (ricci::is_complex(ricci::dtype_of<T>)) return std::conj(x);
      else return x;
    };
    T sum{};
    for (std::int64_t x = 0; x < n; ++x) {
      T row = from(b(x));
      for (std::int64_t y = 0; y < n; ++y) row -= from(A(x, y)) * from(a(y));
      sum += from(a(x)) * from(b(x));
      if (form == 0) to(d(x)) = from(a(x)) + from(b(x));
      if (form == 1) to(d(x)) = from(d(x)) + s * from(a(x));
      if (form == 2) to(d(x)) = from(A(x, x)) * from(b(x));
      if (form == 5) to(d(x)) = row;
      if (form == 7) to(d(x)) = from(d(x)) - conjugate(from(a(x))) * s;
      if (form == 9) to(d(x)) = from(d(x)) + from(A(x, x));
      for (std::int64_t y = 0; y < n; ++y) {
        T product{};
        for (std::int64_t z = 0; z < n; ++z) product += from(A(x, z)) * from(B(z, y));
        if (form == 3) to(C(x, y)) = product;
        if (form == 4) to(C(x, y)) = from(A(y, x));
        if (form == 8) to(C(x, y)) = from(C(x, y)) + from(A(x, y)) - from(B(x, y));
      }
    }
    if (form == 6) to(d.at) = sum;
  }

  std::mt19937 random_;
  std::vector<T> memory_, now_, expected_;
  std::vector<int> few_{draw(0, 4), draw(1, 9), draw(5, 20), draw(8, 20)};  // sides come again
};

}  // namespace

TEMPLATE_TEST_CASE("other extents, memory and scalars each time", "", float, double, std::complex<float>, std::complex<double>) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    pool<TestType> p(seed);
    for (int n = 0; n < 250; ++n) {
      INFO("seed " << seed << ", statement " << n);
      REQUIRE(p.step());
    }
  }
}

TEST_CASE("on threads that come and go, each with plans of its own") {
  std::vector<char> right(6, 1);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> team;
    for (std::size_t t = 0; t < right.size(); ++t)
      team.emplace_back([&, t] {
        pool<double> p(static_cast<unsigned>(100 + t));
        for (int n = 0; n < 100; ++n) right[t] = right[t] && p.step();
      });
    for (std::thread& t : team) t.join();
  }
  CHECK(right == std::vector<char>(6, 1));
}

TEST_CASE("memory that is missing is found out each time") {
  std::vector<double> x{1, 2, 3}, y{4, 5, 6}, none;
  const auto run = [](double* to, const double* from, std::int64_t n) {
    const auto d = ricci::view(to, extents<dynamic>{n});
    const auto a = ricci::view(from, extents<dynamic>{n});
    d(i) += a(i);
  };
  for (int again = 0; again < 3; ++again) {
    run(x.data(), y.data(), 3);
    CHECK_THROWS_AS(run(nullptr, y.data(), 3), ricci::error);
    CHECK_THROWS_AS(run(x.data(), nullptr, 3), ricci::error);
    run(nullptr, nullptr, 0);
    run(x.data(), nullptr, 0);
  }
  CHECK(x == std::vector<double>{13, 17, 21});
}

TEST_CASE("more extents than are remembered") {
  constexpr std::int64_t most = 400;
  std::vector<double> a(most), d(most), expected(most);
  for (int round = 0; round < 2; ++round)
    for (std::int64_t n = 1; n <= most; ++n) {
      for (std::int64_t x = 0; x < most; ++x) {
        const auto at = static_cast<std::size_t>(x);
        a[at] = static_cast<double>(x + n), d[at] = -1, expected[at] = x < n ? 2 * a[at] : -1;
      }
      const auto from = ricci::view(a.data(), extents<dynamic>{n});
      const auto to = ricci::view(d.data(), extents<dynamic>{n});
      to(i) = from(i) + from(i);
      INFO(n << " numbers");
      REQUIRE((d == expected));
    }
}

TEST_CASE("more distances of one overlap than are remembered") {
  std::vector<double> v(60), before, expected;
  for (int round = 0; round < 3; ++round)
    for (std::int64_t shift = -20; shift <= 20; ++shift) {
      for (std::size_t x = 0; x < v.size(); ++x) v[x] = static_cast<double>(x * x % 17);
      before = v;
      const auto to = ricci::view(v.data() + 20, extents<dynamic>{20});
      const auto from = ricci::view(v.data() + 20 + shift, extents<dynamic>{20});
      to(i) = from(i) + from(i);
      expected = before;
      for (std::int64_t x = 20; x < 40; ++x) expected[static_cast<std::size_t>(x)] = 2 * before[static_cast<std::size_t>(x + shift)];
      INFO("shift " << shift);
      REQUIRE((v == expected));
    }
}

TEMPLATE_TEST_CASE("diagonals and columns of every length", "", float, double, std::complex<float>, std::complex<double>, ricci::half) {
  using T = TestType;
  for (std::int64_t n = 0; n <= 70; ++n) {
    ricci::tensor<T, dynamic, dynamic> A(n, n);
    ricci::tensor<T, dynamic> b(n), c(n), d(n), e(n);
    for (std::int64_t x = 0; x < A.size(); ++x) A.data()[x] = number<T>(x);
    for (std::int64_t x = 0; x < n; ++x) b(x) = number<T>(3 * x + 1), e(x) = number<T>(x);
    c(i) = A(i, i);
    d(i) = A(i, i) * b(i);
    e(i) += A(i, i);
    for (std::int64_t x = 0; x < n; ++x) {
      REQUIRE(c(x) == A(x, x));
      REQUIRE(d(x) == T(A(x, x) * b(x)));
      REQUIRE(e(x) == T(number<T>(x) + A(x, x)));
    }
    if (n < 3) continue;
    c(i) = A(i, 2);
    d(i) = number<T>(4) * A(i, 1) - A(2, i);
    for (std::int64_t x = 0; x < n; ++x) {
      REQUIRE(c(x) == A(x, 2));
      REQUIRE(d(x) == T(number<T>(4) * A(x, 1) - A(2, x)));
    }
  }
}

TEMPLATE_TEST_CASE("few elements that lie in any order", "", float, double, std::complex<float>, std::complex<double>, ricci::half, ricci::bfloat16) {
  using T = TestType;
  for (std::int64_t m = 0; m <= 5; ++m)
    for (std::int64_t n = 0; n <= 5; ++n) {
      ricci::tensor<T, dynamic, dynamic, dynamic> X(m, 3, n), Y(n, 3, m), Z(3, n, m);
      ricci::tensor<T, dynamic, dynamic> A(m + 1, n + 1);
      ricci::tensor<T, dynamic> d(m + 1), e(n + 1);
      for (std::int64_t x = 0; x < X.size(); ++x) X.data()[x] = number<T>(x);
      for (std::int64_t x = 0; x <= m; ++x) d(x) = number<T>(2 * x + 1);
      for (std::int64_t x = 0; x <= n; ++x) e(x) = number<T>(x + 3);
      INFO(m << " x 3 x " << n);
      Y(k, j, i) = X(i, j, k);
      Z(j, k, i) = X(i, j, k);
      A(i, n) = d(i);
      A(m, j) = e(j);
      for (std::int64_t x = 0; x < m; ++x)
        for (std::int64_t z = 0; z < n; ++z)
          for (std::int64_t y = 0; y < 3; ++y) {
            REQUIRE(Y(z, y, x) == X(x, y, z));
            REQUIRE(Z(y, z, x) == X(x, y, z));
          }
      for (std::int64_t x = 0; x < m; ++x) REQUIRE(A(x, n) == d(x));
      for (std::int64_t z = 0; z <= n; ++z) REQUIRE(A(m, z) == e(z));
      for (std::int64_t x = 0; x < m; ++x)
        for (std::int64_t z = 0; z < n; ++z) REQUIRE(A(x, z) == T(0.0f));
    }
}
