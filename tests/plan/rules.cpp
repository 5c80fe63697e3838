// What programs are refused, and what the planner promises.
#include <catch2/catch.hpp>

#include <ricci/core/error.hpp>

#include "build_program.hpp"
#include "plan/plan.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

const machine avx2 = *named_machine("avx2");

case_builder matrices() {
  case_builder c(dtype::f64);
  for (char l : {'i', 'j', 'k'}) c.label(l, 5);
  c.p.statements = {{c.tensor("C", "ij"), update::assign, {{-1, false, {c.tensor("A", "ik"), c.tensor("B", "kj")}}}}};
  return c;
}

template <class Break> errc refused(Break&& how) {
  case_builder c = matrices();
  how(c.p);
  try {
    check(c.p);
  } catch (const error& e) {
    return e.code();
  }
  return errc{};
}

}  // namespace

TEST_CASE("ill-formed programs are refused") {
  CHECK(refused([](program&) {}) == errc{});
  CHECK(refused([](program& p) { p.labels[0].extent = -1; }) == errc::bad_extent);
  CHECK(refused([](program& p) { p.statements[0].left.axes[0].label = 7; }) == errc::bad_label);
  CHECK(refused([](program& p) { p.statements[0].left.axes[0].label = 1; }) == errc::bad_label);
  CHECK(refused([](program& p) { p.statements[0].left.axes[0].stride = 0; }) == errc::bad_argument);
  CHECK(refused([](program& p) { p.statements[0].left.axes[0].stride = 4; }) == errc::bad_argument);
  CHECK(refused([](program& p) { p.statements[0].terms[0].factors[0].type = dtype::f32; }) == errc::bad_argument);
  CHECK(refused([](program& p) { p.statements[0].terms[0].factors[0].space = memory_space::gpu; }) == errc::wrong_space);
  CHECK(refused([](program& p) { p.statements[0].terms[0].factors[0].local = 0, p.local_count = 1; }) == errc::bad_argument);
  CHECK(refused([](program& p) {
          p.statements[0].left.local = 0, p.local_count = 1;
          p.statements.push_back(p.statements[0]);
        }) == errc::bad_argument);
}

TEST_CASE("gpu statements need a GPU") {
  case_builder c = matrices();
  c.p.statements[0].left.space = memory_space::gpu;
  for (reference& f : c.p.statements[0].terms[0].factors) f.space = memory_space::gpu;
  try {
    compile(c.p);
    SUCCEED("there is a GPU");
  } catch (const error& e) {
    CHECK(e.code() == errc::no_gpu);
  }
}

TEST_CASE("strict refuses the buffer that overlap needs") {
  case_builder c = matrices();
  c.p.overlaps = {{0, 1, overlap::kind::may}};
  CHECK_NOTHROW(make_plan(c.p, avx2));
  CHECK_THROWS_AS(make_plan(c.p, avx2, {.strict = true}), error);
}

TEST_CASE("equal programs share one plan, unequal ones do not") {
  case_builder c = matrices(), d = matrices();
  CHECK(compile(c.p) == compile(d.p));
  d.p.labels[2].extent = 4;
  d.p.statements[0].terms[0].factors[1].axes[1].stride = 5;
  CHECK(compile(c.p) != compile(d.p));
}

TEST_CASE("a plan is a value") {
  case_builder c = matrices();
  CHECK(make_plan(c.p, avx2) == make_plan(c.p, avx2));
  CHECK(!(make_plan(c.p, avx2) == make_plan(c.p, *named_machine("avx512"))));
}

TEST_CASE("flops count the best order, not the nest as written") {
  case_builder c(dtype::f64);
  for (auto [l, n] : {std::pair{'i', 10}, {'j', 20}, {'k', 30}, {'l', 40}}) c.label(l, n);
  c.p.statements = {{c.tensor("D", "il"), update::assign,
                     {{-1, false, {c.tensor("A", "ij"), c.tensor("B", "jk"), c.tensor("C", "kl")}}}}};
  const plan p = make_plan(c.p, avx2);
  CHECK(p.flops == 2.0 * (10 * 20 * 30 + 10 * 30 * 40));
  CHECK(p.written_flops == 3.0 * 10 * 20 * 30 * 40);
}

TEST_CASE("empty extents mean empty sums and empty results") {
  for (const char* empty : {"i", "k"}) {
    case_builder c(dtype::f64);
    for (char l : {'i', 'j', 'k'}) c.label(l, l == empty[0] ? 0 : 3);
    c.p.statements = {{c.tensor("C", "ij"), update::assign, {{-1, false, {c.tensor("A", "ik"), c.tensor("B", "kj")}}}}};
    for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, std::nan(""));
    run(*compile(c.p), c.bind());
    if (empty[0] == 'k')
      for (std::int64_t i = 0; i < 9; ++i) CHECK(get(c.type, c.pointers[0], i) == 0.0);
  }
}

TEST_CASE("pointwise statements read what they share once") {
  const auto inputs_of = [](int memory) {
    case_builder c(dtype::f64);
    c.label('e', 40), c.label('q', 9);
    reference first = c.tensor("G", "eq"), second = first;
    second.slot = c.p.slot_count++;
    first.memory = second.memory = memory;
    const reference x = c.tensor("x", "eq"), y = c.tensor("y", "eq");
    c.p.statements = {{c.tensor("v", "eq"), update::assign, {{-1, false, {first, x}}, {-1, false, {y, y}}}},
                      {c.tensor("w", "eq"), update::assign, {{-1, false, {second, y}}, {-1, false, {x, x}}}}};
    for (int left : {4, 5})
      for (int other = 0; other < 4; ++other) c.p.overlaps.push_back({left, other, overlap::kind::disjoint});
    std::size_t inputs = 0;
    const plan made = make_plan(c.p, avx2);
    for (const plan_step& s : made.segments[0].steps)
      if (s.how == method::pointwise) inputs += s.op.inputs.size();
    return inputs;
  };
  CHECK(inputs_of(7) == 3);
  CHECK(inputs_of(-1) == 4);
}
