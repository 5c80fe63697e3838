// Filters of images: views whose windows lie over one another, beside loops in long double.
#include <catch2/catch.hpp>

#include "build_program.hpp"
#include "plan/plan.hpp"
#include "run_plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

struct filter_case {
  const char* what;
  std::int64_t images, rows, columns, high, wide, step, dilation, filters;
};

const filter_case cases[] = {
    {"5 by 5", 1, 37, 70, 5, 5, 1, 1, 1},
    {"9 by 9", 1, 20, 101, 9, 9, 1, 1, 1},
    {"3 by 3 of several images", 3, 15, 33, 3, 3, 1, 1, 1},
    {"rows alone", 1, 30, 200, 1, 9, 1, 1, 1},
    {"columns alone, whose rows join", 1, 40, 50, 9, 1, 1, 1, 1},
    {"columns alone, more than a kernel lists", 1, 70, 1000, 9, 1, 1, 1, 1},
    {"every second", 1, 31, 47, 3, 3, 2, 1, 1},
    {"dilated", 1, 31, 47, 3, 3, 1, 3, 1},
    {"a signal", 2, 1, 3000, 1, 80, 1, 1, 1},
    {"two filters", 1, 33, 65, 3, 3, 1, 1, 2},
    {"narrow", 1, 50, 3, 3, 3, 1, 1, 1},
};

case_builder build(const filter_case& z, dtype type, update op) {
  case_builder c(type);
  c.label('n', z.images), c.label('f', z.filters), c.label('p', z.rows), c.label('q', z.columns), c.label('r', z.high), c.label('s', z.wide);
  const std::int64_t width = (z.columns - 1) * z.step + (z.wide - 1) * z.dilation + 1, height = (z.rows - 1) * z.step + (z.high - 1) * z.dilation + 1;
  statement st;
  st.op = op;
  st.left = c.tensor("C", "nfpq");
  product t;
  t.factors = {c.tensor("F", "frs"), c.tensor("I", "npqrs")};
  // The memory of all windows one after the other is enough for the image, whose steps are these.
  const std::pair<char, std::int64_t> strides[] = {{'n', height * width}, {'p', z.step * width}, {'q', z.step}, {'r', z.dilation * width}, {'s', z.dilation}};
  for (reference_axis& x : t.factors[1].axes)
    for (const auto& [label, stride] : strides)
      if (c.p.labels[static_cast<std::size_t>(x.label)].name == std::string(1, label)) x.stride = stride;
  REQUIRE(c.sizes[static_cast<std::size_t>(t.factors[1].slot)] >= z.images * height * width);
  st.terms = {t};
  c.p.statements = {st};
  return c;
}

}  // namespace

TEST_CASE("filters of images are what loops compute") {
  for (const filter_case& z : cases)
    for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16})
      for (const update op : {update::assign, update::add}) {
        case_builder c = build(z, type, op);
        INFO(z.what << ", " << name_of(type) << (op == update::add ? ", added" : ""));
        const auto expected = evaluate(c.p, 0, c.bind());
        run_planned(make_plan(c.p, this_machine(), {}), c);
        CHECK(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
      }
}

TEST_CASE("gradients of a filter for each channel are what loops compute") {
  struct gradient_case {
    std::int64_t channels, high, wide, rows, columns, step;
  };
  for (const gradient_case& z : {gradient_case{32, 3, 3, 14, 15, 1}, {40, 3, 3, 9, 20, 2}, {5, 5, 5, 10, 11, 1}, {16, 2, 7, 9, 9, 1}, {24, 1, 3, 10, 30, 1}, {17, 7, 9, 8, 9, 1}})
    for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::bf16}) {
      case_builder c(type);
      c.label('g', z.channels), c.label('n', 2), c.label('p', z.rows), c.label('q', z.columns), c.label('r', z.high), c.label('s', z.wide);
      product t;
      const reference left = c.tensor("F", "grs");
      t.factors = {c.tensor("O", "ngpq", "npqg"), c.tensor("I", "ngpqrs", "nprqsg")};
      const std::int64_t row = ((z.columns - 1) * z.step + z.wide) * z.channels, plane = ((z.rows - 1) * z.step + z.high) * row;
      const std::pair<char, std::int64_t> strides[] = {{'n', plane}, {'p', z.step * row}, {'q', z.step * z.channels}, {'r', row}, {'s', z.channels}};
      for (reference_axis& x : t.factors[1].axes)
        for (const auto& [label, stride] : strides)
          if (c.p.labels[static_cast<std::size_t>(x.label)].name == std::string(1, label)) x.stride = stride;
      REQUIRE(c.sizes[static_cast<std::size_t>(t.factors[1].slot)] >= 2 * plane);
      c.p.statements = {{left, update::assign, {t}}};
      INFO(z.high << " by " << z.wide << " of " << z.channels << ", every " << z.step << ", " << name_of(type));
      const auto expected = evaluate(c.p, 0, c.bind());
      run_planned(make_plan(c.p, this_machine(), {}), c);
      CHECK(error_in_bounds(c.p, 0, c.bind(), expected, 2) <= 1.0);
    }
}
