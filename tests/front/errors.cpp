// The run-time twins of the compile errors: the same sentences, with label and extents.
#include <catch2/catch.hpp>

#include <limits>
#include <vector>

#include "helpers.hpp"

using ricci::labels::a;
using ricci::labels::e;
using ricci::labels::f;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using Catch::Contains;
using ricci::dynamic;
using ricci::errc;
using ricci::tensor;

namespace {

template <class F>
void fails(errc code, F f, std::initializer_list<const char*> words) {
  try {
    f();
    FAIL("no error");
  } catch (const ricci::error& e) {
    CHECK(e.code() == code);
    for (const char* word : words) CHECK_THAT(e.what(), Contains(word));
  }
}

}  // namespace

TEST_CASE("unequal extents") {
  tensor<double, dynamic, dynamic> A(3, 4), B(5, 6), C(3, 6);
  C.fill(1);
  fails(errc::bad_extent, [&] { C(i, j) = A(i, k) * B(k, j); }, {"R003", "label k", "4 and 5"});
  for (double x : C) CHECK(x == 1);
  const auto step = C(i, j).assign(A(i, k) * B(k, j));
  fails(errc::bad_extent, [&] { static_cast<void>(ricci::plan(step)); }, {"R003", "label k"});
}

TEST_CASE("the error does not depend on what ran before") {
  tensor<double, dynamic, dynamic> A(3, 4), B(4, 6), C(3, 6), wrong(5, 6);
  for (int round = 0; round < 3; ++round) {
    C(i, j) = A(i, k) * B(k, j);
    fails(errc::bad_extent, [&] { C(i, j) = A(i, k) * wrong(k, j); }, {"label k"});
  }
}

TEST_CASE("ranges") {
  tensor<double, dynamic> A(9), C(9);
  fails(errc::bad_range, [&] { C(i.in(0, 10)) = A(i); }, {"R005", "label i", "[0, 10)", "extent 9"});
  fails(errc::bad_range, [&] { C(i.in(-1, 3)) = A(i); }, {"R005", "[-1, 3)"});
  fails(errc::bad_range, [&] { C(i.in(4, 3)) = A(i); }, {"R005", "[4, 3)"});
  fails(errc::bad_range, [&] { C(i.in(0, 3)) = A(i.in(1, 4)); }, {"R006", "label i", "[0, 3)", "[1, 4)"});
  tensor<double, 4> small;
  fails(errc::bad_range, [&] { C(i.in(0, 9)) = small(i); }, {"R005", "extent 4"});
}

TEST_CASE("a range in constants and in integers is one range") {
  using namespace ricci::literals;
  tensor<double, 4> A, B, C;
  for (int n = 0; n < 4; ++n) A(n) = n, B(n) = 10 * n;
  C(i.in(1, 3)) = A(i.in(1_c, 3_c)) * B(i.in(1, 3)) + A(i.in(1_c, 3_c));
  for (int n = 0; n < 4; ++n) CHECK(C(n) == (n == 1 || n == 2 ? A(n) * B(n) + A(n) : 0));
  fails(errc::bad_range, [&] { C(i.in(0, 3)) = A(i.in(1_c, 3_c)); }, {"R006", "label i", "[0, 3)", "[1, 3)"});
  fails(errc::bad_range, [&] { C(i.in(1_c, 3_c)) = A(i.in(1, 2)); }, {"R006", "label i", "[1, 3)", "[1, 2)"});
}

TEST_CASE("more elements than can be counted") {
  double one = 1;
  constexpr std::int64_t many = std::int64_t{1} << 40;
  const auto wide = ricci::view(&one, {many, many}, {0, 0});
  tensor<double> s;
  fails(errc::bad_extent, [&] { static_cast<void>(ricci::plan(s().assign(sum(i, sum(j, wide(i, j)))))); }, {"counted", "label j", "1099511627776"});
  const auto line = ricci::view(&one, {many}, {0});  // one of them can be planned
  CHECK(ricci::plan(s().assign(sum(i, line(i)))).flops() == static_cast<double>(many));
  const auto none = ricci::view(&one, {many, many, 0}, {0, 0, 0});
  s() = 3;
  s() = sum(i, sum(j, sum(k, none(i, j, k))));
  CHECK(s() == 0);
}

TEST_CASE("integers that fix an axis") {
  tensor<double, 3, 3, 3> A;
  tensor<double, 3, 3> C;
  tensor<double, dynamic, 40, 40> big(3);
  tensor<double, 40, 40> D;
  int at = 3;
  REQUIRE(front::is_inlined(C(i, j).assign(A(at, i, j))));
  fails(errc::bad_range, [&] { C(i, j) = A(at, i, j); }, {"R007", "axis 0", "value 3", "extent 3"});
  fails(errc::bad_range, [&] { C(i, j) = A(i, j, -1); }, {"R007", "axis 2", "value -1"});
  fails(errc::bad_range, [&] { D(i, j) = big(at, i, j); }, {"R007", "value 3", "extent 3"});
  A(2, 1, 0) = 7;
  C(i, j) = A(at - 1, i, j);
  CHECK(C(1, 0) == 7);
}

TEST_CASE("a plan on a stream") {
  tensor<double, 3, 3> A, B;
  const auto p = ricci::plan(A(i, j).assign(B(j, i)));
  fails(errc::wrong_space, [&] { p.run(ricci::stream()); }, {"stream"});
}

