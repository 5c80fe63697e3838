// Chains in blocks, fused programs, blocked products, overlap, high rank, threads, allocation.
#include <catch2/catch.hpp>

#include <omp.h>

#include <atomic>

#include "build_program.hpp"
#include "plan/plan.hpp"

using namespace ricci;
using namespace ricci::test;

extern std::atomic<long> allocations;  // counted in count_new.cpp
extern const bool allocations_are_counted;

namespace {

constexpr dtype all_types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16};

/// Runs the program of c and checks its statement s (the reference is taken before).
void require_right(case_builder& c, int factors = 8) {
  const auto expected = evaluate(c.p, 0, c.bind());
  const auto plan = compile(c.p);
  run(*plan, c.bind());
  INFO(name_of(c.type) << "\n" << describe(*plan));
  REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, factors) <= 1.0);
}

void labels(case_builder& c, std::initializer_list<std::pair<char, std::int64_t>> list) {
  for (const auto& [name, extent] : list) c.label(name, extent);
}

statement interpolation(case_builder& c) {
  statement s;
  s.left = c.tensor("w", "eqrs");
  s.terms.push_back({-1, false, {c.tensor("B", "qi"), c.tensor("B", "rj"), c.tensor("B", "sk"), c.tensor("u", "eijk")}});
  return s;
}

}  // namespace

TEST_CASE("interpolation over elements, every remainder of the block") {
  for (dtype t : all_types)
    for (std::int64_t elements : {1, 2, 3, 7, 16, 37, 131}) {
      case_builder c(t);
      labels(c, {{'e', elements}, {'i', 4}, {'j', 4}, {'k', 4}, {'q', 5}, {'r', 5}, {'s', 5}});
      c.p.statements.push_back(interpolation(c));
      require_right(c);
    }
}

TEST_CASE("the chain is fused over elements") {
  case_builder c(dtype::f64);
  labels(c, {{'e', 10}, {'i', 4}, {'j', 4}, {'k', 4}, {'q', 5}, {'r', 5}, {'s', 5}});
  c.p.statements.push_back(interpolation(c));
  c.p.labels[0].extent = 1000000;  // planned, never run
  const plan p = make_plan(c.p, *named_machine("avx2"));
  REQUIRE(p.block_labels.size() == 1);
  REQUIRE(p.source.labels[p.block_labels[0]].name == "e");
  REQUIRE(p.flops == 1e6 * 2 * (5 * 64 + 25 * 16 + 125 * 4));
}

TEST_CASE("a fused program with locals") {
  for (dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128}) {
    case_builder c(t);
    labels(c, {{'e', 45}, {'i', 3}, {'j', 4}, {'q', 5}, {'r', 6}});
    const reference u = c.tensor("u", "eij"), d = c.tensor("D", "eqr"), v = c.tensor("v", "eij"), w = c.tensor("w", "eqr");
    const reference b1 = c.tensor("B", "qi"), b2 = c.tensor("R", "rj");
    statement first{c.local("g", 0, "eqr"), update::assign, {{-1, false, {b1, b2, u}}}};
    statement second{c.local("h", 1, "eqr"), update::assign, {{-1, false, {d, c.local("g", 0, "eqr")}}}};
    statement third{v, update::assign, {{-1, false, {b1, b2, c.local("h", 1, "eqr")}}}};
    statement fourth{w, update::add, {{c.scalar({0.5, 0}), true, {c.local("g", 0, "eqr")}}}};
    c.p.statements = {first, second, third, fourth};
    program whole = c.p;  // the same with everything written out
    whole.local_count = 0;
    const int q2 = c.label('x', 3), r2 = c.label('y', 4);
    whole.labels = c.p.labels;
    reference u2 = u, b3 = b1, b4 = b2;
    u2.axes[1].label = q2, u2.axes[2].label = r2, b3.axes[1].label = q2, b4.axes[1].label = r2;
    whole.statements = {{v, update::assign, {{-1, false, {b1, b2, d, b3, b4, u2}}}},
                        {w, update::add, {{0, true, {b1, b2, u}}}}};
    const auto v_want = evaluate(whole, 0, c.bind()), w_want = evaluate(whole, 1, c.bind());
    const auto plan = compile(c.p);
    run(*plan, c.bind());
    INFO(name_of(t) << describe(*plan));
    REQUIRE(error_in_bounds(whole, 0, c.bind(), v_want, 8) <= 1.0);
    REQUIRE(error_in_bounds(whole, 1, c.bind(), w_want, 8) <= 1.0);
  }
}

TEST_CASE("large products in cache blocks") {
  for (dtype t : all_types)
    for (const char* orders : {"ab cd abcd", "ba dc cadb", "ab dc acbd"}) {
      case_builder c(t, 5);
      labels(c, {{'a', 5}, {'b', 13}, {'c', 9}, {'d', 7}, {'k', 11}, {'l', 5}});
      const std::string o = orders;
      statement s;
      s.left = c.tensor("C", "abcd", o.substr(6), 1);
      s.op = update::subtract;
      reference x = c.tensor("A", "abkl", o.substr(0, 2) + "kl"), y = c.tensor("B", "klcd", "lk" + o.substr(3, 2));
      x.conj = true;
      s.terms.push_back({c.scalar({1.5, -0.5}), false, {x, y}});
      c.p.statements.push_back(s);
      require_right(c, 2);
    }
}

