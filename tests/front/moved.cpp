// Statements that run again with other constants and ranges: the same plan at other places, or another one where memory may be shared.
// Numbers are small integers, so that every sum is exact.
#include <catch2/catch.hpp>

#include <ricci/ricci.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

#include "small_integers.hpp"

extern std::atomic<long> allocations;  // counted in tests/engine/count_new.cpp
extern const bool allocations_are_counted;

using namespace ricci::labels;
using ricci::dynamic;

namespace {

/// y(i) = sum over j of A(q, first + i, j) x(j), by plain loops.
template <class A, class X> bool is_product(const ricci::tensor<double, dynamic>& y, const A& a, const X& x, int q, int first) {
  bool same = true;
  for (int r = 0; r < y.extent(0); ++r) {
    double sum = 0;
    for (int c = 0; c < x.extent(0); ++c) sum += a(q, first + r, c) * x(c);
    same = same && y(r) == sum;
  }
  return same;
}

}  // namespace

TEST_CASE("constants and beginnings of ranges that move find the plan again") {
  constexpr int problems = 20, n = 9;
  ricci::tensor<double, dynamic, dynamic, dynamic> A(problems, n, n);
  ricci::tensor<double, dynamic> x(n), y(n);
  fill(A, 1), fill(x, 2);
  const auto whole = [&](int q) { y(i) = A(q, i, j) * x(j); };
  whole(0);
  for (int q = 0; q < problems; ++q) {
    const long before = allocations;
    whole(q);
    if (allocations_are_counted) CHECK(allocations == before);
    CHECK(is_product(y, A, x, q, 0));
  }
  for (int again = 0; again < 20; ++again) {  // what comes again is found in another way
    const long before = allocations;
    whole(7);
    if (allocations_are_counted && again > 9) CHECK(allocations == before);
    CHECK(is_product(y, A, x, 7, 0));
  }
  for (int q = 0; q < problems; ++q) {
    whole(q);
    CHECK(is_product(y, A, x, q, 0));
  }
  CHECK_THROWS_AS(whole(problems), ricci::error);
  CHECK_THROWS_AS(whole(-1), ricci::error);
  CHECK(is_product(y, A, x, problems - 1, 0));
}

TEST_CASE("ranges of equal lengths find the plan again, others and other memory do not") {
  constexpr int n = 24;
  ricci::tensor<double, dynamic, dynamic> A(n, n), B(n, n), before(n, n);
  ricci::tensor<double, dynamic> v(n), w(n);
  fill(A, 3), fill(v, 4);
  // One statement for factors in other memory and in that of the left side.
  const auto add = [](auto& to, const auto& from, const auto& x, int row, int other, int first, int length) {
    to(row, i.in(first, first + length)) += from(other, i) * x(i);
  };
  const auto is_sum = [&](const auto& to, const auto& old, const auto& from, int row, int other, int first, int length) {
    bool same = true;
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const bool inside = r == row && c >= first && c < first + length;
        same = same && to(r, c) == old(r, c) + (inside ? from(other, c) * v(c) : 0);
      }
    return same;
  };
  fill(B, 5);
  add(B, A, v, 0, 0, 0, 5);
  long missed = 0;
  for (int q = 0; q < n; ++q) {
    const int other = 7 * q % n, first = 5 * q % (n - 8), length = q % 3 == 0 ? 8 : 5;
    ricci::copy(B.view(), before.view());
    const long made = allocations;
    add(B, A, v, q, other, first, length);
    missed += allocations != made;
    CHECK(is_sum(B, before, A, q, other, first, length));
    ricci::copy(B.view(), before.view());
    add(B, B, v, q, other, first, 5);  // the row itself too
    CHECK(is_sum(B, before, before, q, other, first, 5));
  }
  if (allocations_are_counted) CHECK(missed <= 2);
  CHECK_THROWS_AS(add(B, A, v, n, 0, 0, 5), ricci::error);
  CHECK_THROWS_AS(add(B, A, v, 0, 0, n - 4, 5), ricci::error);
  CHECK_THROWS_AS(add(B, A, v, 0, 0, -1, 5), ricci::error);
  // Views of one block of memory that move into one another.
  std::vector<double> memory(400), expected;
  for (int from = 0; from < 150; from += 25) {
    for (std::size_t q = 0; q < memory.size(); ++q) memory[q] = static_cast<double>(q % 11);
    expected = memory;
    auto to = ricci::view(memory.data() + 100, {10, 10});
    const auto other = ricci::view(memory.data() + from, {10, 10});
    const auto x = ricci::view(v.data(), {10});
    for (int q = 0; q < 10; ++q) {
      std::vector<double> sums(10);
      for (std::size_t c = 0; c < 10; ++c)
        sums[c] = expected[100 + 10 * static_cast<std::size_t>(q) + c] + expected[static_cast<std::size_t>(from) + 10 * static_cast<std::size_t>(9 - q) + c] * v(static_cast<int>(c));
      std::copy(sums.begin(), sums.end(), expected.begin() + 100 + 10 * q);
      add(to, other, x, q, 9 - q, 0, 10);
    }
    CHECK(memory == expected);
  }
}
