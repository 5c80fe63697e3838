// Batches, views of their matrices, groups of matrices that live anywhere, and their products.
#include <catch2/catch.hpp>

#include <ricci/ricci.hpp>

#include <atomic>
#include <limits>
#include <sstream>

#ifdef RICCI_TEST_EIGEN
#include <ricci/eigen.hpp>
#endif

using namespace ricci::labels;
using namespace ricci::literals;
using ricci::of_size;

extern std::atomic<long> allocations;  // counted in tests/engine/count_new.cpp
extern const bool allocations_are_counted;

namespace {

/// Small integers that differ along every axis: every result is exact.
template <class B>
void count_up(B& batch, int start) {
  int x = start;
  for (auto& e : batch.as_tensor()) e = static_cast<typename B::value_type>(static_cast<float>((x = (x * 7 + 3) % 11) - 5));
}

/// beta old + alpha a b of matrix e, for any three things with b(e)(i, j).
template <class A, class B, class C, class D>
bool is_product(double alpha, const A& x, const B& y, double beta, const D& old, const C& z) {
  for (std::int64_t at = 0; at < z.size(); ++at) {
    const auto p = x(at);
    const auto q = y(at);
    const auto r = z(at);
    for (std::int64_t row = 0; row < z.rows(); ++row)
      for (std::int64_t col = 0; col < z.cols(); ++col) {
        double sum = beta == 0 ? 0 : beta * static_cast<double>(old(at)(row, col));
        for (std::int64_t in = 0; in < x.cols(); ++in) sum += alpha * static_cast<double>(p(row, in)) * static_cast<double>(q(in, col));
        if (static_cast<double>(r(row, col)) != sum) return false;
      }
  }
  return true;
}

}  // namespace

TEST_CASE("a moved-from batch and a moved-from group are empty") {
  auto x = ricci::make_batch<double>(of_size(2_c, 3_c), 4);
  auto y = ricci::make_batch<double>(of_size(3, 2), 4, ricci::interleaved<8>);
  count_up(x, 1), count_up(y, 2);
  ricci::group<double> g(of_size(2_c, 3_c));
  for (int matrix = 0; matrix < 4; ++matrix) g.push_back(x(matrix));
  const auto product = x * y;
  auto z = std::move(x);
  const auto w = std::move(y);
  auto h = std::move(g);
  CHECK(z * w == product);
  CHECK(h * w == product);
  CHECK(x.size() + y.size() + g.size() == 0);
  x.fill(1), y.fill(1);
  for (double element : x) CHECK(element == 2);
  for (double element : y) CHECK(element == 2);
  CHECK(x == ricci::make_batch<double>(of_size(2, 3), 0));
  CHECK((y * y).size() == 0);
  CHECK_THROWS_WITH(x * w, Catch::Contains("R021"));
  CHECK_THROWS_WITH(h * y, Catch::Contains("R021"));
  CHECK_THROWS_WITH(x(0), Catch::Contains("no matrix 0"));
  CHECK_THROWS_WITH(g(0), Catch::Contains("no matrix 0"));
  g.push_back(z(3));
  CHECK(g(0)(1, 2) == z(3, 1, 2));
  x = z;
  CHECK(x == z);
}

TEST_CASE("batches compare, print and are walked through") {
  auto x = ricci::make_batch<float>(of_size(2_c, 2_c), 2);
  int count = 0;
  for (auto& element : x) element = static_cast<float>(++count);
  CHECK(count == 8);
  CHECK(x(1, 0, 1) == 6);
  auto y = x;
  CHECK(x == y);
  y(1, 1, 1) = 0;
  CHECK(x != y);
  CHECK(x == ricci::interleave<8>(x));
  CHECK(std::as_const(x) != ricci::make_batch<float>(of_size(2, 2), 3));
  std::ostringstream text;
  text << x;
  CHECK(text.str() == "[[[1, 2],\n  [3, 4]],\n [[5, 6],\n  [7, 8]]]");
}

