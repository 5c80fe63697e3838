// The shipped configurations of chains are those of the kernels that they were measured for.
#include <catch2/catch.hpp>

#include "bake_off.hpp"
#include "gpu/chain.hpp"
#include "gpu/executable.hpp"
#include "on_gpu.hpp"

using namespace ricci;

TEST_CASE("the bake-off kernels run as they were measured") {
  for (const int kernel : {1, 3, 5})
    for (int degree = 1; degree <= 11; ++degree) {
      CAPTURE(kernel, degree);
      const auto plan = cuda::make_program_plan(cuda::placed_on_gpu(test::bake_off(kernel, degree)), cuda::described_h200(), {});
      REQUIRE(plan.launches.size() == 1);
      REQUIRE(plan.launches[0].chain);
      const auto known = cuda::measured_config(*plan.launches[0].chain, cuda::described_h200());
      CHECK(known.has_value() == (degree <= 10));
      if (known) CHECK(plan.launches[0].chain->config == *known);
    }
}
