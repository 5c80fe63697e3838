// What the planner expects a product of many rows and few columns to take.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "build_program.hpp"
#include "plan/plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// With the numbers of an AMD EPYC (Zen 4).
machine zen4() {
  machine m = *named_machine("avx512");
  m.writes_kernels = true, m.fetches_blocks = true, m.peak_f64 = 58.7, m.peak_f32 = 117.8, m.memory_bandwidth = 22.8;
  m.caches = {{32768, 249}, {1048576, 108.9}, {33554432, 84.2}};
  return m;
}

double of_steps(const plan& p) {
  double sum = 0;
  for (const plan_step& s : p.segments.at(0).steps) sum += s.seconds;
  return sum;
}

/// c(e, columns) = a(e, sums) b(sums, columns), the columns and sums under one label each or under three.
plan tall(std::int64_t rows, const std::string& columns, std::int64_t n, const std::string& sums, std::int64_t k) {
  case_builder c(dtype::f64);
  c.label('e', rows);
  for (char l : columns) c.label(l, n);
  for (char l : sums) c.label(l, k);
  c.p.statements = {{c.tensor("c", "e" + columns), update::assign, {{-1, false, {c.tensor("b", sums + columns), c.tensor("a", "e" + sums)}}}}};
  return make_plan(c.p, zen4());
}

}  // namespace

TEST_CASE("a product alone goes through its tensors once: most of its memory time is hidden") {
  for (const auto& [n, k] : {std::pair{8, 4}, {27, 8}, {64, 4}, {32, 32}}) {
    const plan p = tall(3000, "y", n, "x", k);
    INFO(n << " columns, " << k << " sums");
    CHECK(p.seconds < 1.8 * of_steps(p));
    const plan far = tall(3000000, "y", n, "x", k);
    const double memory = far.bytes / 22.8e9;
    CHECK(far.seconds > 0.7 * memory);
    CHECK(far.seconds < 1.5 * std::max(memory, of_steps(far)));
  }
}

TEST_CASE("columns under several labels of one extent take the time of as many under one") {
  const plan one = tall(3000, "y", 27, "x", 8), three = tall(3000, "qrs", 3, "ijk", 2);
  CHECK(of_steps(three) < 1.1 * of_steps(one));
  CHECK(of_steps(one) < 1.1 * of_steps(three));
}
