// Sums and products of tensors element by element, however they lie: the kernels of tiles run on this CPU, beside the reference.
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "host_gpu.hpp"
#include "on_gpu.hpp"
#include "random_sums.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

TEST_CASE("sums of tensors in any order") {
  host_gpu gpu;
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  int in_tiles = 0, turned = 0, many = 0, cut = 0, again = 0;
  for (unsigned seed = 1; seed <= (reduced_tests() ? 40u : 150u); ++seed) {
    dice d{std::mt19937(seed)};
    cases.push_back(std::make_unique<case_builder>(any_type(d), seed));
    case_builder& c = *cases.back();
    c.p.statements.push_back(sum_of_tensors(c, d));
    plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(c.p), cuda::described_h200(), {}));
    gpu.add(plans.back());
    if (plans.back().launches.empty() || !plans.back().launches[0].tiles) continue;
    CHECK(plans.back().launches.size() == 1);
    const cuda::elementwise_plan& p = *plans.back().launches[0].tiles;
    const auto count = std::count_if(p.turned.begin(), p.turned.end(), [](const auto& strides) { return !strides.empty(); });
    ++in_tiles, turned += count > 0, many += count > p.rooms;
    cut += std::any_of(p.axes.begin(), p.axes.end(), [](const cuda::tile_axis& a) { return a.extent % a.piece != 0; });
    again += tiles_of(p) > 3;  // blocks take more than one
  }
  const std::string failure = gpu.compile();
  INFO(failure);
  REQUIRE(failure.empty());
  for (std::size_t n = 0; n < cases.size(); ++n) {
    case_builder& c = *cases[n];
    const auto expected = evaluate(c.p, 0, c.bind());
    gpu.run(plans[n], c.bind(), n % 2 == 1);
    INFO("case " << n << ", " << name_of(c.type) << "\n" << to_string(c.p) << cuda::to_string(plans[n], cuda::described_h200()));
    CHECK(error_in_bounds(c.p, 0, c.bind(), expected, longest(c.p)) <= 1.0);
  }
  const int all = static_cast<int>(cases.size());
  CHECK(in_tiles > all / 2);
  CHECK(turned > all / 4);
  CHECK(many > 0);
  CHECK(cut > all / 20);
  CHECK(again > all / 5);
}
