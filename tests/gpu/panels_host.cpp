// Kernels that keep rows of a or columns of b, run on this CPU beside the reference: neighbours at once and alone, lines that are turned
// on the way, blocks of columns, rows and columns that are not there.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "on_host.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

using extents = std::vector<std::pair<char, std::int64_t>>;

struct contraction {
  const char *what, *left, *a, *b;
  extents labels;
};

const std::vector<contraction>& contractions() {
  static const std::vector<contraction> all = {
      {"both across the sum", "abec", "kae", "kbc", {{'a', 11}, {'e', 8}, {'b', 9}, {'c', 20}, {'k', 10}}},
      {"both along the sum", "abec", "aek", "bck", {{'a', 11}, {'e', 8}, {'b', 9}, {'c', 20}, {'k', 12}}},
      {"one along the sum, single elements", "cbea", "aek", "kcb", {{'a', 9}, {'e', 9}, {'b', 5}, {'c', 19}, {'k', 7}}},
      {"blocks of eight columns", "fedcba", "cbfg", "aged", {{'a', 8}, {'b', 3}, {'c', 5}, {'d', 16}, {'e', 2}, {'f', 6}, {'g', 10}}},
      {"blocks of four columns", "fedcba", "cbfg", "aged", {{'a', 12}, {'b', 3}, {'c', 4}, {'d', 4}, {'e', 5}, {'f', 6}, {'g', 16}}},
      {"problems, runs of seven", "zaeb", "zake", "kzb", {{'z', 2}, {'a', 6}, {'e', 7}, {'b', 33}, {'k', 9}}},
  };
  return all;
}

std::unique_ptr<case_builder> case_of(const contraction& x, dtype t, unsigned seed, bool beta) {
  auto c = std::make_unique<case_builder>(t, seed);
  for (const auto& [name, extent] : x.labels) c->label(name, extent);
  statement s;
  s.left = c->tensor("C", x.left), s.op = beta ? update::add : update::assign;
  product term{c->scalar({0.75, is_complex(t) ? -0.5 : 0.0}), false, {c->tensor("A", x.a), c->tensor("B", x.b)}};
  term.factors[0].conj = is_complex(t);
  s.terms.push_back(term);
  c->p.statements.push_back(s);
  return c;
}

/// With slots, turns, and whether columns stay.
std::vector<cuda::panel_config> configs_of(dtype t) {
  std::vector<cuda::panel_config> all;
  const auto add = [&](cuda::panel_config c, int unroll, int slots, std::int64_t turns, bool keeps_b) {
    c.unroll = unroll, c.slots = slots, c.turns = turns, c.keeps_b = keeps_b;
    all.push_back(c);
  };
  if (t == dtype::f64) {
    add(cuda::panel_of_cores(2, 2, 2, 1, 1), 1, 2, 2, false), add(cuda::panel_of_cores(1, 2, 2, 2, 1), 1, 1, 2, true);
  } else if (t == dtype::c128) {
    add(cuda::panel_of_threads(64, 32, 4, 4, 1), 4, 2, 3, false), add(cuda::panel_of_threads(32, 64, 4, 4, 1), 2, 1, 2, true);
  } else {
    add(cuda::panel_of_threads(64, 128, 8, 8, 1), 2, 2, 2, true), add(cuda::panel_of_threads(128, 64, 8, 8, 1), 1, 1, 3, false);
    add(cuda::panel_of_threads(24, 64, 6, 4, 1), 4, 2, 2, false), add(cuda::panel_of_threads(32, 64, 8, 4, 1), 2, 1, 2, true);
  }
  return all;
}

}  // namespace

TEST_CASE("panels of every kind, on this CPU") {
  cuda::gpu_machine m = cuda::described_h200();
  m.blas = cuda::blas_use::never;
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  unsigned seed = 1;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    for (const contraction& x : contractions())
      for (const cuda::panel_config& c : configs_of(t)) {
        if (++seed % 3 != 0 && reduced_tests()) continue;
        cases.push_back(case_of(x, t, seed, seed % 2 == 0));
        cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(cases.back()->p), m, {});
        INFO(x.what);
        REQUIRE(p.launches.size() == 1);
        cuda::step_plan& step = p.launches[0].step;
        cuda::step_plan panel;
        panel.kind = cuda::kernel_kind::panel, panel.shape = cuda::arranged_for_panels(step.shape), panel.panel = c;
        step = panel;
        plans.push_back(std::move(p));
      }
  check_on_host(cases, plans, m, [](const program&) { return 2; }, true);
}
