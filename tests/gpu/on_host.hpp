// Programs for the GPU, their kernels run on this CPU, beside the reference.
#pragma once

#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "host_gpu.hpp"
#include "on_gpu.hpp"

namespace ricci::test {

/// Every case by its plan, every second one with threads in reverse. factors(program): its longest product, for the bounds; small: kernels of
/// small products and panels run too.
template <class Factors>
void check_on_host(const std::vector<std::unique_ptr<case_builder>>& cases, const std::vector<cuda::program_plan>& plans, const cuda::gpu_machine& machine, const Factors& factors, bool small = false) {
  host_gpu gpu(small);
  for (const cuda::program_plan& p : plans) gpu.add(p);
  const std::string failure = gpu.compile();
  INFO(failure);
  REQUIRE(failure.empty());
  for (std::size_t n = 0; n < cases.size(); ++n) {
    case_builder& c = *cases[n];
    const auto expected = evaluate(c.p, 0, c.bind());
    gpu.run(plans[n], c.bind(), n % 2 == 1);
    INFO("case " << n << ", " << name_of(c.type) << "\n" << to_string(c.p) << cuda::to_string(plans[n], machine));
    CHECK(error_in_bounds(c.p, 0, c.bind(), expected, factors(c.p)) <= 1.0);
  }
}

}  // namespace ricci::test