TEST_CASE("null data where there are elements") {
  double* const nothing = nullptr;
  tensor<double, dynamic> x(5), y(5);
  x.fill(1);
  const auto add = [&](auto left, auto right) { left(i) += right(i); };
  const auto null = ricci::view(nothing, {5}, {1}), good = ricci::view(x.data(), {5}, {1}), left = ricci::view(y.data(), {5}, {1});
  add(left, good);  // its plan is remembered
  fails(errc::bad_argument, [&] { add(left, null); }, {"a factor", "no memory"});
  fails(errc::bad_argument, [&] { add(null, good); }, {"the left side", "no memory"});
  fails(errc::bad_argument, [&] { static_cast<void>(ricci::plan(null(i).assign(x(i)))); }, {"the left side", "no memory"});
  CHECK(y(4) == 1);
  add(ricci::view(nothing, {0}, {1}), ricci::view(nothing, {0}, {1}));

  // Inlined.
  tensor<double, 3> s, t;
  t.fill(2);
  const auto lost = ricci::view(nothing, ricci::extents<3>{});
  REQUIRE(front::is_inlined(s(i).assign(lost(i))));
  fails(errc::bad_argument, [&] { s(i) = lost(i); }, {"a factor", "no memory"});
  fails(errc::bad_argument, [&] { lost(i) -= s(i) + t(i); }, {"the left side", "no memory"});
  fails(errc::bad_argument, [&] { static_cast<void>(ricci::plan(lost(i).assign(t(i)))); }, {"the left side", "no memory"});
  const auto empty = ricci::view(nothing, ricci::extents<3, 0>{});
  s(i) = t(i) + sum(j, empty(i, j));
  CHECK(s(2) == 2);

  tensor<double, dynamic, 2, ricci::interleaved<8>> z(5), w(5);
  const auto apart = ricci::view(nothing, ricci::extents<dynamic, 2, ricci::interleaved<8>>{5});
  const auto copy = [&](auto to, auto from) { to(e, i) = from(e, i); };
  copy(w.view(), z.view());
  fails(errc::bad_argument, [&] { copy(w.view(), apart); }, {"a factor", "no memory"});
  fails(errc::bad_argument, [&] { copy(apart, z.view()); }, {"the left side", "no memory"});

  const std::int32_t* const no_table = nullptr;
  const auto table = ricci::view(no_table, ricci::extents<dynamic>{5});
  fails(errc::bad_argument, [&] { y(i) = x(table(i)); }, {"an index tensor", "no memory"});
}

TEST_CASE("what is inlined is checked when it is planned") {
  tensor<double, 3> c;
  tensor<double, 4, 3> A;
  c.fill(1), A.fill(2);
  int row = 9;
  const auto step = c(i).assign(A(row, i));
  REQUIRE(front::is_inlined(step));
  fails(errc::bad_range, [&] { static_cast<void>(ricci::plan(step)); }, {"R007", "value 9", "extent 4"});
  ricci::plan(c(i).assign(A(3, i))).run();
  CHECK(c(1) == 2);
}

TEST_CASE("a number of threads is not negative") {
  tensor<double, dynamic, dynamic> A(3, 4), B(4, 6), C(3, 6);
  const auto step = C(i, j).assign(A(i, k) * B(k, j));
  ricci::plan(step, {.threads = 1}).run();
  for (const int threads : {-1, -2147483647 - 1})
    fails(errc::bad_argument, [&] { static_cast<void>(ricci::plan(step, {.threads = threads})); }, {"options::threads", std::to_string(threads).c_str()});
  fails(errc::bad_argument, [&] { static_cast<void>(ricci::fuse(ricci::options{.threads = -1}, step)); }, {"options::threads is -1"});
  tensor<double, 3> x, y;
  REQUIRE(front::is_inlined(y(i).assign(x(i))));
  fails(errc::bad_argument, [&] { static_cast<void>(ricci::plan(y(i).assign(x(i)), {.threads = -1})); }, {"options::threads is -1"});
}

TEST_CASE("rows that a scatter finds are places of their own") {
  tensor<std::int32_t, dynamic, 2> dof(6);
  for (std::int64_t n = 0; n < 12; ++n) dof.data()[n] = static_cast<std::int32_t>(n * 5 % 7);
  tensor<double, dynamic, 2, 3> A(6);
  A.fill(1);
  for (const std::int64_t stride : {0, 1, 2}) {
    std::vector<double> memory(64, 2.0);
    auto rows = ricci::view(memory.data(), {7, 3}, {stride, 1});
    fails(errc::bad_argument, [&] { rows(dof(e, i), j) += A(e, i, j); }, {"two elements in one place", "the axis looked up by dof has stride", "label j has stride 1"});
    CHECK(memory == std::vector<double>(64, 2.0));
  }
  std::vector<double> memory(64, 0.0);
  ricci::view(memory.data(), {7, 3}, {4, 1})(dof(e, i), j) += A(e, i, j);
  double sum = 0;
  for (const double x : memory) sum += x;
  CHECK(sum == 36);
}

TEST_CASE("a matrix with an infinity has no halves") {
  tensor<double, dynamic, dynamic> B(4, 4), u(20, 4), v(20, 4);
  u.fill(1), v.fill(7);
  for (std::int64_t n = 0; n < 16; ++n) B.data()[n] = static_cast<double>(n);
  B(0, 0) = std::numeric_limits<double>::infinity();
  const auto E = ricci::even_odd(B);
  fails(errc::bad_argument, [&] { v(e, i) = E(i, j) * u(e, j); }, {"even_odd holds an infinity"});
  CHECK(v(3, 2) == 7);
}
