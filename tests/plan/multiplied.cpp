// Small factors multiplied with one another first.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "build_program.hpp"
#include "machines.hpp"
#include "plan/multiplied.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// From nodes to points in `dimensions` directions, p nodes to p + 1 points; mass: and back, by way of a tensor.
case_builder elements(int dimensions, int p, std::int64_t count, bool mass) {
  case_builder c(dtype::f64);
  c.label('e', count);
  const auto first = [&](const char* letters) { return std::string(letters, static_cast<std::size_t>(dimensions)); };
  const std::string in = first("ijk"), out = first("qrs"), back = first("abc");
  for (char l : in + back) c.label(l, p);
  for (char l : out) c.label(l, p + 1);
  std::vector<reference> factors;
  if (mass) {
    for (int d = 0; d < dimensions; ++d) factors.push_back(c.tensor("B", {out[d], back[d]}));
    factors.push_back(c.tensor("D", "e" + out));
  }
  for (int d = 0; d < dimensions; ++d) factors.push_back(c.tensor("B", {out[d], in[d]}));
  factors.push_back(c.tensor("u", "e" + in));
  c.p.statements = {{c.tensor("v", "e" + (mass ? back : out)), update::assign, {{-1, false, factors}}}};
  return c;
}

bool multiplies(const plan& p) {
  return std::any_of(p.notes.begin(), p.notes.end(), [](const std::string& n) { return n.find("multiplied with one another") != std::string::npos; });
}

}  // namespace

TEST_CASE("small matrices are multiplied with one another where one product of more columns is faster") {
  for (const bool mass : {false, true}) {
    for (const auto& [dimensions, nodes] : {std::pair{2, 2}, {2, 3}, {3, 2}}) {
      const case_builder c = elements(dimensions, nodes, 4000, mass);
      const plan p = make_plan(c.p, zen4());
      INFO(to_string(p, zen4()));
      REQUIRE(multiplies(p));
      REQUIRE(p.stages.size() == 2);
      CHECK(p.stages[0].block_labels.empty());
      CHECK(p.stages[1].segments[0].steps.size() == (mass ? 2 : 1));
      // Neighbours of the large tensors are neighbours in what was multiplied out, so nothing is packed.
      for (const plan_step& s : p.stages[1].segments[0].steps) CHECK(!(s.pack_a || s.pack_b || s.buffer_c));
    }
    CHECK(!multiplies(make_plan(elements(3, 5, 4000, mass).p, zen4())));  // of too many elements
    CHECK(!multiplies(make_plan(elements(3, 2, 8, mass).p, zen4())));     // for too few
  }
}

TEST_CASE("what may share memory is not multiplied out") {
  case_builder c = elements(3, 2, 4000, false);
  REQUIRE(multiplies(make_plan(c.p, zen4())));
  c.p.overlaps = {{c.p.statements[0].left.slot, 0, overlap::kind::may}};
  CHECK(!multiplies(make_plan(c.p, zen4())));
}

TEST_CASE("runs of small factors, not those that a large one divides") {
  // B(0,3) D(4,0) B(0,1) C(1,2) u(4,2), from the right: C and B meet one another, the other B waits for D.
  const std::vector<std::int64_t> extents{3, 2, 3, 2, 5000};
  const planning::contraction of{{{0, 3}, {4, 0}, {0, 1}, {1, 2}, {4, 2}}, {4, 3}, {true, true, true, true, true}};
  const auto made = planning::multiplied_out({{3, 4}, {2, 5}, {1, 6}, {0, 7}}, of, extents);
  CHECK(made.made == 1);
  CHECK(made.steps == planning::contraction_steps{{3, 2}, {4, 5}, {1, 6}, {0, 7}});
  planning::contraction not_small = of;
  not_small.small[2] = false;
  CHECK(planning::multiplied_out({{3, 4}, {2, 5}, {1, 6}, {0, 7}}, not_small, extents).made == 0);
}
