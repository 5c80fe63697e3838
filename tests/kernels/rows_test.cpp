// The kernels that gather and scatter rows, of every instruction set this CPU runs, against plain loops.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "guarded.hpp"
#include "kernels/kernels.hpp"
#include "uniform.hpp"

using namespace ricci::kernels;

namespace {

/// Offsets of rows in a vector of `size` elements. Close: rows share elements, as those of elements of a mesh do.
std::vector<std::int32_t> offsets(const rows_args& g, std::int64_t size, bool close, std::mt19937& rng) {
  std::vector<std::int32_t> at(static_cast<std::size_t>(g.rows * g.lanes));
  std::uniform_int_distribution<std::int64_t> any(0, size - g.row);
  for (std::size_t n = 0; n < at.size(); ++n) {
    const auto r = static_cast<std::int64_t>(n) / g.lanes, l = static_cast<std::int64_t>(n) % g.lanes;
    const std::int64_t near = (l * std::max<std::int64_t>(g.row - 1, 1) + r * 3) % (size - g.row + 1);
    at[n] = static_cast<std::int32_t>(close ? near : any(rng));
  }
  at.back() = static_cast<std::int32_t>(size - g.row);  // the last row ends where the vector does
  return at;
}

template <class T> void test_rows(const kernel_set& set, const rows_args& g, bool close) {
  constexpr int type = sizeof(T) == 8;
  std::mt19937 rng(static_cast<unsigned>(g.rows * 1000 + g.row * 10 + g.lanes));
  const ricci::test::uniform<T> value{-1, 1};
  const std::int64_t size = 3 * g.row + 40, count = g.rows * g.row * g.lanes;
  auto at = offsets(g, size, close, rng);
  const std::vector<std::int32_t> once(at);
  at.insert(at.end(), once.begin(), once.end());  // the table goes on behind this call
  const std::int32_t *const last = at.data() + g.rows * g.lanes, *const further = at.data() + at.size();
  guarded<T> vector(static_cast<std::size_t>(size), true), side(static_cast<std::size_t>(count), true);
  for (T& x : vector) x = value(rng);
  for (const std::int32_t* end : {last, further}) {
    std::fill(side.begin(), side.end(), std::numeric_limits<T>::quiet_NaN());
    set.gather[type](g, at.data(), end, vector.data(), side.data());
    std::int64_t wrong = 0;
    for (std::int64_t r = 0; r < g.rows; ++r)
      for (std::int64_t i = 0; i < g.row; ++i)
        for (std::int64_t l = 0; l < g.lanes; ++l)
          wrong += side[static_cast<std::size_t>((r * g.row + i) * g.lanes + l)] !=
                   vector[static_cast<std::size_t>(at[static_cast<std::size_t>(r * g.lanes + l)] + i)];
    CHECK(wrong == 0);
  }
  for (T& x : side) x = value(rng);
  const T alpha = T(-0.75);
  std::vector<long double> want(vector.begin(), vector.end()), magnitude(want.size());
  std::vector<int> terms(want.size(), 1);
  for (std::size_t n = 0; n < want.size(); ++n) magnitude[n] = std::abs(want[n]);
  for (std::int64_t r = 0; r < g.rows; ++r)
    for (std::int64_t i = 0; i < g.row; ++i)
      for (std::int64_t l = 0; l < g.lanes; ++l) {
        const auto to = static_cast<std::size_t>(at[static_cast<std::size_t>(r * g.lanes + l)] + i);
        const long double x = static_cast<long double>(alpha) * side[static_cast<std::size_t>((r * g.row + i) * g.lanes + l)];
        want[to] += x, magnitude[to] += std::abs(x), ++terms[to];
      }
  std::vector<T> before(vector.begin(), vector.end());
  set.scatter[type](g, at.data(), last, side.data(), vector.data(), &alpha);
  double worst = 0;
  for (std::size_t n = 0; n < want.size(); ++n)
    worst = std::max(worst, static_cast<double>(std::abs(vector[n] - want[n]) /
                                                (terms[n] * magnitude[n] * std::numeric_limits<T>::epsilon() + 1e-300L)));
  CHECK(worst <= 1);
  const std::vector<T> added(vector.begin(), vector.end());
  std::copy(before.begin(), before.end(), vector.begin());
  set.scatter[type](g, at.data(), further, side.data(), vector.data(), &alpha);
  CHECK(std::equal(added.begin(), added.end(), vector.begin()));
}

}  // namespace

