// Kernels of random fused programs, run on this CPU and compared with the reference.
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "fused_check.hpp"
#include "host_gpu.hpp"
#include "random_fused.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// Statements that take one matrix each, one after the other, over elements e: what one makes the next reads under labels of
/// its own, in any order, which names other axes the same way.
fused_case matrices(unsigned seed) {
  dice d{std::mt19937(seed)};
  program_writer w(d.chance(50) ? dtype::f64 : dtype::c64, seed);
  const std::string letters = "abcdfg";
  w.labels("e", 40), w.labels(letters, 4);
  const auto rank = static_cast<std::size_t>(d(1, 3)), place = static_cast<std::size_t>(d(0, static_cast<int>(rank)));
  const int count = d(2, 4);
  std::string from = "u";
  for (int n = 0; n < count; ++n) {
    const std::string all = shuffled(letters, d), axes = all.substr(0, rank), fresh = all.substr(rank, 1);
    const std::string gone = axes.substr(static_cast<std::size_t>(d(0, static_cast<int>(rank) - 1)), 1), matrix = d.chance(50) ? gone + fresh : fresh + gone;
    std::string made = axes;
    made[axes.find(gone)] = fresh[0];
    if (d.chance(40)) made = shuffled(made, d);
    const auto with_elements = [&](std::string labels) { return labels.insert(place, "e"); };
    if (n == 0) w.tensor("u", with_elements(axes));
    const std::string name = n + 1 < count ? "g" + std::to_string(n) : "v", number = std::to_string(n);
    if (n + 1 == count) w.tensor("v", with_elements(made));
    w.tensor("M" + number, matrix);
    std::string right = "M" + number + "(" + matrix + ") " + from + "(" + with_elements(axes) + ")";
    if (d.chance(15)) w.tensor("D" + number, with_elements(made)), right += " D" + number + "(" + with_elements(made) + ")";
    w.assign(name + "(" + with_elements(made) + ")", right);
    from = name;
  }
  return {"matrices " + std::to_string(seed), std::move(w.made), 2 + 2 * count};
}

}  // namespace

TEST_CASE("one matrix after the other, between them locals in any order") {
  std::vector<fused_case> cases;
  std::vector<cuda::program_plan> plans;
  host_gpu gpu;
  for (unsigned seed = 1; seed <= (reduced_tests() ? 20u : 100u); ++seed) {
    cases.push_back(matrices(seed));
    plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(cases.back().c->p), cuda::described_h200(), {}));
    gpu.add(plans.back());
  }
  const std::string failure = gpu.compile();
  INFO(failure);
  REQUIRE(failure.empty());
  for (std::size_t n = 0; n < plans.size(); ++n) {
    fused_check check(cases[n]);
    gpu.run(plans[n], cases[n].c->bind(), n % 2 == 1);
    INFO(cases[n].name << "\n" << to_string(cases[n].c->p));
    CHECK(check.error() <= 1);
  }
}

TEST_CASE("kernels of random fused programs on the host") {
  constexpr unsigned gathered_aside = 1197;  // a kernel of its own reads what another gathered, as bfloat16
  std::vector<unsigned> seeds{gathered_aside};
  while (seeds.size() < (reduced_tests() ? 20 : 100)) seeds.push_back(static_cast<unsigned>(seeds.size()));
  std::vector<std::unique_ptr<random_fused>> cases;
  std::vector<cuda::program_plan> plans;
  host_gpu gpu;
  for (const unsigned seed : seeds) {
    cases.push_back(std::make_unique<random_fused>(seed));
    plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(cases.back()->c.p), cuda::described_h200(), {}));
    gpu.add(plans.back());
  }
  const std::string failure = gpu.compile();
  INFO(failure);
  REQUIRE(failure.empty());
  std::size_t compared = 0;
  for (std::size_t n = 0; n < seeds.size(); ++n) {
    case_builder& c = cases[n]->c;
    fused_answer answer(c);
    if (!answer.is_tame()) continue;
    ++compared;
    gpu.run(plans[n], c.bind(), n % 2 == 1);
    INFO("seed " << seeds[n] << ", " << name_of(c.type) << "\n" << to_string(c.p) << cuda::to_string(plans[n], cuda::described_h200()));
    CHECK(answer.error() <= 1);
  }
  CHECK(compared > seeds.size() * 7 / 10);
}
