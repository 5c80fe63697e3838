// Plan texts for fixed programs on described machines. RICCI_UPDATE_GOLDEN=1 rewrites them: read the diff.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "build_program.hpp"
#include "plan/plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

void labels(case_builder& c, std::initializer_list<std::pair<char, std::int64_t>> list) {
  for (const auto& [name, extent] : list) c.label(name, extent);
}

statement assign(reference left, std::vector<reference> factors) {
  return {std::move(left), update::assign, {{-1, false, std::move(factors)}}};
}

void compare(const std::string& name, const case_builder& c) {
  for (const char* machine : {"avx2", "avx512", "neon"}) {
    const auto m = named_machine(machine);
    REQUIRE(m);
    const std::string text = to_string(make_plan(c.p, *m), *m);
    const std::string path = std::string(RICCI_GOLDEN_DIR) + "/" + name + "." + machine + ".txt";
    if (std::getenv("RICCI_UPDATE_GOLDEN")) std::ofstream(path) << text;
    std::ifstream file(path);
    std::stringstream expected;
    expected << file.rdbuf();
    INFO(path);
    CHECK(text == expected.str());
  }
}

}  // namespace

TEST_CASE("rank-64 update within one tensor") {
  case_builder c(dtype::f64);
  labels(c, {{'i', 64}, {'j', 64}, {'k', 64}, {'m', 8}, {'n', 7}});
  reference left = c.tensor("A", "ij"), x = left, y = left;  // 64 x 64 x 9 x 8, the ranges 1..8 and 1..7
  x.slot = c.p.slot_count++, y.slot = c.p.slot_count++;
  left.axes = {{0, 64 * 72}, {1, 72}, {3, 8}, {4, 1}};
  x.axes = {{0, 64 * 72}, {2, 72}, {3, 8}};
  y.axes = {{2, 64 * 72}, {1, 72}, {4, 1}};
  c.p.statements = {{left, update::subtract, {{-1, false, {x, y}}}}};
  c.p.overlaps = {{0, 1, overlap::kind::disjoint}, {0, 2, overlap::kind::disjoint}};
  compare("rank_update", c);
}

TEST_CASE("batched products of small matrices") {
  case_builder c(dtype::f64);
  labels(c, {{'e', 100000}, {'i', 8}, {'j', 8}, {'k', 8}});
  c.p.statements = {assign(c.tensor("C", "eij"), {c.tensor("A", "eik"), c.tensor("B", "ekj")})};
  compare("batched_8", c);
}

TEST_CASE("interpolation and mass operator") {
  case_builder c(dtype::f64);
  labels(c, {{'e', 10000}, {'i', 4}, {'j', 4}, {'k', 4}, {'q', 5}, {'r', 5}, {'s', 5}, {'a', 4}, {'b', 4}, {'c', 4}});
  const auto b = [&](const char* l) { return c.tensor("B", l); };
  c.p.statements = {assign(c.tensor("w", "eqrs"), {b("qi"), b("rj"), b("sk"), c.tensor("u", "eijk")})};
  compare("interpolation", c);
  c.p.statements = {assign(c.tensor("v", "eabc"), {b("qa"), b("rb"), b("sc"), c.tensor("D", "eqrs"), b("qi"), b("rj"),
                                                   b("sk"), c.tensor("u", "eijk")})};
  compare("mass", c);
}

TEST_CASE("convolution, coupled cluster, permutation, dot product") {
  case_builder c(dtype::f32);
  labels(c, {{'b', 16}, {'f', 8}, {'c', 3}, {'y', 60}, {'x', 60}, {'p', 5}, {'q', 5}});
  reference image = c.tensor("I", "bcyx");
  image.axes = {{0, 3 * 64 * 64}, {2, 64 * 64}, {3, 64}, {5, 64}, {4, 1}, {6, 1}};
  c.p.statements = {assign(c.tensor("O", "bfyx"), {c.tensor("F", "fcpq"), image})};
  compare("convolution", c);
  case_builder t(dtype::f64);
  labels(t, {{'i', 20}, {'j', 20}, {'k', 20}, {'l', 20}, {'m', 32}, {'n', 32}});
  t.p.statements = {assign(t.tensor("R", "ijkl"), {t.tensor("T", "ijmn"), t.tensor("V", "mnkl")})};
  compare("coupled_cluster", t);
  t.p.statements = {assign(t.tensor("P", "lkji"), {t.tensor("T", "ijkl")})};
  compare("permutation", t);
  t.p.statements = {assign(t.tensor("s", ""), {t.tensor("X", "ijm"), t.tensor("Y", "ijm")})};
  compare("dot", t);
}

TEST_CASE("a fused program and a statement that needs a buffer") {
  case_builder c(dtype::f64);
  labels(c, {{'e', 5000}, {'i', 6}, {'q', 7}});
  c.p.statements = {assign(c.local("g", 0, "eq"), {c.tensor("B", "qi"), c.tensor("u", "ei")}),
                    assign(c.local("h", 1, "eq"), {c.tensor("D", "eq"), c.local("g", 0, "eq")}),
                    assign(c.tensor("v", "ei"), {c.tensor("B", "qi"), c.local("h", 1, "eq")})};
  compare("fused", c);
  case_builder t(dtype::f16);
  labels(t, {{'i', 30}, {'j', 30}});
  reference left = t.tensor("A", "ij"), turned = left;
  turned.slot = t.p.slot_count++;
  std::swap(turned.axes[0].label, turned.axes[1].label);
  t.p.statements = {assign(left, {turned})};
  t.p.overlaps = {{left.slot, turned.slot, overlap::kind::may}};
  compare("transpose_in_place", t);
}

TEST_CASE("a network of tensors, whose temporaries leave the caches") {
  case_builder c(dtype::f64);
  const char* const factors[] = {"ab", "bcd", "de", "afg", "cghi", "eij", "fk", "hkl", "jl"};
  for (char l = 'a'; l <= 'l'; ++l) c.label(l, 64);
  std::vector<reference> all;
  for (const char* f : factors) all.push_back(c.tensor("T", f));
  c.p.statements = {assign(c.tensor("C", ""), std::move(all))};
  compare("network", c);
}
