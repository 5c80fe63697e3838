// Random fused programs against the long-double reference, planned for this machine and for ones with other costs.
#include <catch2/catch.hpp>

#include <omp.h>

#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "random_fused.hpp"
#include "reduced.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// This machine with other caches and speeds, so that other plans are best.
machine another(dice& d) {
  machine m = this_machine();
  if (d.chance(60)) m.caches = {{1024, 200}, {2048, 100}, {4096, 50}};
  if (d.chance(40)) m.peak_f64 *= d(1, 100) / 10.0, m.peak_f32 *= d(1, 100) / 10.0;
  m.asks.second = m.asks.third = m.asks.memory = d(0, 2) * 512, m.fetches_blocks = d.chance(50), m.cores = d(1, 4);
  return m;
}

void run_on(machine m, case_builder& c) {
  try {
    run_planned(make_plan(c.p, m), c);
  } catch (const kernel_refused&) {
    m.writes_kernels = false;
    run_planned(make_plan(c.p, m), c);
  }
}

}  // namespace

TEST_CASE("fused programs") {
  const unsigned programs = reduced_tests() ? 120 : 500;
  unsigned compared = 0;
  for (unsigned seed = 1; seed <= programs; ++seed) {
    random_fused f(seed);
    case_builder& c = f.c;
    fused_answer answer(c);
    if (!answer.is_tame()) continue;
    ++compared;
    INFO("seed " << seed << ", " << name_of(c.type) << "\n" << to_string(c.p));
    if (seed % 2) {
      run_on(another(f.d), c);
    } else {
      const auto made = compile(c.p, {}, c.bind());
      run(*made, c.bind());
      if (has_lookups(c.p)) {  // the same bits with any number of threads
        const std::vector<std::string> bits = snapshot(c);
        answer.restore();
        omp_set_num_threads(3);
        run(*made, c.bind());
        omp_set_num_threads(2);
        REQUIRE(snapshot(c) == bits);
      }
    }
    REQUIRE(answer.error() <= 1.0);
  }
  CHECK(compared > programs * 7 / 10);
}
