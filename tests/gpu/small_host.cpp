// Kernels of small products run on this CPU, beside the reference: every way of copying, of arranging threads and of multiplying, and
// rows without end beside a factor that blocks keep.
#include <catch2/catch.hpp>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "gpu/small_cost.hpp"
#include "on_host.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

using extents = std::initializer_list<std::pair<char, std::int64_t>>;

/// Tensors begin an element later: at no multiple of 16 bytes but for complex doubles.
void shift(case_builder& c) {
  const std::size_t size = size_of(c.type);
  for (std::size_t x = 0; x < c.pointers.size(); ++x) {
    char* const first = static_cast<char*>(c.pointers[x]);
    std::memmove(first + size, first, static_cast<std::size_t>(c.sizes[x]) * size);
    c.pointers[x] = first + size;
  }
}

/// C(left) = (0.75 - 0.5i) conj(A(a)) B(b), or added to C(left), tensors packed; every third time shifted. `widened`: C is of float.
std::unique_ptr<case_builder> product_of(dtype t, unsigned seed, const extents& labels, const char* left, const char* a, const char* b, bool beta, bool widened = false) {
  auto c = std::make_unique<case_builder>(t, seed);
  for (const auto& [name, extent] : labels) c->label(name, extent);
  statement s;
  if (widened) c->type = dtype::f32;
  s.left = c->tensor("C", left), s.op = beta ? update::add : update::assign;
  c->type = t;
  product term{c->scalar({0.75, is_complex(t) ? -0.5 : 0.0}), false, {c->tensor("A", a), c->tensor("B", b)}};
  term.factors[0].conj = is_complex(t);
  s.terms.push_back(term);
  c->p.statements.push_back(s);
  if (seed % 3 == 0 && !widened) shift(*c);
  return c;
}

struct runs {
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  const cuda::gpu_machine& machine = cuda::described_h200();

  cuda::program_plan plan_of(const case_builder& c) const { return cuda::make_program_plan(cuda::placed_on_gpu(c.p), machine, {}); }

  void add(std::unique_ptr<case_builder> c, cuda::program_plan p) { cases.push_back(std::move(c)), plans.push_back(std::move(p)); }
  void check() const {
    check_on_host(cases, plans, machine, [](const program&) { return 2; }, true);
  }
};

/// Other ways than `c` of the same products; those that cannot be are left out.
std::vector<cuda::small_config> other_ways(const cuda::small_shape& s, const cuda::small_config& c, const cuda::gpu_machine& m) {
  std::vector<cuda::small_config> ways;
  const auto add = [&](auto&& change) {
    cuda::small_config v = c;
    v.over = false, v.bulk = 0, v.lined = false;
    change(v);
    if (cuda::fits(s, v, m)) ways.push_back(v);
  };
  const auto threads = [](cuda::small_config& v) { v.compute = cuda::arithmetic::threads, v.rm = v.rn = 2, v.unroll = 4, v.pad_a = v.pad_b = v.pad_c = 0; };
  add([&](auto& v) { threads(v), v.stages = 1, v.problems = 3, v.group = 32, v.block = 128; });
  add([&](auto& v) { threads(v), v.stages = 2, v.problems = 5, v.group = 64, v.block = 128, v.together = 1; });
  add([&](auto& v) { threads(v), v.stages = 3, v.problems = 2, v.group = v.block = 96, v.together = 2, v.lined = true; });
  add([&](auto& v) { threads(v), v.stages = 1, v.problems = 1, v.group = v.block = 256, v.over = true, v.together = 3; });
  add([&](auto& v) { threads(v), v.stages = 1, v.problems = 4, v.group = v.block = 64, v.vectors = true; });
  add([&](auto& v) { threads(v), v.stages = 1, v.problems = 4, v.group = v.block = 64, v.pad_a = v.pad_b = v.pad_c = 4; });
  add([&](auto& v) { threads(v), v.stages = 1, v.problems = 2, v.group = v.block = 64, v.bulk = 1; });
  add([&](auto& v) { threads(v), v.stages = 2, v.problems = 3, v.group = 32, v.block = 64, v.bulk = 2; });
  add([&](auto& v) { threads(v), v.stages = 2, v.problems = 1, v.group = v.block = 256, v.bulk = 2, v.over = true; });
  for (const auto how : {cuda::arithmetic::mma_f64, cuda::arithmetic::mma_c128, cuda::arithmetic::mma_16})
    for (const int tall : {1, 2})
      add([&](auto& v) { v.compute = how, v.stages = tall, v.problems = 3, v.group = v.block = 64, v.rm = tall, v.rn = 1, v.unroll = 1, v.vectors = false, v.together = 0; });
  for (const int wide : {1, 2})
    add([&](auto& v) { v.compute = cuda::arithmetic::mma_16, v.stages = 1, v.problems = 4, v.group = v.block = 32, v.rm = 1, v.rn = wide, v.unroll = 2, v.vectors = false, v.spread = true, v.together = 2; });
  return ways;
}

}  // namespace

