// Tensors and views by themselves: memory, copies, strides, iteration, printing, comparison.
#undef NDEBUG  // bounds are checked in debug builds
#include <catch2/catch.hpp>

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "helpers.hpp"

using ricci::labels::f;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::labels::n;
using namespace ricci::literals;
using front::count_up;
using ricci::column_major;
using ricci::dynamic;
using ricci::tensor;

// Whole classes, as a user's library may instantiate them.
template class ricci::tensor<double, dynamic, 3>;
template class ricci::tensor<float, 3>;

namespace {

template <class F>
ricci::errc code_of(F f) {
  try {
    f();
  } catch (const ricci::error& e) {
    return e.code();
  }
  return ricci::errc{};
}

template <class F>
std::string words_of(F f) {
  try {
    f();
  } catch (const ricci::error& e) {
    return e.what();
  }
  return "";
}

template <class X, class Y>
concept addable = requires(X& x, const Y& y) { x + y; } || requires(X& x, const Y& y) { x += y; };

template <class X> concept viewable = requires(X&& x) { ricci::view(std::forward<X>(x)); };

template <class X>
concept refused = std::is_same_v<decltype(ricci::view(std::declval<X>())), ricci::detail::unviewed>;

}  // namespace

TEST_CASE("memory is aligned and zero") {
  tensor<float, 3, dynamic> A(5);
  CHECK(reinterpret_cast<std::uintptr_t>(A.data()) % 64 == 0);
  CHECK(A.size() == 15);
  for (float x : A) CHECK(x == 0);
  tensor<double> s;
  CHECK(s.size() == 1);
  CHECK(s() == 0);
}

TEST_CASE("extents and strides") {
  tensor<double, 2, dynamic, 4> A(3);
  CHECK(A.rank() == 3);
  CHECK(A.extent(1) == 3);
  CHECK(A.stride(0) == 12);
  CHECK(A.stride(1) == 4);
  CHECK(A.stride(2) == 1);
  tensor<double, 2, dynamic, 4, column_major> F(3);
  CHECK(F.stride(0) == 1);
  CHECK(F.stride(1) == 2);
  CHECK(F.stride(2) == 6);
}

TEST_CASE("copy, move, assignment") {
  tensor<double, dynamic, 3> A(4), B(2);
  count_up(A);
  tensor<double, dynamic, 3> copy = A;
  CHECK(copy == A);
  CHECK(copy.data() != A.data());
  B = A;
  CHECK(B == A);
  const double* const memory = copy.data();
  B = std::move(copy);
  CHECK(B.data() == memory);
  CHECK(B == A);
  B(0, 0) += 1;
  CHECK(!(B == A));
  CHECK(!(B == tensor<double, dynamic, 3>(5)));
}

TEST_CASE("a moved-from tensor has no elements") {
  static_assert(std::is_nothrow_move_constructible_v<tensor<double, 3>> && std::is_nothrow_move_assignable_v<tensor<double, dynamic>>);
  tensor<double, dynamic, 3> A(4), B(4);
  tensor<double, dynamic, 3, ricci::interleaved<4>> Z(5);
  count_up(A), count_up(B);
  const tensor<double, dynamic, 3> kept = std::move(A);
  const tensor<double, dynamic, 3, ricci::interleaved<4>> other = std::move(Z);
  CHECK(A.extent(0) + A.size() + Z.size() + Z.block() * Z.extent(0) == 0);
  A.fill(1), Z.fill(1);
  for (double x : A) CHECK(x == 2);
  for (double x : Z) CHECK(x == 2);
  std::ostringstream text;
  text << A << Z;
  CHECK(text.str() == "[][]");
  CHECK(A == tensor<double, dynamic, 3>(A));
  A(i, j) = 2 * A(i, j);
  CHECK(code_of([&] { B(i, j) = A(i, j); }) == ricci::errc::bad_extent);
  auto& same = B;
  B = kept;
  B = std::move(same);
  CHECK(B == kept);
  B = A;
  CHECK(B.size() == 0);
  A = kept;
  CHECK(A == kept);

  // Static extents stay what they are.
  using matrix = tensor<double, 3, 3>;
  matrix C, D;
  C.fill(1), D.fill(2);
  C = std::move(D);
  matrix E = D;
  tensor<double> s, t = std::move(s);
  for (const auto& use : std::initializer_list<std::function<void()>>{
           [&] { D.fill(1); }, [&] { for (double& x : D) x = 1; }, [&] { static_cast<void>(D == C); }, [&] { ricci::copy(C, D); },
           [&] { ricci::copy(D, C); }, [&] { E.fill(1); }, [&] { D(i, j) = C(i, j); }, [&] { C(i, j) = D(j, i); }, [&] { D(1, 2) = 1; },
           [&] { D.view().fill(1); }, [&] { s() = 1; }, [&] { static_cast<double&>(s()) = 1; }})
    CHECK(code_of(use) == ricci::errc::bad_argument);
  E = C;
  C = D;
  CHECK(code_of([&] { C.fill(1); }) == ricci::errc::bad_argument);
  D = E;
  C = std::move(E);
  CHECK(C == D);
}

