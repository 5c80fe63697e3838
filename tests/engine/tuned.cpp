// Tiles from a tuning table: taken by the products that they were measured for, and by no others.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "machine/machine.hpp"
#include "run_plan.hpp"
#include "temporary_folder.hpp"
#include "tune/tune.hpp"

using namespace ricci;
using namespace ricci::test;

TEST_CASE("a measured tile is taken by products of its type alone") {
  const temporary_folder here;
  setenv("RICCI_CACHE", here.path.c_str(), 1);  // before anything reads a table
  const machine& m = this_machine();
  if (!m.writes_kernels) return;
  // One row of one short register at a time, which no cost function chooses.
  tune::save({m.name, tune::build_name(), {{{dtype::f32, false, 9, 9, 1, 9}, {32, 1, 1}, 1.1}}}, tune::file_of(m));
  const auto code_size = [&](dtype type, bool deterministic) -> std::size_t {
    case_builder c(type);
    c.label('e', 20), c.label('i', 9), c.label('j', 9), c.label('k', 9);
    statement s;
    s.left = c.tensor("C", "eij"), s.op = update::assign;
    s.terms.push_back({-1, false, {c.tensor("A", "eik"), c.tensor("B", "ekj")}});
    c.p.statements.push_back(s);
    options o;
    o.deterministic = deterministic;
    const struct plan made = make_plan(c.p, m, o);
    const auto expected = evaluate(c.p, 0, c.bind());
    run_planned(made, c, o);
    INFO(name_of(type));
    CHECK(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
    const bound_plan bound = bind(made, kernels::best(), o);
    const auto& kernel = bound.segments.at(0).steps.at(0).tiles.at(0).first;
    return kernel ? kernel->bytes() : 0;
  };
  CHECK(code_size(dtype::f32, false) != code_size(dtype::f32, true));
  for (const dtype other : {dtype::f64, dtype::c64, dtype::f16, dtype::bf16}) {
    INFO(name_of(other));
    CHECK(code_size(other, false) == code_size(other, true));
  }
}