TEST_CASE("every way of copying, of arranging threads and of multiplying") {
  runs all;
  unsigned seed = 0;
  struct shape {
    std::int64_t i, j, k;
    const char *left, *a, *b;
  };
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16})
    for (const shape& s : {shape{9, 6, 5, "bij", "bik", "bkj"}, {8, 12, 4, "bij", "bki", "bjk"}, {16, 8, 8, "bij", "ik", "bkj"}, {7, 10, 3, "bji", "bik", "kj"}, {4, 8, 6, "bcij", "bik", "ckj"}}) {
      if (reduced_tests() && (seed + static_cast<unsigned>(t)) % 3 != 0) {
        ++seed;
        continue;
      }
      const auto make = [&] { return product_of(t, seed + 1, {{'b', 23}, {'c', 2}, {'i', s.i}, {'j', s.j}, {'k', s.k}}, s.left, s.a, s.b, seed % 2 == 1); };
      ++seed;
      auto first = make();
      const cuda::program_plan plan = all.plan_of(*first);
      if (plan.launches.size() != 1 || plan.launches[0].chain || plan.launches[0].tiles || plan.launches[0].step.kind != cuda::kernel_kind::small) continue;
      const auto ways = other_ways(plan.launches[0].step.small, plan.launches[0].step.config, all.machine);
      all.add(std::move(first), plan);
      for (std::size_t w = seed % 2; w < ways.size(); w += 2) {  // half of them for each shape
        all.add(make(), plan);
        all.plans.back().launches[0].step.config = ways[w];
      }
    }
  CHECK(all.plans.size() > (reduced_tests() ? 30 : 90));
  all.check();
}

TEST_CASE("rows without end beside a factor of their own order") {
  runs all;
  int kept = 0, rows = 0, neighbours = 0, spread = 0, wide = 0;
  unsigned seed = 0;
  struct shape {
    std::int64_t i, q, d;
    const char *left, *a, *b;
  };
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16})
    for (const shape& s : {shape{4, 9, 1, "eq", "qi", "ei"}, {8, 17, 1, "eq", "ei", "iq"}, {6, 8, 3, "eqd", "qid", "ei"}, {12, 6, 2, "ei", "eqd", "qid"}, {5, 7, 3, "eqd", "qi", "eid"}, {12, 16, 1, "eq", "qi", "ei"}, {32, 32, 1, "eq", "qi", "ei"}}) {
      const std::int64_t many = 4096 + (seed % 3 == 0 || s.i == 32 ? 0 : seed % 3 == 1 ? 8 : 4) * (size_of(t) == 2 ? 4 : 1);
      if (reduced_tests() && seed % 4 != 0) {
        ++seed;
        continue;
      }
      const bool widened = size_of(t) == 2 && seed % 2 == 0;
      auto c = product_of(t, seed + 1, {{'e', many}, {'i', s.i}, {'q', s.q}, {'d', s.d}}, s.left, s.a, s.b, seed % 4 == 3, widened);
      ++seed;
      cuda::program_plan plan = all.plan_of(*c);
      for (const cuda::launch_plan& l : plan.launches) {
        if (l.chain || l.tiles || l.step.kind != cuda::kernel_kind::small) continue;
        neighbours += size_of(t) == 2 && (l.step.config.together & 2), spread += l.step.config.spread;
        wide += widened && l.step.small.rows > 1, kept += cuda::keeps_factor(l.step.small, l.step.config), rows += l.step.small.rows > 1;
      }
      all.add(std::move(c), std::move(plan));
    }
  CHECK(kept >= (reduced_tests() ? 3 : 22));
  CHECK(rows >= (reduced_tests() ? 2 : 18));
  CHECK((reduced_tests() || (neighbours > 0 && spread > 0 && wide > 3)));
  all.check();
}