TEST_CASE("elements by integers and constants, checked") {
  tensor<double, 3, dynamic> A(4);
  A(2, 3) = 5;
  A(1_c, 0) = 6;
  CHECK(A.data()[11] == 5);
  CHECK(A.data()[4] == 6);
  const auto& fixed = A;
  CHECK(fixed(2_c, 3_c) == 5);
  CHECK(code_of([&] { A(3, 0) = 1; }) == ricci::errc::bad_range);
  CHECK(code_of([&] { A(0, -1) = 1; }) == ricci::errc::bad_range);
  CHECK_THROWS_WITH(A(0, 4), Catch::Contains("index 4") && Catch::Contains("axis 1") && Catch::Contains("extent 4"));
  CHECK((tensor<double, 2>()(1)) == 0);
}

TEST_CASE("bad extents") {
  CHECK(code_of([] { tensor<double, dynamic>(-1); }) == ricci::errc::bad_extent);
  constexpr std::int64_t much = std::int64_t{1} << 40;
  CHECK(code_of([] { tensor<double, dynamic, dynamic>(much, much); }) == ricci::errc::no_memory);
  CHECK(code_of([] { const tensor<double, dynamic, ricci::interleaved<8>> A(std::numeric_limits<std::int64_t>::max()); }) == ricci::errc::no_memory);
  CHECK(tensor<double, dynamic, dynamic>(0, std::int64_t{1} << 62).size() == 0);
  double x = 0;
  CHECK(code_of([&] { ricci::view(&x, ricci::extents<dynamic>{-2}); }) == ricci::errc::bad_extent);
  CHECK(code_of([&] { ricci::view(&x, {2, -2}, {1, 1}); }) == ricci::errc::bad_extent);
}

TEST_CASE("views: extents, strides, const, iteration") {
  double memory[24];
  for (int x = 0; x < 24; ++x) memory[x] = x;
  const std::size_t count = 2;
  auto v = ricci::view(memory, ricci::extents<dynamic, 3, 4>{count});
  CHECK(v(1, 2, 3) == 23);
  auto w = ricci::view(memory, {count, 4, 3}, {12, 1, 4});
  CHECK(w(1, 3, 2) == 23);
  CHECK(w.extent(1) == 4);
  CHECK(w.stride(2) == 4);
  double sum = 0;
  std::vector<double> order;
  for (double x : w) sum += x, order.push_back(x);
  CHECK(sum == 276);
  CHECK(std::vector<double>(order.begin(), order.begin() + 4) == std::vector<double>{0, 4, 8, 1});
  const double* fixed = memory;
  tensor<double, 2, 4, 3> C;
  C(i, j, k) = ricci::view(fixed, {2, 4, 3}, {12, 1, 4})(i, j, k);
  CHECK(C == w);
  w(i, j, k) = 2 * v(i, k, j);
  CHECK(memory[23] == 46);
  auto back = ricci::view(memory + 23, {24}, {-1});
  CHECK(back(0) == 46);
  CHECK(back(23) == 0);
  tensor<double, 24> reversed;
  reversed(i) = back(i);
  CHECK(reversed(0) == 46);
}

