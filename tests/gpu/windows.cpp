// Convolutions, stencils and moving sums, whose factors are views with overlapping windows, on this CPU, beside the reference. No GPU is
// needed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convolutions.hpp"
#include "gpu/window.hpp"
#include "on_host.hpp"
#include "reduced.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// What of the choices was met.
struct seen {
  int chosen = 0, windows = 0, own = 0, runs = 0, terms = 0, cut = 0, columns = 0, turned = 0, alone = 0, split = 0;

  void count(const cuda::step_plan& p) {
    const cuda::window_config& c = p.window;
    ++windows, own += c.own >= 0, runs += c.run.count > 1 && !c.run.sums, terms += c.run.count > 1 && c.run.sums, columns += c.cols.each > 1;
    cut += free_axes(p.shape)[static_cast<std::size_t>(c.rows.free)].extent % c.rows.each != 0;
    turned += p.shape.swapped, alone += !p.shape.has_a, split += c.own >= 0 && free_axes(p.shape)[static_cast<std::size_t>(c.own)].extent % c.each_own != 0;
  }
};

}  // namespace

TEST_CASE("windows that overlap by every kind of kernel") {
  const std::vector<contraction> shapes = windowed();
  const cuda::gpu_machine& machine = cuda::described_h200();
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  seen met;
  unsigned seed = 0;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128, dtype::f16, dtype::bf16})
    for (const contraction& x : shapes) {
      ++seed;
      if (reduced_tests() && (seed + static_cast<unsigned>(t)) % 3 != 0) continue;
      const std::size_t kinds = t == dtype::f32 || t == dtype::f16 ? 2 : 1;
      for (std::size_t kind = 0; kind < kinds; ++kind) {
        auto c = case_of(t, seed, x, seed % 2 == 0, seed / 2 % 2 == 0);
        cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(c->p), machine, {});
        REQUIRE(p.launches.size() == 1);
        cuda::step_plan& step = p.launches[0].step;
        CAPTURE(cuda::to_string(step), static_cast<int>(t), seed);
        met.chosen += step.kind == cuda::kernel_kind::window;
        step.kind = cuda::kernel_kind::window, step.shape = arranged_for_windows(step.shape);
        const std::vector<cuda::window_config> all = window_candidates(step.shape, machine);
        REQUIRE(!all.empty());
        step.window = (kind + seed) % 2 == 0 ? *choose_window(step.shape, machine) : all[(seed * 7 + kind * 131) % all.size()];
        met.count(step);
        cases.push_back(std::move(c)), plans.push_back(std::move(p));
      }
    }
  check_on_host(cases, plans, machine, [](const program&) { return 2; });
  CHECK(met.chosen > 0);
  for (const int times : {met.own, met.runs, met.terms, met.cut, met.columns, met.turned, met.alone, met.split}) CHECK(times > 0);
}

TEST_CASE("what no element meets again, or what is too large for shared memory, has other kernels") {
  const cuda::gpu_machine& machine = cuda::described_h200();
  const auto kind_of = [&](const contraction& x) {
    const auto c = case_of(dtype::f32, 1, x, false, false);
    return cuda::make_program_plan(cuda::placed_on_gpu(c->p), machine, {}).launches[0].step.kind;
  };
  CHECK(kind_of(convolution(2000, 1, 3, 4, 16, 16, 4, 4, 4, 1, false)) != cuda::kernel_kind::window);      // windows beside one another
  CHECK(kind_of(convolution(1000, 1, 128, 128, 10, 10, 3, 3, 1, 1, false)) != cuda::kernel_kind::window);  // 590 KB of filters
  CHECK(kind_of(convolution(2000, 1, 3, 4, 16, 16, 4, 4, 2, 1, false)) == cuda::kernel_kind::window);
  // Long sums with few results: threads share them. The planner sees a million images.
  for (const contraction& x : {contraction{{{'n', 4}, {'p', 10}, {'q', 10}, {'r', 3}, {'s', 3}}, {"rs", {3, 1}}, {"", {}}, {"npqrs", {144, 12, 1, 12, 1}}},
                               contraction{{{'n', 4}, {'q', 100}, {'s', 3}}, {"q", {1}}, {"", {}}, {"nqs", {102, 1, 1}}}}) {
    const auto c = case_of(dtype::f32, 1, x, false, false);
    c->p.labels[0].extent = 1000000;
    CHECK(cuda::make_program_plan(cuda::placed_on_gpu(c->p), machine, {}).launches[0].step.kind != cuda::kernel_kind::window);
  }
}

TEST_CASE("elements that windows share are counted once") {
  const auto elements = [](const contraction& x) {
    const auto c = case_of(dtype::f32, 1, x, false, false);
    const cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(c->p), cuda::described_h200(), {});
    return p.bytes / 4;
  };
  CHECK(elements(convolution(2, 1, 3, 4, 16, 20, 3, 3, 1, 1, false)) == 2 * 3 * 16 * 20 + 4 * 3 * 9 + 2 * 4 * 14 * 18);
  CHECK(elements(convolution(2, 1, 3, 4, 17, 21, 3, 3, 2, 1, true)) == 2 * 3 * 17 * 21 + 4 * 3 * 9 + 2 * 4 * 8 * 10);
  CHECK(elements({{{'q', 100}, {'s', 5}, {'k', 2}}, {"kq", {100, 1}}, {"ks", {5, 1}}, {"qs", {1, 1}}}) == 104 + 10 + 200);
  CHECK(elements({{{'q', 100}, {'s', 5}, {'k', 2}}, {"kq", {100, 1}}, {"ks", {5, 1}}, {"qs", {5, 1}}}) == 500 + 10 + 200);
}

TEST_CASE("views whose channels are apart are copied without what their windows repeat") {
  // The copies run, the product is a plain loop where its kernel does not run here.
  const cuda::gpu_machine& machine = cuda::described_h200();
  std::vector<std::unique_ptr<case_builder>> cases;
  std::vector<cuda::program_plan> plans;
  unsigned seed = 0;
  const auto add = [&](dtype t, const contraction& x) {
    ++seed;
    auto c = case_of(t, seed, x, seed % 2 == 0, seed / 2 % 2 == 0);
    cuda::gpu_machine slow = machine;  // with one multiprocessor few elements take as long as many
    slow.multiprocessors = 1, slow.shares = false;
    cuda::program_plan p = cuda::make_program_plan(cuda::placed_on_gpu(c->p), slow, {});
    CAPTURE(cuda::to_string(p.launches.back().step), seed);
    if (p.launches.size() < 2) return;
    cases.push_back(std::move(c)), plans.push_back(std::move(p));
  };
  for (const dtype t : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64}) {
    add(t, convolution(2, 1, 64, 32, 12, 13, 3, 3, 1, 1, false));
    add(t, convolution(3, 2, 48, 32, 11, 12, 3, 2, 2, 1, false));
    add(t, convolution(2, 1, 64, 32, 13, 14, 3, 3, 1, 2, false));
    contraction weights = convolution(24, 1, 24, 32, 9, 10, 3, 3, 1, 1, false);  // the gradient of the filters
    std::swap(weights.c, weights.a);
    add(t, weights);
  }
  CHECK(cases.size() >= 6);
  check_on_host(cases, plans, machine, [](const program&) { return 2; });
}