TEST_CASE("the batch of the papers") {
  auto x = ricci::make_batch<double>(of_size(5_c, 5_c), 15);
  auto y = ricci::make_batch<double>(of_size(5_c, 5_c), 15);
  STATIC_REQUIRE(decltype(x)::static_rows == 5);
  CHECK(x.size() == 15);
  CHECK(x.rows() == 5);
  count_up(x, 1), count_up(y, 2);

  auto view = x(3);
  view(1, 2) = 42;
  CHECK(x(3, 1, 2) == 42);
  CHECK(x.data()[3 * 25 + 7] == 42);
  view(i, j) = y(4)(j, i);
  CHECK(x(3, 1, 2) == y(4, 2, 1));

  auto z = x * y;
  STATIC_REQUIRE(std::is_same_v<decltype(z), ricci::batch<double, 5, 5>>);
  CHECK(is_product(1, x, y, 0, z, z));

  const auto before = z;
  ricci::batch_gemm(2.0, x, y, -1.0, z);
  CHECK(is_product(2, x, y, -1, before, z));
  for (auto& element : z.as_tensor()) element = std::numeric_limits<double>::quiet_NaN();
  ricci::batch_gemm(1, x, y, 0.0, z);
  CHECK(is_product(1, x, y, 0, z, z));

  ricci::group<double> g(of_size(5_c, 5_c));
  g.push_back(view);
  CHECK(g.size() == 1);
  CHECK(g(0)(1, 2) == view(1, 2));

  const std::size_t count = 15;  // any integers, without a warning
  const auto same = ricci::make_batch<double>(of_size(count - 10, 5u), count);
  CHECK(same.size() == 15);
  CHECK(same(count - 1)(4, 4) == 0);
  CHECK(g(count - 15).data() == g(0_c).data());
}