TEST_CASE("a view is one of a type that knows less, and of no other") {
  tensor<double, 2, 3> A;
  count_up(A, 1);
  const auto total = [](ricci::dynamic_view<const double, 2> any) {  // as a function that is no template takes it
    double sum = 0;
    for (const double value : any) sum += value;
    return sum + 100 * any(1, 0);
  };
  tensor<double, dynamic, 3, column_major> F(2);
  F(i, j) = A(i, j);
  const double expected = total(ricci::view(std::as_const(A).data(), {2, 3}, {3, 1}));
  CHECK(total(A.view()) == expected);
  CHECK(total(std::as_const(A).view()) == expected);
  CHECK(total(F.view()) == expected);
  CHECK(total(ricci::view(A.data(), {2, 3}, {3, 1})) == expected);

  tensor<double, 2, 3>::const_view_type read = A.view();
  CHECK(read.data() == A.data());
  ricci::tensor_view<double, dynamic, 3> rows = A.view();
  rows(i, j) = 2 * F(i, j);
  CHECK(A(1, 2) == 2 * F(1, 2));

  using fixed = tensor<double, 2, 3>::view_type;
  STATIC_REQUIRE_FALSE((std::is_convertible_v<tensor<double, 2, 3>::const_view_type, fixed>));          // not of const elements
  STATIC_REQUIRE_FALSE((std::is_convertible_v<ricci::tensor_view<double, dynamic, 3>, fixed>));          // 2 is not known
  STATIC_REQUIRE_FALSE((std::is_convertible_v<ricci::tensor_view<double, 2, 4>, ricci::tensor_view<double, dynamic, 3>>));
  STATIC_REQUIRE_FALSE((std::is_convertible_v<decltype(F)::view_type, ricci::tensor_view<double, dynamic, 3>>));  // another order
  STATIC_REQUIRE_FALSE((std::is_convertible_v<ricci::tensor_view<double, dynamic, 3, ricci::interleaved<4>>, ricci::dynamic_view<double, 2>>));
  STATIC_REQUIRE_FALSE((std::is_convertible_v<ricci::tensor_view<double, 2, 3, ricci::gpu>, ricci::dynamic_view<double, 2>>));
  STATIC_REQUIRE_FALSE((std::is_convertible_v<ricci::tensor_view<float, 2, 3>, ricci::dynamic_view<double, 2>>));
}

TEST_CASE("copies between views that overlap") {
  tensor<double, 4, 4> A;
  count_up(A, 1);
  const tensor<double, 4, 4> before = A;
  ricci::copy(A, ricci::view(A.data(), {4, 4}, {1, 4}));
  for (int row = 0; row < 4; ++row)
    for (int col = 0; col < 4; ++col) CHECK(A(row, col) == before(col, row));

  A = before;  // upwards and downwards, with holes
  ricci::copy(ricci::view(A.data(), {7}, {2}), ricci::view(A.data() + 2, {7}, {2}));
  for (int at = 0; at < 16; ++at) CHECK(A.data()[at] == before.data()[at % 2 == 0 && at > 0 ? at - 2 : at]);
  A = before;
  ricci::copy(ricci::view(A.data() + 2, {7}, {2}), ricci::view(A.data(), {7}, {2}));
  for (int at = 0; at < 16; ++at) CHECK(A.data()[at] == before.data()[at % 2 == 0 && at < 14 ? at + 2 : at]);
  A = before;  // back to front
  ricci::copy(ricci::view(A.data() + 15, {16}, {-1}), ricci::view(A.data(), {16}, {1}));
  for (int at = 0; at < 16; ++at) CHECK(A.data()[at] == before.data()[15 - at]);

  tensor<float, 5, 3, ricci::interleaved<2>> lanes, expected;
  count_up(lanes, 1);
  for (int e = 0; e < 5; ++e)
    for (int at = 0; at < 3; ++at) expected(e, at) = lanes(e, at);
  const auto block = ricci::view(lanes.data(), {2, 3}, {1, 2});  // problems 0 and 1
  ricci::copy(ricci::view(lanes.data() + 1, {2, 3}, {-1, 2}), block);
  for (int at = 0; at < 3; ++at) std::swap(expected(0, at), expected(1, at));
  CHECK(lanes == expected);
  ricci::copy(lanes, lanes);
  CHECK(lanes == expected);
}

