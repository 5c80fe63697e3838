// The kernels of fused programs, run on this CPU: their text is compiled as C++ and compared with the reference.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

#include "fused_check.hpp"
#include "host_gpu.hpp"
#include "random_program.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// Every fifth case with other choices than the planner's: they must not change the result.
void vary(cuda::program_plan& p, std::size_t n) {
  if (n % 5 != 3) return;
  for (cuda::launch_plan& l : p.launches)
    if (l.chain) cuda::set_config(*l.chain, {.elements = 3, .threads = n % 2 ? 32 : 96, .lines = 3, .blocks = 1, .early = true, .unroll = 2, .turns = 2});
}

}  // namespace

TEST_CASE("fused kernels on the host") {
  std::vector<fused_case> cases = fused_cases(false);
  std::vector<cuda::program_plan> plans;
  host_gpu gpu;
  for (const fused_case& c : cases) {
    plans.push_back(cuda::make_program_plan(on_gpu(c.c->p), cuda::described_h200(), {}));
    vary(plans.back(), plans.size());
    gpu.add(plans.back());
  }
  const std::string failure = gpu.compile();
  INFO(failure);
  REQUIRE(failure.empty());
  for (std::size_t n = 0; n < cases.size(); ++n) {
    fused_check check(cases[n]);
    for (const bool reverse : {false, true}) {
      check.restore();
      gpu.run(plans[n], cases[n].c->bind(), reverse);
      INFO(cases[n].name << (reverse ? ", threads in reverse" : "") << "\n" << to_string(cases[n].c->p));
      CHECK(check.error() <= 1);
    }
  }
}

TEST_CASE("the bake-off operators are one kernel each") {
  for (const int degree : {1, 6, 15})
    for (const int which : {1, 3, 5}) {
      const int P = degree + 1, Q = degree + 2;
      const fused_case c = which == 1 ? bk1(dtype::f64, P, Q, 1000) : which == 3 ? bk3(dtype::f64, P, Q, 1000) : bk5(dtype::f64, P, 1000);
      INFO(c.name);
      const auto plan = cuda::make_program_plan(on_gpu(c.c->p), cuda::described_h200(), {});
      CHECK(plan.launches.size() == 1);
      CHECK(plan.workspace == 0);
    }
}

TEST_CASE("chains of 16-bit programs read temporaries in float") {
  for (const unsigned seed : {20001u, 20007u, 20020u}) {  // as in gpu.random
    dice d{std::mt19937(seed)};
    case_builder c(any_type(d), seed);
    add_statement(c, d, 6, 5, 5, 3);
    REQUIRE(size_of(c.type) == 2);
    const cuda::program_plan p = cuda::make_program_plan(on_gpu(c.p), cuda::described_h200(), {});
    REQUIRE(std::any_of(p.launches.begin(), p.launches.end(), [](const cuda::launch_plan& l) { return l.chain.has_value(); }));
    host_gpu gpu;
    gpu.add(p);
    REQUIRE(gpu.compile().empty());
    const auto expected = evaluate(c.p, 0, c.bind());
    gpu.run(p, c.bind(), false);
    INFO("seed " << seed << "\n" << to_string(c.p));
    CHECK(error_in_bounds(c.p, 0, c.bind(), expected, longest(c.p)) <= 1);
  }
}
