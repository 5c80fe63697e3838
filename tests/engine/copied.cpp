// Products with a factor that is copied to another order first, so that its summed labels nest with those of the other one: of every type,
// planned for a slow machine, on which that pays for small tensors already; against the long-double reference.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "machine/machine.hpp"
#include "plan/copies.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

machine slow() {
  machine m = *named_machine("avx2");
  m.peak_f64 = 0.01, m.peak_f32 = 0.02;
  return m;
}

bool copies_a_factor(const struct plan& p) {
  return std::any_of(p.segments.begin(), p.segments.end(), [](const segment& g) {
    return g.steps.size() == 2 && g.temporaries.size() == 1 && g.temporaries[0].from == temporary::origin::copy &&
           (g.steps[1].op.a.where == operand::kind::temporary || g.steps[1].op.b.where == operand::kind::temporary);
  });
}

/// C(p,i,j) = sum over k, l and m of a large A and a small B, memory in any order, with gaps or without.
void add_product(case_builder& c, std::mt19937& rng) {
  const auto d = [&rng](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  const auto any_order = [&rng](std::string s) { return std::shuffle(s.begin(), s.end(), rng), s; };
  const bool problems = d(0, 1) != 0;
  c.label('p', problems ? d(2, 5) : 1), c.label('i', d(5, 30)), c.label('j', d(1, 4)), c.label('k', d(2, 9)), c.label('l', d(2, 9)), c.label('m', d(1, 3));
  statement s;
  s.op = static_cast<update>(d(0, 2));
  s.left = c.tensor("C", "pij", any_order("pij"), d(0, 4) ? 1 : 2);
  s.terms.emplace_back().factors = {c.tensor("A", "piklm", any_order("piklm")), c.tensor("B", problems ? "pklmj" : "klmj", any_order(problems ? "pklmj" : "klmj"), d(0, 4) ? 1 : 2)};
  for (reference& f : s.terms[0].factors) f.conj = d(0, 1) != 0;
  if (d(0, 1)) std::swap(s.terms[0].factors[0], s.terms[0].factors[1]);
  if (d(0, 3) == 0) s.terms[0].negate = true;
  c.p.statements.push_back(s);
}

}  // namespace

TEST_CASE("a small factor is copied to the order of the other one") {
  const machine m = slow();
  int copied = 0;
  const unsigned all = seeds(600);
  for (unsigned seed = 1; seed <= all; ++seed) {
    std::mt19937 rng(seed);
    constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16};
    case_builder c(types[seed % 6], seed);
    add_product(c, rng);
    const auto expected = evaluate(c.p, 0, c.bind());
    options o;
    o.threads = 1 + static_cast<int>(seed % 2);
    const struct plan made = make_plan(c.p, m, o);
    copied += copies_a_factor(made);
    try {
      run_planned(made, c, o);
    } catch (const kernel_refused&) {  // of 16 bits, planned anew where it matters
      continue;
    }
    INFO("seed " << seed << ", " << name_of(c.type) << "\n" << to_string(made, m));
    REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
  }
  CHECK(copied > static_cast<int>(all / 10));
}

TEST_CASE("no factor is copied where it is as large as the other tensors, or may lie under the result") {
  const auto copies = [](std::int64_t rows, bool overlaps) {
    case_builder c(dtype::f64);
    c.label('p', 8), c.label('i', rows), c.label('k', 120), c.label('l', 3);
    statement s;
    s.left = c.tensor("C", "pi");
    s.terms.emplace_back().factors = {c.tensor("A", "pikl"), c.tensor("B", "lkp")};
    c.p.statements.push_back(s);
    planning::work w = planning::make_work(c.p, {});
    w.may_overlap = overlaps;
    CHECK(planning::smaller_factor_copied(w).empty() == (overlaps || rows < 4));
    if (overlaps) c.p.overlaps.push_back({s.left.slot, s.terms[0].factors[1].slot, overlap::kind::may});
    return copies_a_factor(make_plan(c.p, slow(), {}));
  };
  CHECK(copies(400, false));
  CHECK_FALSE(copies(2, false));
  CHECK_FALSE(copies(400, true));
}
