// Products whose sums are added piece by piece: the outermost summed label of a large factor in loops around the kernel, alone and in the
// blocks of a chain, planned for machines whose caches are tiny; against the long-double reference.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "machine/machine.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

machine tiny() {
  machine m = *named_machine("avx2");
  m.caches = {{2048, 200}, {16384, 100}, {32768, 50}};
  m.asks.memory = 2048, m.fetches_blocks = true;
  return m;
}

/// Of an outer label one value at a time, of the sum some.
bool in_pieces(const struct plan& p) {
  if (std::any_of(p.stages.begin(), p.stages.end(), in_pieces)) return true;
  for (const segment& g : p.segments)
    for (const plan_step& s : g.steps) {
      const auto any = [&](auto is) { return std::any_of(s.axes.begin(), s.axes.end(), is); };
      if (s.in_pieces && any([](const step_axis& x) { return x.role != group::k && x.tile == 1 && x.extent > 1; }) &&
          any([](const step_axis& x) { return x.role == group::k && x.tile < x.extent; })) return true;
    }
  return false;
}

/// C(a,i,j) = sum over k and l of a large A and B, memory in any order; or a chain of four factors that have r in common.
program product_of(case_builder& c, std::mt19937& rng, bool chain) {
  const auto d = [&rng](int low, int high) { return std::uniform_int_distribution<int>(low, high)(rng); };
  const auto any_order = [&rng](std::string s) { return std::shuffle(s.begin(), s.end(), rng), s; };
  statement s;
  s.op = d(0, 2) ? update::assign : update::add;
  if (chain) {
    for (const char l : {'i', 'j', 'k', 'l'}) c.label(l, d(9, 20));
    c.label('r', d(3, 17));
    s.left = c.tensor("C", d(0, 1) ? "lr" : "kr");
    const bool l_left = s.left.axes[0].label == c.find('l');
    s.terms.emplace_back().factors = {c.tensor("A", "ijkl"), c.tensor("U", "ir"), c.tensor("V", "jr"), c.tensor("W", l_left ? "kr" : "lr")};
  } else {
    c.label('a', d(1, 9)), c.label('i', d(9, 40)), c.label('j', d(2, 9)), c.label('k', d(30, 90)), c.label('l', d(1, 4));
    s.left = c.tensor("C", "aij", any_order("aij"));
    s.terms.emplace_back().factors = {c.tensor("A", "aikl", any_order("aikl"), d(0, 4) ? 1 : 2), c.tensor("B", "klj", any_order("klj"))};
    s.terms[0].factors[0].conj = d(0, 1) != 0;
    if (d(0, 1)) std::swap(s.terms[0].factors[0], s.terms[0].factors[1]);
  }
  c.p.statements.push_back(s);
  return c.p;
}

}  // namespace

TEST_CASE("sums are added piece by piece") {
  const machine m = tiny();
  for (const bool chain : {false, true}) {
    int pieces = 0;
    const unsigned all = seeds(chain ? 90 : 300);
    for (unsigned seed = 1; seed <= all; ++seed) {
      std::mt19937 rng(seed);
      constexpr dtype types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128};
      case_builder c(types[seed % 4], seed);
      const program p = product_of(c, rng, chain);
      const auto expected = evaluate(p, 0, c.bind());
      if (p.statements[0].op == update::assign)
        for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
      const struct plan made = make_plan(p, m);
      pieces += in_pieces(made);
      run_planned(made, c);
      INFO("seed " << seed << ", " << name_of(c.type) << "\n" << to_string(made, m));
      REQUIRE(error_in_bounds(p, 0, c.bind(), expected, static_cast<int>(p.statements[0].terms[0].factors.size())) <= 1.0);
    }
    INFO(pieces << " of " << all);
    if (!reduced_tests()) CHECK(pieces > static_cast<int>(all / (chain ? 9 : 30)));
  }
}

TEST_CASE("in pieces are sums with rows between them that no near cache holds, where kernels ask") {
  const auto pieces = [](std::int64_t i, std::int64_t jkl, int asks) {
    machine m = tiny();
    m.asks.memory = asks;
    case_builder c(dtype::f64);
    c.label('i', i), c.label('r', 8);
    for (const char l : {'j', 'k', 'l'}) c.label(l, jkl);
    statement s;
    s.op = update::assign, s.left = c.tensor("C", "lr");
    s.terms.emplace_back().factors = {c.tensor("A", "ijkl"), c.tensor("U", "ir"), c.tensor("V", "jr"), c.tensor("W", "kr")};
    c.p.statements.push_back(s);
    return in_pieces(make_plan(c.p, m));
  };
  CHECK(pieces(16, 16, 2048));
  CHECK_FALSE(pieces(16, 16, 0));
  CHECK_FALSE(pieces(4, 6, 2048));  // the second cache holds them
}
