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
