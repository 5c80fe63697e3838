// Interleaved tensors: memory, elements, and statements that mean what they mean for plain tensors.
#include <catch2/catch.hpp>

#include <ricci/ricci.hpp>

#include <cstring>
#include <sstream>

using namespace ricci::labels;
using namespace ricci::literals;
using ricci::dynamic;
using ricci::interleaved;

namespace {

/// Small integers that differ along every axis: every result is exact.
template <class Tensor>
void count_up(Tensor& t, int start) {
  int x = start;
  for (auto& element : t) element = static_cast<typename Tensor::value_type>(static_cast<float>((x = (x * 7 + 3) % 11) - 5));
}

template <class T, int W> using stack = ricci::tensor<T, dynamic, 3, 4, interleaved<W>>;
template <class T> using plain = ricci::tensor<T, dynamic, 3, 4>;

/// What lies behind the last problem of the last block.
template <class Tensor>
void poison_rest(Tensor& t) {
  const std::int64_t width = Tensor::shape_type::width, block = t.view().block(), count = t.extent(0);
  for (std::int64_t at = count / width * block; at < (count + width - 1) / width * block; ++at)
    if (at % width >= count % width) t.data()[at] = std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

TEST_CASE("lane l of block b is problem 8b + l") {
  ricci::tensor<double, dynamic, 3, 4, interleaved<8>> A(19);
  CHECK(A.extent(0) == 19);
  CHECK(A.size() == 19 * 12);
  for (int at = 0; at < 19; ++at)
    for (int row = 0; row < 3; ++row)
      for (int col = 0; col < 4; ++col) A(at, row, col) = 100 * at + 10 * row + col;
  CHECK(A.data()[8 * 12 * 2 + (1 * 4 + 3) * 8 + 2] == 1813);
  CHECK(A.stride(1) == 32);
  CHECK(A.stride(2) == 8);
  CHECK_THROWS_AS(A.stride(0), ricci::error);
  std::int64_t count = 0;
  bool in_order = true;
  for (const double x : A) {
    in_order = in_order && x == static_cast<double>(count / 12 * 100 + count / 4 % 3 * 10 + count % 4);
    ++count;
  }
  CHECK(in_order);
  CHECK(count == A.size());
  auto copy = A;
  CHECK(copy == A);
  copy(18, 2, 3) = 0;
  CHECK_FALSE(copy == A);
  const auto moved = std::move(copy);
  CHECK(moved(17, 1, 1) == 1711);
}

TEST_CASE("assignment keeps memory that is as large, its last block included") {
  ricci::tensor<double, dynamic, dynamic, interleaved<8>> A(8, 5), B(5, 8), C(3, 8);
  count_up(B, 3), count_up(C, 4);
  A = B;  // as many elements, in 64 places instead of 40
  CHECK(A.extent(0) == 5);
  CHECK(A == B);
  const double* const before = A.data();
  A = C;
  CHECK(A.data() == before);
  CHECK(A == C);
}

TEST_CASE("interleave and deinterleave") {
  for (const int count : {0, 1, 7, 8, 9, 29}) {
    plain<float> A(count);
    count_up(A, 4);
    const auto B = ricci::interleave<8>(A);
    STATIC_REQUIRE(std::is_same_v<decltype(B), const stack<float, 8>>);
    CHECK(B == A);
    const auto C = ricci::deinterleave(B);
    STATIC_REQUIRE(std::is_same_v<decltype(C), const plain<float>>);
    CHECK(C == A);
    CHECK(ricci::interleave<3>(B) == A);
  }
  ricci::tensor<double, 5, 2> fixed;
  count_up(fixed, 2);
  const auto wide = ricci::interleave<4>(fixed);
  STATIC_REQUIRE(std::is_same_v<decltype(wide), const ricci::tensor<double, 5, 2, interleaved<4>>>);
  CHECK(wide == fixed);
  std::ostringstream one, other;
  one << wide, other << fixed;
  CHECK(one.str() == other.str());
}

TEMPLATE_TEST_CASE("interleave and deinterleave index tensors", "", std::int32_t, std::int64_t) {
  ricci::tensor<TestType, dynamic, 3> dof(13);
  for (int at = 0; at < 13; ++at)
    for (int node = 0; node < 3; ++node) dof(at, node) = static_cast<TestType>((5 * at + node) % 20);
  const auto lanes = ricci::interleave<8>(dof);
  CHECK(lanes.extent(0) == 13);
  CHECK(lanes.data()[8 * 2 + 3] == dof(3, 2));
  CHECK(lanes == dof);
  CHECK(ricci::deinterleave(lanes) == dof);
  CHECK(ricci::interleave<4>(ricci::view(dof.data(), {3, 13}, {1, 3}))(2, 12) == dof(12, 2));

  ricci::tensor<double, dynamic> u(20);
  count_up(u, 1);
  ricci::tensor<double, dynamic, 3> there(13), here(13);
  there(e, a) = u(dof(e, a));
  here(e, a) = u(lanes(e, a));
  CHECK(there == here);
}

#ifdef RICCI_FEW_TYPES
TEMPLATE_TEST_CASE("products, whatever is interleaved", "", double, std::complex<float>, ricci::half) {
#else
TEMPLATE_TEST_CASE("products, whatever is interleaved", "", float, double, std::complex<float>, std::complex<double>, ricci::half) {
#endif
  using T = TestType;
  for (const int count : {1, 5, 8, 16, 21}) {
    plain<T> A(count), X(count);
    ricci::tensor<T, dynamic, 4, 3> B(count);
    ricci::tensor<T, dynamic, 3, 3> C(count);
    count_up(A, 1), count_up(B, 2), count_up(C, 3);
    auto a = ricci::interleave<8>(A);
    auto b = ricci::interleave<8>(B);
    auto c = ricci::interleave<8>(C);
    poison_rest(a), poison_rest(b), poison_rest(c);
    INFO("count " << count);
    C(e, i, j) = A(e, i, k) * B(e, k, j);
    c(e, i, j) = a(e, i, k) * b(e, k, j);
    CHECK(c == C);
    C(e, i, j) += 2 * A(e, i, k) * B(e, k, j) - C(e, j, i);
    c(e, i, j) += 2 * A(e, i, k) * b(e, k, j) - c(e, j, i);
    CHECK(c == C);
    ricci::tensor<T, dynamic, 3, 3> from_lanes(count);
    from_lanes(e, i, j) = a(e, i, k) * b(e, k, j);
    C(e, i, j) = A(e, i, k) * B(e, k, j);
    CHECK(from_lanes == C);
    c(e, i, j) = A(e, i, k) * B(e, k, j);
    CHECK(c == C);
  }
}

TEST_CASE("a shared factor, sums over problems, diagonals, constants") {
  for (const int count : {3, 8, 20}) {
    plain<double> A(count);
    count_up(A, 1);
    auto a = ricci::interleave<8>(A);
    poison_rest(a);
    ricci::tensor<double, 4, 4> M, S, s;
    count_up(M, 5);
    plain<double> C(count);
    auto c = ricci::interleave<8>(C);
    INFO("count " << count);

    C(e, i, j) = A(e, i, k) * M(k, j);
    c(e, i, j) = a(e, i, k) * M(k, j);
    CHECK(c == C);

    S(k, j) = A(e, i, k) * A(e, i, j);
    s(k, j) = a(e, i, k) * a(e, i, j);
    CHECK(s == S);
    S(k, j) -= A(e, i, k) * A(e, i, j);
    s(k, j) -= a(e, i, k) * a(e, i, j);
    CHECK(s == S);

    ricci::tensor<double> T, t;
    T() = sum(e, sum(i, sum(j, A(e, i, j))));
    t() = sum(e, sum(i, sum(j, a(e, i, j))));
    CHECK(t() == T());

    ricci::tensor<double, 3, 4> R, r;
    R(i, j) = 3 * A(2, i, j);
    r(i, j) = 3 * a(2, i, j);
    CHECK(r == R);
    A(1, i, j) = A(2, i, j);
    a(1, i, j) = a(2, i, j);
    CHECK(a == A);
    A(count - 1, i, 2) += A(0, i, 1_c);
    a(count - 1, i, 2) += a(0, i, 1_c);
    CHECK(a == A);
  }
  ricci::tensor<double, 9, 9, 2> D;
  count_up(D, 1);
  const auto d_lanes = ricci::interleave<4>(D);
  ricci::tensor<double, 9, 2> X, x;
  X(i, j) = D(i, i, j);
  x(i, j) = d_lanes(i, i, j);
  CHECK(x == X);
  ricci::tensor<double, 2> Y, y;
  Y(j) = D(i, i, j);
  y(j) = d_lanes(i, i, j);
  CHECK(y == Y);
}

TEST_CASE("ranges that begin and end inside of blocks") {
  const int count = 30;
  plain<double> A(count), C(count);
  count_up(A, 1), count_up(C, 2);
  const auto a = ricci::interleave<8>(A);
  for (const auto& [first, last] : {std::pair{0, 8}, {3, 7}, {3, 8}, {5, 30}, {8, 24}, {9, 17}, {12, 12}}) {
    auto c = ricci::interleave<8>(C);
    auto want = C;
    INFO(first << ":" << last);
    want(e.in(first, last), i, j) += 2 * A(e, i, j);
    c(e.in(first, last), i, j) += 2 * a(e, i, j);
    CHECK(c == want);
    // The range holds for the label: a dense tensor of another extent sees the same problems.
    plain<double> part(last - first);
    const auto moved = ricci::view(part.data() - 12 * first, ricci::extents<dynamic, 3, 4>{last});
    moved(e, i, j) = a(e.in(first, last), i, j);
    bool equal = true;
    for (int at = first; at < last; ++at) equal = equal && part(at - first, 2, 3) == A(at, 2, 3);
    CHECK(equal);
  }
}

TEST_CASE("different widths, different labels, one tensor with itself") {
  const int count = 13;
  plain<double> A(count), B(count);
  count_up(A, 1), count_up(B, 2);
  ricci::tensor<double, dynamic, dynamic> G(count, count);
  ricci::tensor<double, dynamic, dynamic, interleaved<4>> g(count, count);
  const auto a = ricci::interleave<8>(A);
  const auto b = ricci::interleave<3>(B);
  G(e, f) = A(e, i, j) * B(f, i, j);
  g(e, f) = a(e, i, j) * b(f, i, j);
  CHECK(g == G);

  plain<double> C(count);
  auto c = ricci::interleave<8>(C);
  C(e, i, j) = A(e, i, j) + 2 * B(e, i, j);
  c(e, i, j) = a(e, i, j) + 2 * b(e, i, j);
  CHECK(c == C);

  // What is read of a tensor lies in other problems than what is written.
  auto w = ricci::interleave<8>(A);
  auto W = A;
  W(e, i, j) = G(e, f) * W(f, i, j);
  w(e, i, j) = G(e, f) * w(f, i, j);
  CHECK(w == W);
  ricci::tensor<double, dynamic, dynamic> U = G;
  auto u = ricci::interleave<4>(U);
  U(e, f) = U(f, e);
  u(e, f) = u(f, e);
  CHECK(u == U);
}

TEST_CASE("plans and fused programs") {
  for (const int count : {8, 21}) {
    plain<double> A(count);
    count_up(A, 1);
    auto a = ricci::interleave<8>(A);
    ricci::tensor<double, 4, 4> M;
    count_up(M, 3);
    plain<double> C(count);
    auto c = ricci::interleave<8>(C);
    const auto plan = ricci::plan(c(e, i, j).assign(a(e, i, k) * M(k, j)));
    C(e, i, j) = A(e, i, k) * M(k, j);
    plan.run();
    CHECK(c == C);
    a(count - 1, 2, 2) += 5, A(count - 1, 2, 2) += 5;
    C(e, i, j) = A(e, i, k) * M(k, j);
    plan.run();
    CHECK(c == C);
    CHECK(plan.flops() == 2.0 * count * 3 * 4 * 4);
    std::ostringstream text;
    text << plan;
    CHECK(text.str().find("e%8") != std::string::npos);

    ricci::local<double> h, t;
    plain<double> V(count);
    auto v = ricci::interleave<8>(V);
    const auto fused = ricci::fuse(h(e, i, j).assign(a(e, i, k) * M(k, j)), v(e, i, j).assign(h(e, i, k) * M(k, j)));
    fused.run();
    V(e, i, j) = A(e, i, k) * M(k, l) * M(l, j);
    CHECK(v == V);

    // A sum over all problems before they are used again: not one part after the other.
    ricci::tensor<double, dynamic, 3, 3> R(count);
    auto r = ricci::interleave<8>(R);
    const auto sums = ricci::fuse(t(i, j).assign(sum(e, a(e, i, j))), r(e, i, l).assign(a(e, i, k) * t(l, k)));
    sums.run();
    ricci::tensor<double, 3, 4> total;
    total(i, j) = sum(e, A(e, i, j));
    R(e, i, j) = A(e, i, k) * total(j, k);
    CHECK(r == R);
  }
}

TEST_CASE("interleaved memory of somebody else") {
  plain<float> A(10);
  count_up(A, 2);
  auto a = ricci::interleave<4>(A);
  const auto v = ricci::view(a.data(), ricci::extents<dynamic, 3, 4, interleaved<4>>{10});
  CHECK(v == A);
  v(e, i, j) = 2 * A(e, i, j);
  CHECK(a(9, 2, 3) == 2 * A(9, 2, 3));
  const float* const constant = a.data();
  const auto w = ricci::view(constant, ricci::extents<dynamic, 3, 4, interleaved<4>>{10});
  A(e, i, j) = w(e, i, j);
  CHECK(a == A);
  ricci::tensor<double, 17, interleaved<8>> numbers;
  numbers.fill(2);
  ricci::tensor<double> total;
  total() = sum(i, numbers(i));
  CHECK(total() == 34);
}

TEST_CASE("functions and index tensors") {
  const int count = 13;
  plain<double> A(count), C(count);
  count_up(A, 1);
  const auto a = ricci::interleave<8>(A);
  auto c = ricci::interleave<8>(C);
  C(e, i, j) = abs(A(e, i, j));
  c(e, i, j) = abs(a(e, i, j));
  CHECK(c == C);
  ricci::tensor<std::int32_t, 4> order;
  for (int at = 0; at < 4; ++at) order.data()[at] = (at + 2) % 4;
  C(e, i, j) = A(e, i, order(j));
  c(e, i, j) = a(e, i, order(j));
  CHECK(c == C);
  C(e, i, order(j)) += A(e, i, j);
  c(e, i, order(j)) += a(e, i, j);
  CHECK(c == C);
  // Which problem is not for a table to say, nor what a copy would have to hold.
  ricci::tensor<std::int32_t, dynamic> problems(count);
  const auto before = c;
  CHECK_THROWS_WITH((c(e, i, j) = a(problems(e), i, j)), Catch::Contains("deinterleave"));
  CHECK_THROWS_WITH((c(problems(e), i, j) += A(e, i, j)), Catch::Contains("deinterleave"));
  const auto b = ricci::interleave<3>(A);
  CHECK_THROWS_WITH((C(e, i, j) = b(e, i, order(j)) * a(e, i, j)), Catch::Contains("deinterleave"));
  CHECK(c == before);
}

TEST_CASE("strict options refuse copies") {
  plain<double> A(9), B(9);
  const auto a = ricci::interleave<8>(A);
  const auto b = ricci::interleave<4>(B);
  plain<double> C(9);
  CHECK_THROWS_AS(ricci::plan(C(e, i, j).assign(a(e, i, j) + b(e, i, j)), {.strict = true}), ricci::error);
  CHECK_NOTHROW(ricci::plan(C(e, i, j).assign(a(e, i, j)), {.strict = true}).run());
}

TEST_CASE("einsum takes interleaved operands") {
  plain<double> A(11);
  ricci::tensor<double, dynamic, 4, 2> B(11);
  count_up(A, 1), count_up(B, 2);
  const auto C = ricci::einsum<"eik,ekj->eij">(A, B);
  const auto c = ricci::einsum<"eik,ekj->eij">(ricci::interleave<8>(A), ricci::interleave<8>(B));
  CHECK(c == C);
}

TEST_CASE("interleaved batches") {
  for (const int count : {1, 8, 19}) {
    auto x = ricci::make_batch<double>(ricci::of_size(5_c, 3_c), count);
    auto y = ricci::make_batch<double>(ricci::of_size(3_c, 4_c), count);
    count_up(x.as_tensor(), 1), count_up(y.as_tensor(), 2);
    const auto z = x * y;
    auto xi = ricci::interleave<8>(x);
    auto yi = ricci::make_batch<double>(ricci::of_size(3_c, 4_c), count, interleaved<8>);
    yi(e, i, j) = y(e, i, j);
    CHECK(yi(count - 1)(2, 3) == y(count - 1)(2, 3));
    xi(0)(4, 2) = x(0)(4, 2);
    poison_rest(xi.as_tensor()), poison_rest(yi.as_tensor());
    auto zi = ricci::make_batch<double>(ricci::of_size(5_c, 4_c), count, interleaved<8>);
    ricci::batch_gemm(1.0, xi, yi, 0.0, zi);
    CHECK(zi.as_tensor() == z.as_tensor());
    ricci::batch_gemm(-1.0, x, yi, 1.0, zi);
    zi.fill(0);
    ricci::batch_gemm(1.0, xi, y, 1.0, zi);
    CHECK(ricci::deinterleave(zi).as_tensor() == z.as_tensor());
    CHECK((xi * yi).as_tensor() == z.as_tensor());
    ricci::group<double> g(ricci::of_size(5, 3));
    for (int at = 0; at < count; ++at) g.push_back(xi(at));
    CHECK((g * yi).as_tensor() == z.as_tensor());
  }
}
