// Long sums of few rows and columns on this CPU: each part is a small product, others add them. Which statements of several factors are
// steps, in what order, and which factors are copied. No GPU is needed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "on_host.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

using extents = std::vector<std::pair<char, std::int64_t>>;

/// C(left) = (0.75 - 0.5i) conj(first factor) the others, or added to C(left), tensors packed.
std::unique_ptr<case_builder> statement_of(dtype t, unsigned seed, const extents& labels, const char* left, const std::vector<const char*>& factors, bool beta) {
  auto c = std::make_unique<case_builder>(t, seed);
  for (const auto& [name, extent] : labels) c->label(name, extent);
  statement s;
  s.left = c->tensor("C", left), s.op = beta ? update::add : update::assign;
  product term{c->scalar({0.75, is_complex(t) ? -0.5 : 0.0}), false, {}};
  for (std::size_t f = 0; f < factors.size(); ++f) term.factors.push_back(c->tensor("F" + std::to_string(f), factors[f]));
  term.factors[0].conj = is_complex(t);
  s.terms.push_back(term);
  c->p.statements.push_back(s);
  return c;
}

cuda::program_plan plan_of(const case_builder& c, const cuda::gpu_machine& m = cuda::described_h200()) { return cuda::make_program_plan(cuda::placed_on_gpu(c.p), m, {}); }

/// So few multiprocessors that sums need not be long to be cut.
cuda::gpu_machine little_machine() {
  cuda::gpu_machine m = cuda::described_h200();
  m.multiprocessors = 2, m.threads = 256;
  return m;
}

}  // namespace

TEST_CASE("parts of long sums are small products, and are added") {
  const cuda::gpu_machine machine = little_machine();
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  const host_gpu kernels(true);  // to ask
  int cut = 0, with_rest = 0, twice = 0, unlike = 0;
  unsigned seed = 0;
  struct shape {
    extents labels;
    const char *left, *a, *b;
  };
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16})
    for (const shape& s : {shape{{{'i', 12}, {'j', 9}, {'n', 2560}}, "ij", "ni", "nj"}, {{{'i', 16}, {'j', 8}, {'n', 2213}}, "ji", "in", "jn"},
                           {{{'i', 9}, {'j', 10}, {'x', 37}, {'y', 96}}, "ij", "xiy", "xjy"}, {{{'b', 9}, {'i', 10}, {'j', 11}, {'n', 400}}, "bij", "bni", "bjn"}, {{{'i', 20}, {'j', 9}, {'n', 2213}}, "ji", "ni", "nj"}, {{{'i', 8}, {'j', 8}, {'n', 80011}}, "ij", "ni", "nj"}}) {
      ++seed;
      if ((seed + static_cast<unsigned>(t)) % (reduced_tests() ? 4 : 2) != 1) continue;
      auto c = statement_of(t, seed, s.labels, s.left, {s.a, s.b}, seed / 2 % 2 == 0);
      cuda::program_plan p = plan_of(*c, machine);
      REQUIRE((p.launches.size() == 1 && kernels.runs(p.launches[0].step)));
      const cuda::step_plan& step = p.launches[0].step;
      CAPTURE(cuda::to_string(step), static_cast<int>(t), seed);
      if (step.kind == cuda::kernel_kind::small && step.last) ++cut, with_rest += step.rest != nullptr, twice += step.last->last != nullptr, unlike += step.rest && step.rest_a != step.rest_b;
      cases.push_back(std::move(c)), plans.push_back(std::move(p));
    }
  CHECK(cut > (reduced_tests() ? 4 : 10));
  CHECK(with_rest > (reduced_tests() ? 0 : 2));
  CHECK((reduced_tests() || (twice > 0 && unlike > 0)));
  check_on_host(cases, plans, machine, [](const program&) { return 2; }, true);
}