TEMPLATE_TEST_CASE("rows are gathered and added for every instruction set", "", float, double) {
  const kernel_sets sets = available();
  for (int s = 0; s < sets.count; ++s) {
    INFO(sets.first[s]->isa);
    for (std::int64_t row = 1; row <= (reduced_tests() ? 5 : 20); ++row)
      for (std::int64_t lanes : {1, 2, 3, 4, 8, 13, 16, 32})
        for (std::int64_t rows : {1, 2, 7, 70})
          for (const bool close : {true, false}) {
            CAPTURE(row, lanes, rows, close);
            test_rows<TestType>(*sets.first[s], {rows, row, lanes}, close);
          }
    test_rows<TestType>(*sets.first[s], {1, 700, 8}, false);
    test_rows<TestType>(*sets.first[s], {2, 5000, 16}, true);
  }
}

namespace {

/// Rows of x and y that the table finds, in memory that ends behind the last row of either; y's rows may be the same ones.
template <class T, class Entry> void test_found(const kernel_set& set, std::int64_t rows, std::int64_t row, std::int64_t gap, bool scatters, T beta) {
  std::mt19937 rng(static_cast<unsigned>(rows * 1000 + row));
  const ricci::test::uniform<T> value{-1, 1};
  const std::int64_t step = row + gap, found = 5, between = 2;
  found_args g{.rows = rows, .row = row, .wide = sizeof(Entry) == 8, .table = between, .ahead = row % 2 == 0 ? 2 : 0};
  (scatters ? g.to_entry : g.from_entry) = step;
  (scatters ? g.from : g.to) = step;
  guarded<Entry> table(static_cast<std::size_t>((rows - 1) * between + 1), true);
  for (std::int64_t r = 0; r < rows; ++r) table[static_cast<std::size_t>(r * between)] = static_cast<Entry>(r * r % found);
  table[0] = static_cast<Entry>(found - 1);
  const std::int64_t lookups = (found - 1) * step + row, others = (rows - 1) * step + row;
  guarded<T> x(static_cast<std::size_t>(scatters ? others : lookups), true), y(static_cast<std::size_t>(scatters ? lookups : others), true);
  for (T& v : x) v = value(rng);
  for (T& v : y) v = beta == 0 ? std::numeric_limits<T>::quiet_NaN() : value(rng);
  const T alpha = T(-0.75);
  const std::size_t count = y.size();
  std::vector<long double> want(y.begin(), y.end()), magnitude(count);
  std::vector<int> terms(count, 0);
  for (std::size_t n = 0; n < count; ++n) magnitude[n] = beta == 0 ? 0 : std::abs(want[n]);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < row; ++i) {
      const auto entry = static_cast<std::int64_t>(table[static_cast<std::size_t>(r * between)]);
      const auto from = static_cast<std::size_t>(r * g.from + entry * g.from_entry + i), to = static_cast<std::size_t>(r * g.to + entry * g.to_entry + i);
      const long double term = static_cast<long double>(alpha) * x[from];
      want[to] = (beta == 0 ? 0 : beta * want[to]) + term;
      magnitude[to] = std::abs(beta) * magnitude[to] + std::abs(term), ++terms[to];
    }
  set.found[sizeof(T) == 8](g, table.data(), x.data(), y.data(), &alpha, &beta);
  double worst = 0;
  std::int64_t touched = 0;
  for (std::size_t n = 0; n < count; ++n) {
    if (terms[n] == 0) touched += beta == 0 ? !std::isnan(y[n]) : y[n] != static_cast<T>(want[n]);  // between the rows
    else worst = std::max(worst, static_cast<double>(std::abs(y[n] - want[n]) / (2 * terms[n] * magnitude[n] * std::numeric_limits<T>::epsilon() + 1e-300L)));
  }
  CHECK(touched == 0);
  CHECK(worst <= 1);
}

}  // namespace

TEMPLATE_TEST_CASE("rows that a table finds are scaled and added for every instruction set", "", float, double) {
  const kernel_sets sets = available();
  for (int s = 0; s < sets.count; ++s) {
    INFO(sets.first[s]->isa);
    for (std::int64_t row = 1; row <= (reduced_tests() ? 9 : 40); ++row)
      for (std::int64_t rows : {1, 2, 7, 30})
        for (const bool scatters : {false, true})
          for (const TestType beta : {TestType(0), TestType(1), TestType(-0.5)}) {
            if (scatters && beta == 0) continue;  // which leaves open what a row is that comes twice
            CAPTURE(row, rows, scatters, beta);
            test_found<TestType, std::int32_t>(*sets.first[s], rows, row, row % 3, scatters, beta);
            test_found<TestType, std::int64_t>(*sets.first[s], rows, row, row % 3, scatters, beta);
          }
  }
}
