// What the planner expects a product of many rows and few columns to take.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "machines.hpp"
#include "plan/cost.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

double of_steps(const plan& p) {
  double sum = 0;
  for (const plan_step& s : p.segments.at(0).steps) sum += s.seconds;
  return sum;
}

/// c(e, columns) = a(e, sums) b(sums, columns), the columns and sums under one label each or under three. No memory is behind it.
plan tall(std::int64_t rows, int columns, std::int64_t n, int sums, std::int64_t k) {
  program p;
  p.labels.push_back({"e", rows});
  for (int l = 0; l < sums; ++l) p.labels.push_back({"s" + std::to_string(l), k});
  for (int l = 0; l < columns; ++l) p.labels.push_back({"c" + std::to_string(l), n});
  const auto tensor = [&](const char* name, bool has_rows, bool has_sums, bool has_columns) {
    reference r;
    r.slot = p.slot_count++, r.type = dtype::f64, r.name = name;
    std::int64_t stride = 1;
    for (int l = columns + sums; l >= 0; --l) {
      if (!(l == 0 ? has_rows : l <= sums ? has_sums : has_columns)) continue;
      r.axes.insert(r.axes.begin(), {l, stride});
      stride *= p.labels[static_cast<std::size_t>(l)].extent;
    }
    return r;
  };
  const reference c = tensor("c", true, false, true), a = tensor("a", true, true, false), b = tensor("b", false, true, true);
  product x;
  x.factors = {b, a};
  p.statements = {{c, update::assign, {x}}};
  return make_plan(p, zen4());
}

}  // namespace

TEST_CASE("a product alone goes through its tensors once: most of its memory time is hidden") {
  for (const auto& [n, k] : {std::pair{8, 4}, {27, 8}, {64, 4}, {32, 32}}) {
    const plan p = tall(3000, 1, n, 1, k);
    INFO(n << " columns, " << k << " sums");
    CHECK(p.seconds < 1.8 * of_steps(p));
    const plan far = tall(3000000, 1, n, 1, k);
    const double memory = far.bytes / 22.8e9;
    CHECK(far.seconds > 0.7 * memory);
    CHECK(far.seconds < 1.5 * std::max(memory, of_steps(far)));
  }
}

TEST_CASE("columns under several labels of one extent take the time of as many under one") {
  const plan one = tall(3000, 1, 27, 1, 8), three = tall(3000, 3, 3, 3, 2);
  CHECK(of_steps(three) < 1.1 * of_steps(one));
  CHECK(of_steps(one) < 1.1 * of_steps(three));
}

TEST_CASE("short dot products whose results are neighbours cost what their loads and exchanges do") {
  machine m = *named_machine("avx512");
  m.writes_kernels = true;
  planning::shape s;
  s.lanes = kernels::lanes::k, s.rows = 3, s.lane = 3, s.loops = 1000;
  const double compiled = planning::kernel_cycles(s, m);
  s.neighbours = 3000;
  CHECK(planning::kernel_cycles(s, m) < 0.3 * compiled);
  CHECK(planning::kernel_cycles(s, m) > 3000);  // a cycle each
  s.lane = 1000;
  const double written = planning::kernel_cycles(s, m);
  s.neighbours = 0;
  CHECK(planning::kernel_cycles(s, m) == written);  // no code is written for long ones
}

TEST_CASE("pairs of complex numbers whose products are neighbours cost their permutations") {
  machine m = *named_machine("avx512");
  m.writes_kernels = true;
  planning::shape s;
  s.type = dtype::c64, s.lanes = kernels::lanes::k, s.lane = 2, s.loops = 4000;
  const double compiled = planning::kernel_cycles(s, m);
  s.neighbours = 4000;
  const double pairs = planning::kernel_cycles(s, m);
  CHECK(pairs < 0.3 * compiled);
  CHECK(pairs > 4000);
  s.only_sums = true;
  CHECK(planning::kernel_cycles(s, m) < 0.5 * pairs);
  s.only_sums = false, s.type = dtype::c128;  // half as many in a register
  CHECK(planning::kernel_cycles(s, m) > 1.9 * pairs);
}

TEST_CASE("complex pairs are summed as they lie where there is a kernel for that, and not else") {
  // c(e,i) = a(e,i,j) x(e,j) of two a side; every e of a begins `apart` after the one before.
  const auto sums_along_rows = [](bool conj_a, bool conj_x, std::int64_t apart) {
    program p;
    p.labels = {{"e", 5000}, {"i", 2}, {"j", 2}};
    const auto tensor = [&](const char* name, std::vector<reference_axis> axes, bool conj) {
      reference r;
      r.slot = p.slot_count++, r.type = dtype::c64, r.name = name, r.conj = conj;
      r.axes = std::move(axes);
      return r;
    };
    const reference c = tensor("c", {{0, 2}, {1, 1}}, false);
    product x;
    x.factors = {tensor("a", {{0, apart}, {1, 2}, {2, 1}}, conj_a), tensor("x", {{0, 2}, {2, 1}}, conj_x)};
    p.statements = {{c, update::assign, {x}}};
    machine m = zen4();
    m.writes_kernels = true;
    return to_string(make_plan(p, m), m).find("\n       lanes along j (dot products)") != std::string::npos;
  };
  CHECK(sums_along_rows(false, false, 4));
  CHECK(sums_along_rows(true, false, 4));
  CHECK_FALSE(sums_along_rows(true, true, 4));
  CHECK_FALSE(sums_along_rows(false, false, 100));
}