TEST_CASE("what passes of a step read and write") {
  const auto c = statement_of(dtype::f32, 1, {{'i', 16}, {'j', 16}, {'n', 8000001}}, "ij", {"ni", "nj"}, true);
  const cuda::step_plan p = plan_of(*c).launches[0].step;
  const cuda::step_passes passes = passes_of(p);
  REQUIRE(passes.count == 4);
  REQUIRE((p.last && p.rest && p.last->last));
  constexpr std::int64_t one = 16 * 16 * 4, parts = 62501;
  CHECK(partial_bytes(p) > parts * one);
  CHECK((passes.all[0].from == -1 && passes.all[0].to == 0));
  CHECK((passes.all[1].from == -1 && passes.all[1].to == (parts - 1) * one));
  CHECK((passes.all[1].a == 8000000 * 16 && passes.all[1].b == 8000000 * 16));
  CHECK((passes.all[2].from == 0 && passes.all[2].to >= parts * one && passes.all[2].to % 256 == 0));
  CHECK((passes.all[3].from == passes.all[2].to && passes.all[3].to == -1));
  // Only the last one reads the result and knows factors.
  const float a = 0, b = 0;
  float result = 0;
  const cuda::operands x{&a, &b, &result, {3, 0}, {2, 0}};
  std::vector<char> memory(16);
  CHECK((operands_of(passes.all[0], x, memory.data()).alpha[0] == 1 && operands_of(passes.all[0], x, memory.data()).c == memory.data()));
  CHECK((operands_of(passes.all[3], x, memory.data()).alpha[0] == 3 && operands_of(passes.all[3], x, memory.data()).c == &result));
  CHECK((!p.shape.beta && !p.last->shape.beta && p.last->last->shape.beta));
}

TEST_CASE("parts that take much memory are not made") {
  const auto is_cut = [](std::int64_t batch, std::int64_t side, std::int64_t terms, bool spread) {
    cuda::step_shape s;
    s.a = s.b = s.c = dtype::f32;
    s.batch = {{batch, spread ? 0 : side * terms, spread ? 0 : side * terms, side * side}};
    s.m = {{side, 1, 0, side}}, s.n = {{side, 0, 1, 1}}, s.k = {{terms, side, side, 0}};
    const cuda::step_plan p = cuda::plan_step(s, cuda::described_h200());
    return p.kind == cuda::kernel_kind::small && p.last != nullptr;
  };
  CHECK(is_cut(1000, 32, 1000, false));
  CHECK_FALSE(is_cut(100000, 32, 1000, false));  // more than 1 GiB
  CHECK(is_cut(1000, 16, 10000, false));
  CHECK_FALSE(is_cut(1000, 16, 10000, true));  // more than the factors
}

TEST_CASE("statements of several factors are one kernel where elements are small, and steps where they are not") {
  const auto launches = [](dtype t, const extents& labels, const char* left, const std::vector<const char*>& factors) {
    const cuda::program_plan p = plan_of(*statement_of(t, 1, labels, left, factors, false));
    return std::pair<std::size_t, bool>{p.launches.size(), p.launches[0].chain.has_value()};
  };
  using answer = std::pair<std::size_t, bool>;
  CHECK(launches(dtype::f64, {{'b', 8192}, {'o', 64}, {'i', 64}, {'j', 64}}, "bo", {"bi", "oij", "bj"}) == answer{2, false});
  CHECK(launches(dtype::f32, {{'n', 20000}, {'i', 64}, {'j', 64}, {'k', 64}, {'l', 64}}, "nil", {"ij", "njk", "lk"}) == answer{2, false});
  CHECK(launches(dtype::f64, {{'e', 2000}, {'q', 64}, {'i', 64}, {'j', 64}, {'d', 3}}, "eij", {"eqid", "eq", "eqjd"}) == answer{2, false});
  CHECK(launches(dtype::f64, {{'e', 20000}, {'i', 6}, {'j', 6}, {'k', 6}, {'a', 7}, {'b', 7}, {'c', 7}}, "eabc", {"eijk", "ai", "bj", "ck"}) == answer{1, true});
  CHECK(launches(dtype::f32, {{'n', 10000000}, {'i', 3}, {'j', 3}}, "n", {"ni", "nij", "nj"}) == answer{1, true});
}

