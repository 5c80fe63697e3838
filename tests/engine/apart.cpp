// Products of problems that lie side by side in memory, copied so that each lies by itself, beside loops in long double.
#include <catch2/catch.hpp>

#include <cstring>

#include "build_program.hpp"
#include "plan/plan.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

struct problems {
  std::int64_t a, b, c, y, z;
  const char *first, *second, *result;  // the order of the labels in memory
};

const problems cases[] = {
    {9, 10, 11, 1, 40, "abz", "bcz", "acz"},  {9, 10, 11, 1, 37, "baz", "cbz", "caz"},  {8, 8, 8, 1, 5, "abz", "bcz", "acz"},
    {8, 17, 9, 1, 3, "abz", "bcz", "acz"},    {16, 8, 12, 3, 24, "yabz", "ybcz", "yacz"}, {16, 8, 12, 3, 24, "abyz", "bcyz", "acyz"},
    {13, 9, 10, 1, 70, "abz", "zbc", "zac"},  {13, 9, 10, 1, 70, "zab", "zbc", "acz"},  {13, 9, 10, 1, 70, "zab", "cbz", "zca"},
    {10, 12, 9, 2, 19, "abyz", "ybcz", "zayc"},
};

case_builder build(const problems& x, dtype type, update op, bool conj, std::int64_t gap = 1) {
  case_builder c(type);
  c.label('a', x.a), c.label('b', x.b), c.label('c', x.c), c.label('z', x.z), c.label('y', x.y);
  const bool several = x.y > 1;
  statement s;
  s.op = op;
  s.left = c.tensor("C", several ? "aczy" : "acz", x.result, gap);
  product t;
  t.factors = {c.tensor("A", several ? "abzy" : "abz", x.first), c.tensor("B", several ? "bczy" : "bcz", x.second)};
  t.factors[1].conj = conj;
  t.negate = conj;
  s.terms = {t};
  c.p.statements = {s};
  return c;
}

}  // namespace

TEST_CASE("problems side by side are multiplied as loops multiply them") {
  for (const problems& x : cases)
    for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16})
      for (const auto& [op, block] : {std::pair{update::assign, 0}, {update::assign, 8}, {update::add, 1}, {update::add, 16}, {update::subtract, 8}}) {
        case_builder c = build(x, type, op, op == update::add);
        const auto expected = evaluate(c.p, 0, c.bind());
        if (op == update::assign)  // what is assigned to is never read
          for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
        const plan p = make_plan(c.p, this_machine(), {}, {block, false, true});
        INFO(name_of(type) << "\n" << to_string(p, this_machine()));
        REQUIRE(p.segments[0].steps.size() > 1);
        run_planned(p, c);
        CHECK(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
      }
}

TEST_CASE("nothing beside the results of problems side by side is written") {
  for (const std::int64_t block : {0, 8}) {
    case_builder c = build(cases[0], dtype::f64, update::assign, false, 3);
    const std::vector<char> before(c.memory[0].get(), c.memory[0].get() + c.sizes[0] * 8);
    const auto expected = evaluate(c.p, 0, c.bind());
    const plan p = make_plan(c.p, this_machine(), {}, {block, false, true});
    REQUIRE(p.segments[0].steps.size() > 1);
    run_planned(p, c);
    CHECK(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
    for (std::int64_t i = 0; i < c.sizes[0]; ++i)
      if (i % 3 != 0) REQUIRE(std::memcmp(before.data() + i * 8, c.memory[0].get() + i * 8, 8) == 0);
  }
}

TEST_CASE("statements of many problems side by side are run so") {
  for (const problems& x : {problems{48, 50, 40, 1, 64, "abz", "bcz", "acz"}, {48, 50, 40, 1, 30, "abz", "zbc", "zac"}, {40, 50, 48, 1, 3, "abz", "bcz", "acz"}})
    for (const int threads : {1, 3}) {
      case_builder c = build(x, dtype::f64, update::add, false);
      const auto expected = evaluate(c.p, 0, c.bind());
      options o;
      o.threads = threads;
      run(*compile(c.p, o), c.bind());
      CHECK(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
    }
}