TEST_CASE("views of vectors, arrays and spans") {
  std::vector<double> memory{1, 2, 3, 4, 5, 6, 7};
  const auto v = ricci::view(memory);
  STATIC_REQUIRE(std::is_same_v<decltype(v), const ricci::tensor_view<double, dynamic>>);
  STATIC_REQUIRE(std::is_same_v<decltype(ricci::view(std::as_const(memory))), ricci::tensor_view<const double, dynamic>>);
  CHECK(v.data() == memory.data());
  CHECK(v.extent(0) == 7);
  v(i) = 2 * v(i);
  CHECK(memory[6] == 14);

  const auto rows = ricci::view(memory, ricci::extents<dynamic, 3>{2});  // six of them
  STATIC_REQUIRE(std::is_same_v<decltype(rows), const ricci::tensor_view<double, dynamic, 3>>);
  CHECK(rows(1, 2) == 12);
  CHECK(ricci::view(std::as_const(memory), ricci::extents<2, 3, column_major>{})(1, 2) == 12);
  std::array<float, 4> square{1, 2, 3, 4};
  CHECK(ricci::view(square, ricci::extents<2, 2>{})(1, 0) == 3);
  tensor<double, 2> sums;
  sums(i) = sum(j, ricci::view(std::span(memory).subspan(1), ricci::extents<2, 3>{})(i, j));  // a span may be a temporary
  CHECK(sums(1) == 10 + 12 + 14);
  std::vector<int> places{2, 0};
  sums(i) = v(ricci::view(places)(i));
  CHECK(sums(0) == 6);

  STATIC_REQUIRE_FALSE(addable<std::vector<ricci::half>, ricci::half>);  // although it is found among ricci's operators
  STATIC_REQUIRE_FALSE(addable<std::vector<ricci::half>, std::vector<ricci::half>>);
  STATIC_REQUIRE_FALSE(viewable<std::pair<double, double>&>);  // others may have functions of that name for their classes
  STATIC_REQUIRE(refused<ricci::ndarray<double>&>);
  STATIC_REQUIRE(refused<int&>);
}

TEST_CASE("views whose extents are a list, views of tensors") {
  std::vector<double> memory{1, 2, 3, 4, 5, 6, 7};
  const std::size_t rows = 2;
  const auto v = ricci::view(memory.data(), {rows, std::size_t(3)});
  STATIC_REQUIRE(std::is_same_v<decltype(v), const ricci::tensor_view<double, dynamic, dynamic>>);
  CHECK(v(1, 2) == 6);
  const auto w = ricci::view(std::as_const(memory), {3, 2});
  STATIC_REQUIRE(std::is_same_v<decltype(w), const ricci::tensor_view<const double, dynamic, dynamic>>);
  CHECK(w(2, 0) == 5);
  STATIC_REQUIRE(std::is_same_v<decltype(ricci::view(ricci::gpu, memory.data(), {2, 3})), ricci::tensor_view<double, dynamic, dynamic, ricci::gpu>>);
  CHECK(code_of([&] { static_cast<void>(ricci::view(memory, {2, 4})); }) == ricci::errc::bad_extent);
  CHECK(code_of([&] { static_cast<void>(ricci::view(memory.data(), {-2})); }) == ricci::errc::bad_extent);

  tensor<double, 2, 3> A;
  ricci::view(A)(i, j) = 2 * v(i, j);
  CHECK(A(1, 2) == 12);
  STATIC_REQUIRE(std::is_same_v<decltype(ricci::view(A)), ricci::tensor_view<double, 2, 3>>);
  STATIC_REQUIRE(std::is_same_v<decltype(ricci::view(std::as_const(A))), ricci::tensor_view<const double, 2, 3>>);
  CHECK(ricci::view(v).data() == memory.data());
}