TEST_CASE("small factors meet one another first, or are copied, where that makes one product of long sides") {
  cuda::gpu_machine machine = little_machine();
  for (double* rate : {&machine.bandwidth, &machine.peak_f32, &machine.peak_f64, &machine.tensor_f64, &machine.tensor_16}) *rate /= 66;
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  int made_first = 0, copied = 0;
  unsigned seed = 0;
  struct shape {
    extents labels;
    const char* left;
    std::vector<const char*> factors;
  };
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16})
    for (const shape& s : {shape{{{'e', 601}, {'q', 6}, {'i', 5}, {'j', 7}, {'d', 3}, {'f', 2}}, "eij", {"qid", "eqdf", "qjf"}}, {{{'n', 5001}, {'i', 3}, {'j', 2}, {'k', 3}, {'l', 3}}, "nil", {"ij", "njk", "lk"}},
                           {{{'e', 700}, {'q', 5}, {'i', 4}, {'j', 4}}, "jei", {"qi", "eq", "qj"}}, {{{'e', 1201}, {'q', 20}, {'i', 50}, {'d', 3}}, "eqd", {"qid", "ei"}}}) {
      ++seed;
      auto c = statement_of(t, seed, s.labels, s.left, s.factors, seed % 2 == 0);
      cuda::program_plan p = plan_of(*c, machine);
      CAPTURE(cuda::to_string(p, machine));
      const auto reads = [](const pair_op& op, int slot) { return (op.a.where == operand::kind::external && op.a.id == slot) || (op.b.where == operand::kind::external && op.b.id == slot); };
      const int first = c->p.statements[0].terms[0].factors[0].slot, last = c->p.statements[0].terms[0].factors.back().slot;
      if (s.factors.size() == 3) made_first += std::any_of(p.ops.begin(), p.ops.end(), [&](const pair_op& op) { return reads(op, first) && reads(op, last); });
      else copied += p.ops.size() == 3 || std::any_of(p.ops.begin(), p.ops.end(), [&](const pair_op& op) { return reads(op, first) && op.c.where == operand::kind::temporary; });
      cases.push_back(std::move(c)), plans.push_back(std::move(p));
    }
  CHECK(made_first >= 6);
  CHECK(copied >= 2);
  check_on_host(cases, plans, machine, [](const program&) { return 3; }, true);
}

TEST_CASE("of element matrices the small factors meet first, and their product lies as one matrix") {
  const auto first_of = [](dtype t, const extents& labels, const char* left, const std::vector<const char*>& factors) { return plan_of(*statement_of(t, 1, labels, left, factors, false)); };
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64}) {
    const cuda::program_plan p = first_of(t, {{'e', 60000}, {'q', 8}, {'i', 8}, {'j', 8}, {'d', 3}, {'f', 3}}, "eij", {"qid", "eqdf", "qjf"});
    CAPTURE(cuda::to_string(p, cuda::described_h200()));
    REQUIRE(p.launches.size() == 2);
    const cuda::step_shape& s = p.launches[1].step.shape;
    CHECK((s.batch.empty() && s.m.size() == 1 && s.n.size() == 1 && s.k.size() == 1));
    CHECK((count_of(s.k) == 72 && count_of(s.n) == 64));
  }
  // The two sums of two matrices without end stay: 64 multiply-adds for each of 8 would become 512.
  const cuda::program_plan p = first_of(dtype::c64, {{'n', 200000}, {'i', 16}, {'j', 16}, {'k', 16}, {'l', 16}}, "nil", {"ij", "njk", "lk"});
  CHECK(p.notes.empty());
}

