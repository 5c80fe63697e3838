// Small factors that are multiplied with one another first give what the reference gives.
#include <catch2/catch.hpp>

#include <omp.h>

#include "build_program.hpp"
#include "machine/machine.hpp"
#include "plan/plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

constexpr dtype all_types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16};

int found = 0;  // plans that multiply small factors

void require_right(case_builder& c, int factors, const options& o = {}) {
  const auto expected = evaluate(c.p, 0, c.bind());
  const auto plan = compile(c.p, o);
  run(*plan, c.bind());
  found += describe(*plan).find("multiplied with one another") != std::string::npos;
  INFO(name_of(c.type) << "\n" << describe(*plan));
  REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, factors) <= 1.0);
}

}  // namespace

TEST_CASE("an operator of three directions, with what lies otherwise in memory, coefficients and conjugates") {
  found = 0;
  for (dtype t : all_types)
    for (const std::int64_t count : {1, 37, 200})
      for (const update how : {update::assign, update::add})
        for (const char* order : {"eijk", "kjie"}) {
          case_builder c(t, 3);
          c.label('e', count);
          for (char l : {'i', 'j', 'k'}) c.label(l, 2);
          for (char l : {'q', 'r', 's'}) c.label(l, 3);
          reference b = c.tensor("B", "qi"), d = c.tensor("B", "rj", "jr");
          b.conj = true;
          const reference u = c.tensor("u", "eijk", order, 1), w = c.tensor("w", "eqrs", how == update::add ? "sqre" : "eqrs");
          c.p.statements = {{w, how, {{c.scalar({0.75, 0.5}), true, {b, d, c.tensor("B", "sk"), u}}}}};
          require_right(c, 5);
        }
  if (this_machine().writes_kernels) CHECK(found > 0);
}

TEST_CASE("there and back again, on one thread and on two") {
  found = 0;
  for (dtype t : {dtype::f32, dtype::f64, dtype::c128})
    for (int nodes = 2; nodes <= 4; ++nodes)
      for (const int threads : {1, 2}) {
        omp_set_num_threads(threads);
        case_builder c(t, 7);
        c.label('e', 403);
        for (char l : {'i', 'j', 'a', 'b'}) c.label(l, nodes);
        for (char l : {'q', 'r'}) c.label(l, nodes + 1);
        const reference u = c.tensor("u", "eij"), d = c.tensor("D", "eqr"), v = c.tensor("v", "eab");
        c.p.statements = {{v, update::assign, {{-1, false, {c.tensor("B", "qa"), c.tensor("B", "rb"), d, c.tensor("B", "qi"), c.tensor("B", "rj"), u}}}}};
        require_right(c, 8);
      }
  omp_set_num_threads(omp_get_num_procs());
  if (this_machine().writes_kernels) CHECK(found > 0);
}

TEST_CASE("several terms, and a matrix that both have") {
  case_builder c(dtype::f64, 9);
  c.label('e', 2000);
  for (char l : {'i', 'j', 'k', 'l'}) c.label(l, 3);
  const reference a = c.tensor("A", "ki"), b = c.tensor("B", "lj"), u = c.tensor("u", "eij"), x = c.tensor("x", "eij");
  c.p.statements = {{c.tensor("v", "ekl"), update::add, {{-1, false, {a, b, u}}, {-1, true, {b, a, x}}}}};
  require_right(c, 4);
}
