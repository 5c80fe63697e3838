// Sums and products of tensors element by element, however they lie: the kernels of tiles run on this CPU, beside the reference.
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "on_host.hpp"
#include "random_sums.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// C(labels) += A(labels) - 2 A(order) of one tensor.
std::unique_ptr<case_builder> both_ways(dtype t, std::initializer_list<std::pair<char, std::int64_t>> extents, const std::string& order) {
  auto c = std::make_unique<case_builder>(t);
  std::string labels;
  for (const auto& [name, extent] : extents) c->label(name, extent), labels += name;
  statement s;
  s.left = c->tensor("C", labels), s.op = update::add;
  const reference a = c->tensor("A", labels);
  reference b = a;
  for (std::size_t d = 0; d < labels.size(); ++d) b.axes[d].label = a.axes[labels.find(order[d])].label;
  s.terms = {{-1, false, {a}}, {c->scalar({2, 0.5}), true, {b}}};
  c->p.statements.push_back(s);
  return c;
}

}  // namespace

TEST_CASE("sums of tensors in any order") {
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  int in_tiles = 0, turned = 0, many = 0, cut = 0, again = 0;
  for (unsigned seed = 1; seed <= (reduced_tests() ? 40u : 150u); ++seed) {
    dice d{std::mt19937(seed)};
    cases.push_back(std::make_unique<case_builder>(any_type(d), seed));
    case_builder& c = *cases.back();
    c.p.statements.push_back(sum_of_tensors(c, d));
    plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(c.p), cuda::described_h200(), {}));
    if (plans.back().launches.empty() || !plans.back().launches[0].tiles) continue;
    CHECK(plans.back().launches.size() == 1);
    const cuda::elementwise_plan& p = *plans.back().launches[0].tiles;
    const auto count = std::count_if(p.turned.begin(), p.turned.end(), [](const auto& strides) { return !strides.empty(); });
    ++in_tiles, turned += count > 0, many += count > p.rooms;
    cut += std::any_of(p.axes.begin(), p.axes.end(), [](const cuda::tile_axis& a) { return a.extent % a.piece != 0; });
    again += tiles_of(p) > 3;  // blocks take more than one
  }
  check_on_host(cases, plans, cuda::described_h200(), [](const program& p) { return longest(p); });
  const int all = static_cast<int>(cases.size());
  CHECK(in_tiles > all / 2);
  CHECK(turned > all / 4);
  CHECK(many > 0);
  CHECK(cut > all / 20);
  CHECK(again > all / 5);
}

TEST_CASE("a tensor that is read both ways is read by tiles across each other in turn") {
  std::vector<std::unique_ptr<case_builder>> cases;
  for (const dtype t : {dtype::f64, dtype::f32, dtype::c128, dtype::f16}) {
    for (const std::int64_t n : {256, 257, 290, 320, 350}) cases.push_back(both_ways(t, {{'i', n}, {'j', n}}, "ji"));
    cases.push_back(both_ways(t, {{'a', 9}, {'b', 9}, {'i', 40}, {'j', 30}}, "baij"));
    cases.push_back(both_ways(t, {{'a', 8}, {'b', 8}, {'i', 150}, {'j', 130}}, "baij"));
    cases.push_back(both_ways(t, {{'a', 5}, {'b', 70}, {'i', 3}, {'j', 70}}, "ajib"));
    cases.push_back(both_ways(t, {{'e', 3}, {'i', 265}, {'j', 265}}, "eji"));
  }
  std::vector<cuda::program_plan> plans;
  int swapped = 0;
  for (const auto& c : cases) {
    plans.push_back(cuda::make_program_plan(cuda::placed_on_gpu(c->p), cuda::described_h200(), {}));
    const auto& tiles = plans.back().launches[0].tiles;
    swapped += tiles && tiles->swapped[0] >= 0;
  }
  check_on_host(cases, plans, cuda::described_h200(), [](const program& p) { return longest(p); });
  CHECK(swapped >= static_cast<int>(cases.size()) * 3 / 4);
}