TEST_CASE("where sums cross, tiles read the larger factor as it lies") {
  // c[i,j] = a[d,i,e] b[j,e,d], and the same with the sides changed.
  for (const bool many_rows : {false, true}) {
    const std::int64_t rows = many_rows ? 5411 : 14, cols = many_rows ? 14 : 5411, d = 553, e = 10;
    cuda::step_shape s;
    s.a = s.b = s.c = dtype::f32;
    s.m = {{rows, e, 0, cols}}, s.n = {{cols, 0, e * d, 1}}, s.k = {{d, rows * e, 1, 0}, {e, 1, d, 0}};
    const cuda::step_shape x = cuda::arranged_for_tiles(s, {});
    CHECK((many_rows ? x.k.back().a : x.k.back().b) == 1);
  }
}

TEST_CASE("what is only scaled keeps its order") {
  const cuda::program_plan p = plan_of(*statement_of(dtype::f32, 1, {{'n', 1000000}, {'i', 8}, {'j', 8}}, "ij", {"ni", "n", "nj"}, false));
  REQUIRE(p.launches.size() == 2);
  const cuda::step_shape& s = p.launches[0].step.shape;
  REQUIRE(s.batch.size() == 1);
  CHECK((s.batch[0].extent == 1000000 && s.batch[0].c == 8));
}

TEST_CASE("what is scaled twice keeps its order twice") {
  case_builder c(dtype::f32);
  c.label('n', 100000), c.label('i', 8), c.label('j', 8);
  const auto assign = [&](const reference& left, const std::vector<reference>& factors) { c.p.statements.push_back({left, update::assign, {{-1, false, factors}}}); };
  assign(c.local("L", 0, "ni"), {c.tensor("A", "ni"), c.tensor("u", "n")});
  assign(c.local("M", 1, "ni"), {c.local("L", 0, "ni"), c.tensor("v", "n")});
  assign(c.tensor("C", "ij"), {c.local("M", 1, "ni"), c.tensor("B", "nj")});
  const cuda::program_plan p = plan_of(c);
  INFO(cuda::to_string(p, cuda::described_h200()));
  int temporaries = 0;
  for (const pair_op& op : p.ops)
    if (op.c.where == operand::kind::temporary) {
      ++temporaries;
      for (std::size_t d = 0; d < op.c.labels.size(); ++d) CHECK(op.c.strides[d] == (op.c.labels[d] == 0 ? 8 : 1));
    }
  CHECK(temporaries == 2);
}

TEST_CASE("a local keeps an order of its own labels") {
  // Updated under other labels: L(e,i,j) = A(e,i,j) B(i,j); L(e,k,l) += F(e,l,k) g(e,k); v(e,i) = L(e,i,j) D(i,j).
  case_builder c(dtype::f64);
  c.label('e', 40);
  for (const char l : {'i', 'j', 'k', 'l'}) c.label(l, 4);
  const auto add = [&](const reference& left, update op, const std::vector<reference>& factors) { c.p.statements.push_back({left, op, {{-1, false, factors}}}); };
  add(c.local("L", 0, "eij"), update::assign, {c.tensor("A", "eij"), c.tensor("B", "ij")});
  add(c.local("L", 0, "ekl"), update::add, {c.tensor("F", "elk"), c.tensor("g", "ek")});
  add(c.tensor("v", "ei"), update::assign, {c.local("L", 0, "eij"), c.tensor("D", "ij")});
  for (std::size_t slot = 0; slot < c.pointers.size(); ++slot)  // small integers: nothing is rounded
    for (std::int64_t i = 0; i < c.sizes[slot]; ++i) static_cast<double*>(c.pointers[slot])[i] = static_cast<double>(i % 5 - 2);
  auto* const v = static_cast<double*>(c.pointers[static_cast<std::size_t>(c.p.statements.back().left.slot)]);
  run(*compile(c.p), c.bind());
  const std::vector<double> expected(v, v + 160);
  std::fill(v, v + 160, -1.0);
  host_gpu gpu;
  const cuda::program_plan p = plan_of(c);
  gpu.add(p);
  REQUIRE(gpu.compile().empty());
  gpu.run(p, c.bind(), false);
  CHECK(std::equal(expected.begin(), expected.end(), v));
}