#ifdef RICCI_FEW_TYPES
TEMPLATE_TEST_CASE("static, dynamic and mixed sizes", "", double, ricci::half) {
#else
TEMPLATE_TEST_CASE("static, dynamic and mixed sizes", "", float, double, ricci::half, ricci::bfloat16) {
#endif
  const auto run = [](const auto& xs, const auto& ys, std::int64_t count) {
    auto x = ricci::make_batch<TestType>(xs, count);
    auto y = ricci::make_batch<TestType>(ys, count);
    x.fill(1), y.fill(1);
    if (count > 0) x(0).fill(2), y(count - 1).fill(3);
    const auto z = x * y;
    CHECK(z.rows() == xs.rows);
    CHECK(z.cols() == ys.cols);
    CHECK(is_product(1, x, y, 0, z, z));
  };
  for (const std::int64_t count : {0, 1, 17}) {
    run(of_size(3_c, 4_c), of_size(4_c, 2_c), count);
    run(of_size(3, 4_c), of_size(4, 2_c), count);
    run(of_size(3_c, 4), of_size(4_c, 2), count);
    run(of_size(9, 1), of_size(1, 6), count);
    run(of_size(2, 0), of_size(0, 2), count);
    run(of_size(0_c, 3_c), of_size(3_c, 0_c), count);
  }
}

TEST_CASE("batches are tensors of index notation") {
  auto x = ricci::make_batch<double>(of_size(4_c, 3_c), 6);
  auto y = ricci::make_batch<double>(of_size(3, 5), 6);
  count_up(x, 3), count_up(y, 4);
  auto z = ricci::make_batch<double>(of_size(4_c, 5), 6);
  z(e, i, j) = x(e, i, k) * y(e, k, j);
  CHECK(is_product(1, x, y, 0, z, z));
  const auto& constant = x;
  ricci::tensor<double, 4, 3> sums;
  sums(i, k) = sum(e, constant(e, i, k));
  double first = 0;
  for (int at = 0; at < 6; ++at) first += constant(at)(2, 1);
  CHECK(sums(2, 1) == first);
}

TEST_CASE("groups of matrices that live anywhere") {
  ricci::tensor<double, 4, 4> dense;
  ricci::tensor<double, 4, 4, ricci::column_major> columns;
  ricci::tensor<double, 9, 11> large;
  auto x = ricci::make_batch<double>(of_size(4, 4), 3);
  auto y = ricci::make_batch<double>(of_size(4, 4), 5);
  auto z = ricci::make_batch<double>(of_size(4, 4), 5);
  count_up(x, 1), count_up(y, 2), count_up(z, 3);
  int value = 0;
  for (auto* matrix : {&dense}) for (double& element : *matrix) element = ++value % 7;
  for (double& element : columns) element = ++value % 5;
  for (double& element : large) element = ++value % 3;

  ricci::group<double> g(of_size(4_c, 4));
  g.push_back(x(2));
  g.push_back(dense);
  g.push_back(columns);
  g.push_back(ricci::view(large.data() + 13, {4, 4}, {22, 2}));
  g.push_back(x(0));
  CHECK(g.size() == 5);
  CHECK(g(2)(3, 1) == columns(3, 1));
  CHECK(is_product(1, g, y, 0, g * y, g * y));
  const auto before = z;
  ricci::batch_gemm(1.0, y, g, 3.0, z);
  CHECK(is_product(1, y, g, 3, before, z));

  ricci::group<double, 4, 4> into(of_size(4_c, 4_c));
  ricci::tensor<double, 5, 4, 4, ricci::column_major> places;
  for (int at = 0; at < 5; ++at) into.push_back(ricci::view(places.data() + at, {4, 4}, {5, 20}));
  ricci::batch_gemm(1.0, g, y, 0.0, into);
  CHECK(is_product(1, g, y, 0, into, into));

  const auto& fixed = x;
  ricci::group<const double> read_only(of_size(4, 4));
  read_only.push_back(fixed(1));
  read_only.push_back(fixed(1));
  CHECK(is_product(1, read_only, read_only, 0, read_only * read_only, read_only * read_only));
}

TEST_CASE("complex batches") {
  using complex = std::complex<double>;
  auto x = ricci::make_batch<complex>(of_size(2_c, 3_c), 4);
  auto y = ricci::make_batch<complex>(of_size(3_c, 2_c), 4);
  x.fill({1, 2}), y.fill({3, -1});
  auto z = x * y;
  CHECK(z(3, 1, 1) == 3.0 * complex(1, 2) * complex(3, -1));
  ricci::batch_gemm(complex(0, 1), x, y, 1.0, z);
  CHECK(z(3, 1, 1) == complex(1, 1) * 3.0 * complex(1, 2) * complex(3, -1));
}

TEST_CASE("what does not fit is said") {
  auto x = ricci::make_batch<float>(of_size(2, 3), 4), y = ricci::make_batch<float>(of_size(4, 3), 4);
  auto z = ricci::make_batch<float>(of_size(3, 3), 5);
  CHECK_THROWS_WITH(x * y, Catch::Contains("R021") && Catch::Contains("2 x 3 times 4 x 3"));
  CHECK_THROWS_WITH(x * z, Catch::Contains("4, 5 and 4 matrices"));
  CHECK_THROWS_WITH(x(4), Catch::Contains("no matrix 4"));
  CHECK_THROWS_WITH(x(-1), Catch::Contains("no matrix -1"));
  CHECK_THROWS_AS(ricci::make_batch<float>(of_size(2, 3), -1), ricci::error);
  CHECK_THROWS_AS(ricci::make_batch<float>(of_size(2, -3), 1), ricci::error);
  ricci::group<float> g(of_size(2, 2));
  CHECK_THROWS_WITH(g.push_back(x(0)), Catch::Contains("2 x 3 in a group of 2 x 2"));
  CHECK_THROWS_AS(g(0), ricci::error);
  CHECK_THROWS_WITH(g.push_back(ricci::view(static_cast<float*>(nullptr), {2, 2}, {2, 1})), Catch::Contains("null"));
  CHECK(g.empty());
  ricci::group<float> none(of_size(0, 2));
  none.push_back(ricci::view(static_cast<float*>(nullptr), {0, 2}, {2, 1}));  // nothing is there, and nothing is needed
  CHECK(none.size() == 1);
}

TEST_CASE("a group grows by more than one matrix at a time") {
  if (!allocations_are_counted) return;  // under the thread sanitizer
  const std::int64_t count = 4096;
  const auto x = ricci::make_batch<double>(of_size(2, 2), count);
  ricci::group<const double> g(of_size(2, 2));
  const long before = allocations;
  for (std::int64_t at = 0; at < count; ++at) g.push_back(x(at));
  CHECK(g.size() == count);
  CHECK(allocations > before);
  CHECK(allocations - before < 64);
}

#ifdef RICCI_TEST_EIGEN
TEST_CASE("matrices of Eigen in a group, matrices of a batch in Eigen") {
  Eigen::Matrix<double, 3, 3> eigen;
  eigen << 1, 2, 3, 4, 5, 6, 7, 8, 9;
  auto x = ricci::make_batch<double>(of_size(3_c, 3_c), 2);
  x(0)(i, j) = ricci::view(eigen)(i, j);
  ricci::map(x(1)) = 2 * ricci::map(x(0)).transpose() * eigen;
  const Eigen::Matrix3d expected = 2 * eigen.transpose() * eigen;
  CHECK(ricci::map(x(1)) == expected);
  ricci::group<double> g(of_size(3, 3));
  g.push_back(ricci::view(eigen));
  g.push_back(x(1));
  const auto z = g * g;
  CHECK(ricci::map(z(0)) == (eigen * eigen).eval());
  CHECK(ricci::map(z(1)) == (expected * expected).eval());
}
#endif