TEST_CASE("one block is not enough: sums, rows and columns beyond the cache block") {
  for (dtype t : {dtype::f32, dtype::f64, dtype::c128, dtype::f16}) {
    case_builder c(t, 6);
    labels(c, {{'i', 109}, {'j', 51}, {'k', 301}});
    statement s;
    s.left = c.tensor("C", "ij"), s.op = update::add;
    s.terms.push_back({-1, false, {c.tensor("A", "ik"), c.tensor("B", "kj")}});
    c.p.statements.push_back(s);
    require_right(c, 2);
  }
}

TEST_CASE("results larger than the second cache, few sums: written along their rows") {
  for (dtype t : {dtype::f64, dtype::c128, dtype::f32})
    for (std::int64_t sums : {1, 5, 30}) {
      case_builder c(t, 7);
      labels(c, {{'i', 3}, {'a', 137}, {'j', t == dtype::f32 ? 1607 : 811}, {'k', sums}});
      statement s;
      s.left = c.tensor("C", "iaj"), s.op = sums == 5 ? update::add : update::assign;
      s.terms.push_back({-1, false, {c.tensor("A", "iak", sums == 30 ? "kia" : ""), c.tensor("B", "kj")}});
      c.p.statements.push_back(s);
      require_right(c, 2);
    }
}

TEST_CASE("the left side on the right") {
  for (dtype t : all_types)
    for (int which = 0; which < 5; ++which) {
      case_builder c(t, 7);
      labels(c, {{'i', 6}, {'j', 6}, {'k', 6}});
      const reference left = c.tensor("C", "ij"), a = c.tensor("A", "ik"), b = c.tensor("B", "kj");
      reference same = left, turned = left, row = left;
      same.slot = c.p.slot_count++, turned.slot = c.p.slot_count++, row.slot = c.p.slot_count++;
      std::swap(turned.axes[0].label, turned.axes[1].label);
      row.axes[1].label = c.find('k');
      for (int i = 0; i < 3; ++i) c.pointers.push_back(c.pointers[0]);
      c.p.overlaps = {{left.slot, same.slot, overlap::kind::same}, {left.slot, turned.slot, overlap::kind::may}, {left.slot, row.slot, overlap::kind::may}};
      if (which == 0) c.p.statements = {{left, update::subtract, {{c.scalar({2, 1}), false, {same}}, {-1, true, {a, b}}}}};
      if (which == 1) c.p.statements = {{left, update::assign, {{c.scalar({2, 1}), false, {same, same}}}}};
      if (which == 2) c.p.statements = {{left, update::assign, {{-1, false, {turned}}}}};
      if (which == 3) c.p.statements = {{left, update::add, {{-1, false, {turned}}, {-1, true, {same}}}}};
      if (which == 4) c.p.statements = {{left, update::assign, {{-1, false, {row, b}}}}};
      require_right(c, 3);
    }
}

TEST_CASE("twenty axes of extent two") {
  case_builder c(dtype::c64, 8);
  std::string left, a, b;
  for (char l = 'a'; l <= 't'; ++l) {
    c.label(l, 2);
    if (l < 'h') a += l, left += l;
    else if (l < 'n') a += l, b += l;
    else b += l, left += l;
  }
  statement s;
  s.left = c.tensor("C", left, std::string(left.rbegin(), left.rend()));
  s.terms.push_back({-1, false, {c.tensor("A", a), c.tensor("B", b, std::string(b.rbegin(), b.rend()))}});
  c.p.statements.push_back(s);
  require_right(c, 2);
}

TEST_CASE("any number of threads gives the same bits") {
  case_builder c(dtype::f64, 9);
  labels(c, {{'e', 3000}, {'i', 4}, {'j', 4}, {'k', 4}, {'q', 5}, {'r', 5}, {'s', 5}});
  c.p.statements.push_back(interpolation(c));
  std::vector<std::vector<char>> results;
  for (int threads : {1, 2, 3, 4}) {
    omp_set_num_threads(threads);
    run(*compile(c.p), c.bind());
    results.emplace_back(c.memory[0].get(), c.memory[0].get() + c.sizes[0] * 8);
    REQUIRE(results.back() == results.front());
  }
  omp_set_num_threads(omp_get_num_procs());
}

TEST_CASE("a run allocates nothing") {
  if (!allocations_are_counted) return;  // under the thread sanitizer
  const long at_first = allocations;
  REQUIRE(std::make_unique<int>(1));
  REQUIRE(allocations > at_first);  // the counter counts
  for (int which = 0; which < 3; ++which) {
    case_builder c(dtype::f64, 10);
    labels(c, {{'e', 50}, {'i', 4}, {'j', 4}, {'k', 4}, {'q', 5}, {'r', 5}, {'s', 5}});
    if (which == 0) c.p.statements.push_back(interpolation(c));
    if (which == 1) c.p.statements = {{c.tensor("C", "eq"), update::assign, {{-1, false, {c.tensor("A", "ei"), c.tensor("B", "iq", "qi")}}}}};
    if (which == 2) c.p.statements = {{c.tensor("C", "eq"), update::assign, {{-1, false, {c.tensor("A", "qei"), c.tensor("B", "ijq"), c.tensor("D", "je")}}}}};
    const auto plan = compile(c.p);
    const bindings b = c.bind();
    const long before = allocations;
    run(*plan, b);
    REQUIRE(allocations == before);
  }
}