TEST_CASE("a view of a vector needs no more elements than there are") {
  std::vector<double> memory(9);
  const auto make = [&](auto shape) { return [&memory, shape] { static_cast<void>(ricci::view(memory, shape)); }; };
  CHECK(words_of(make(ricci::extents<3, dynamic>{3})) == "");
  CHECK(words_of(make(ricci::extents<3, dynamic>{4})) == "ricci: the extents of a view need 12 elements, and there are 9");
  CHECK(code_of(make(ricci::extents<3, dynamic>{4})) == ricci::errc::bad_extent);
  CHECK(code_of(make(ricci::extents<10>{})) == ricci::errc::bad_extent);
  CHECK(code_of(make(ricci::extents<dynamic>{-1})) == ricci::errc::bad_extent);
  const std::int64_t large = std::numeric_limits<std::int64_t>::max();
  CHECK(code_of(make(ricci::extents<dynamic, 2>{large})) == ricci::errc::bad_extent);
  CHECK(code_of(make(ricci::extents<dynamic, 4, dynamic>{large, 0})) == ricci::errc{});  // no elements
  CHECK(code_of(make(ricci::extents<dynamic, ricci::interleaved<8>>{8})) == ricci::errc{});
  CHECK_THAT(words_of(make(ricci::extents<dynamic, ricci::interleaved<8>>{9})), Catch::Contains("need 16 elements"));  // whole blocks
  CHECK(code_of(make(ricci::extents<dynamic, ricci::interleaved<8>>{large})) == ricci::errc::bad_extent);
  memory.clear();
  CHECK(code_of(make(ricci::extents<1>{})) == ricci::errc::bad_extent);
  CHECK(ricci::view(memory).size() == 0);
}

TEST_CASE("column-major views") {
  double memory[6] = {1, 2, 3, 4, 5, 6};
  auto v = ricci::view(memory, ricci::extents<2, 3, column_major>{});
  CHECK(v(1, 2) == 6);
  CHECK(v(0, 1) == 3);
  tensor<double, 2, 3> row;
  row(i, j) = v(i, j);
  CHECK(row == v);
}

TEST_CASE("printing") {
  tensor<double, 2, 3> A;
  int x = 0;
  for (double& e : A) e = ++x;
  std::ostringstream out;
  out << A << ' ' << ricci::view(A.data(), {3, 2}, {1, 3});
  CHECK(out.str() == "[[1, 2, 3],\n [4, 5, 6]] [[1, 4],\n [2, 5],\n [3, 6]]");
  std::ostringstream one;
  one << tensor<float>();
  CHECK(one.str() == "0");
  tensor<std::int32_t, 2, 2> places;
  tensor<std::int64_t, dynamic, ricci::interleaved<4>> far(3);
  places(0, 1) = -7, far(2) = std::int64_t{1} << 40;
  std::ostringstream integers;
  integers << places << ' ' << far << ' ' << std::as_const(places) << ' ' << tensor<std::int64_t, dynamic, 4>(0);
  CHECK(integers.str() == "[[0, -7],\n [0, 0]] [0, 0, 1099511627776] [[0, -7],\n [0, 0]] []");
}

TEST_CASE("the elements of a gpu view are not walked on the host") {
  double memory[6] = {1, 2, 3, 4, 5, 6};  // never read
  const auto view = ricci::view(ricci::gpu, memory, {2, 3}, {3, 1});
  int count = 0;
  for (const double& x : view) count += x > 0;
  CHECK(count == 0);
}

TEST_CASE("gpu tensors need a GPU") {
  try {
    tensor<double, 4, 4, ricci::gpu> G, H;
    CHECK(G.extent(1) == 4);
    G(i, j) = H(j, i);
  } catch (const ricci::error& e) {
    CHECK(e.code() == ricci::errc::no_gpu);
    CHECK_THAT(e.what(), Catch::Contains("GPU"));
  }
  tensor<double, 4, 4> A;
  CHECK(code_of([&] { A(i, j).on(ricci::stream()) = A(j, i); }) == ricci::errc::wrong_space);
}

TEST_CASE("large tensors begin with zeros everywhere") {
  ricci::tensor<float, dynamic> x((std::int64_t{9} << 20) / 4 + 77);
  bool zero = true;
  for (const float e : x) zero = zero && e == 0;
  CHECK(zero);
}

TEMPLATE_TEST_CASE("the element of a rank-0 tensor as text", "", float, double, std::complex<float>, std::complex<double>, ricci::half, ricci::bfloat16) {
  tensor<TestType> s;
  const tensor<TestType>& constant = s;
  s() = TestType(-2.5f);
  std::ostringstream element, whole;
  element << s() << ' ' << constant();
  whole << s << ' ' << s;
  CHECK(element.str() == whole.str());
  CHECK(element.str().find("-2.5") != std::string::npos);
}
