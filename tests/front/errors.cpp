// The run-time twins of the compile errors: the same sentences, with label and extents.
#include <catch2/catch.hpp>

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
