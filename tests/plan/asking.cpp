// What kernels ask for ahead, and which results leave past the caches.
#include <catch2/catch.hpp>

#include <string>

#include "machines.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// c(e, i, j) = a(e, i, k) b(e, k, j) of n a side, `bytes` of everything.
plan batch(std::int64_t n, std::int64_t bytes, int fetch_ahead, update how = update::assign) {
  machine m = *named_machine("avx512");
  m.writes_kernels = true, m.asks = {.second = fetch_ahead / 2, .third = fetch_ahead, .memory = fetch_ahead, .memory_results = 3584};
  m.caches = {{48 << 10, 300}, {2 << 20, 100}, {64 << 20, 30}};
  program p;
  p.labels = {{"e", bytes / (24 * n * n)}, {"i", n}, {"j", n}, {"k", n}};
  const auto tensor = [&](const char* name, int row, int col) {
    reference r;
    r.slot = p.slot_count++, r.type = dtype::f64, r.name = name, r.axes = {{0, n * n}, {row, n}, {col, 1}};
    return r;
  };
  const reference c = tensor("c", 1, 2), a = tensor("a", 1, 3), b = tensor("b", 3, 2);
  product x;
  x.factors = {a, b};
  p.statements = {{c, how, {x}}};
  return make_plan(p, m, {});
}

const plan_step& only_step(const plan& p) {
  REQUIRE(p.segments.size() == 1);
  REQUIRE(p.segments[0].steps.size() == 1);
  return p.segments[0].steps[0];
}

}  // namespace

TEST_CASE("nothing is asked for that is in the first cache, or by a machine that gains nothing") {
  CHECK(only_step(batch(5, 40 << 10, 2048)).ask == fetching{});
  CHECK(only_step(batch(5, 1 << 20, 0)).ask.ahead == 0);
  CHECK(only_step(batch(5, 1 << 28, 0)).ask.ahead == 0);
}

TEST_CASE("from the second cache, factors of short sums are asked for") {
  const fetching near = only_step(batch(7, 1 << 20, 2048)).ask;
  CHECK(near.ahead == 1024);
  CHECK(near.factors >= 20 * 64 * 8);
  CHECK(near.factors <= (48 << 10) / 3);  // two of them, and what is being worked on
  CHECK(near.result == 0);
  CHECK(only_step(batch(7, 1 << 20, 2048, update::add)).ask == near);
  CHECK(only_step(batch(20, 1 << 20, 2048)).ask == near);
  CHECK(only_step(batch(21, 1 << 20, 2048)).ask.ahead == 0);
  CHECK(only_step(batch(8, 1 << 20, 2048, update::add)).ask.ahead == 0);
}

TEST_CASE("from the third cache, results are asked for and small factors") {
  const fetching far = only_step(batch(12, 16 << 20, 2048)).ask;
  CHECK(far.ahead == 2048);
  CHECK(far.factors == 2048);
  CHECK(far.result >= 64 * 64 * 8);
}

TEST_CASE("from memory, factors are asked for and small results") {
  const fetching far = only_step(batch(12, 256 << 20, 2048)).ask;
  CHECK(far.ahead == 2048);
  CHECK(far.factors >= 32 * 32 * 8);
  CHECK(far.result >= 20 * 20 * 8);
  CHECK(far.result < 32 * 32 * 8);
}

TEST_CASE("results leave past the caches while a few of them fit the first") {
  for (const std::int64_t n : {2, 7, 16, 22, 24, 25, 28, 31, 32}) CHECK(only_step(batch(n, 256 << 20, 2048)).stream_c);
  for (const std::int64_t n : {33, 40, 64}) CHECK_FALSE(only_step(batch(n, 256 << 20, 2048)).stream_c);
}

TEST_CASE("processors that fetch blocks are asked for products of matrices alone, and not between the steps of small blocks") {
  machine m = *named_machine("avx2");
  m.writes_kernels = m.fetches_blocks = true, m.asks = {.memory = 2048, .memory_results = 3584};
  m.caches = {{32 << 10, 150}, {512 << 10, 80}, {32 << 20, 24}};
  const auto ask_of = [&](std::int64_t rows, std::int64_t columns, std::int64_t sums) {
    program p;
    p.labels = {{"e", (std::int64_t{200} << 20) / (8 * (rows * sums + sums * columns + rows * columns))}, {"i", rows}, {"j", columns}, {"k", sums}};
    const auto tensor = [&](const char* name, int row, int col) {
      reference r;
      r.slot = p.slot_count++, r.type = dtype::f64, r.name = name;
      const auto extent = [&](int l) { return p.labels[static_cast<std::size_t>(l)].extent; };
      r.axes = {{0, extent(row) * extent(col)}, {row, extent(col)}, {col, 1}};
      return r;
    };
    const reference c = tensor("c", 1, 2), a = tensor("a", 1, 3), b = tensor("b", 3, 2);
    product x;
    x.factors = {a, b};
    p.statements = {{c, update::assign, {x}}};
    return only_step(make_plan(p, m)).ask;
  };
  CHECK(ask_of(6, 6, 6).ahead == 2048);
  CHECK((ask_of(16, 1, 16) == fetching{} && ask_of(16, 16, 1) == fetching{}));
  const auto chain_asks = [&](std::int64_t nodes) {
    program p;
    p.labels = {{"e", 200000}, {"i", nodes}, {"j", nodes}, {"q", nodes}, {"r", nodes}};
    const auto tensor = [&](const char* name, std::vector<int> labels) {
      reference r;
      r.slot = p.slot_count++, r.type = dtype::f64, r.name = name;
      std::int64_t step = 1;
      for (std::size_t d = labels.size(); d-- > 0; step *= p.labels[static_cast<std::size_t>(labels[d])].extent) r.axes.insert(r.axes.begin(), {labels[d], step});
      return r;
    };
    const reference v = tensor("v", {0, 3, 4}), b = tensor("B", {3, 1}), d = tensor("D", {4, 2}), u = tensor("u", {0, 1, 2});
    product x;
    x.factors = {b, d, u};
    p.statements = {{v, update::assign, {x}}};
    const plan made = make_plan(p, m, {}, {8, false});
    REQUIRE(made.segments[0].steps.size() > 1);
    return std::any_of(made.segments[0].steps.begin(), made.segments[0].steps.end(), [](const plan_step& s) { return s.ask.ahead > 0; });
  };
  CHECK((!chain_asks(4) && chain_asks(16)));
}
