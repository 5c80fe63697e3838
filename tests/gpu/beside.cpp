// Products of problems that lie side by side in blocks, in some operands or in all: how steps see them, and that the kernels
// are right. The latter needs a GPU.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "gpu/step.hpp"
#include "on_gpu.hpp"
#include "random_program.hpp"

using namespace ricci;
using namespace ricci::test;

namespace {

/// C[b,l,i,j] = A[b,l,i,k] B[b,l,k,j], `width` problems l to a block; which of A, B and C have them side by side.
cuda::step_shape step_of(std::int64_t blocks, std::int64_t width, std::int64_t n, std::array<bool, 3> beside, dtype t = dtype::f64) {
  const std::int64_t size = n * n;
  cuda::step_shape s;
  s.a = s.b = s.c = t;
  const auto strides = [&](bool lanes) { return std::array{width * size, lanes ? 1 : size, lanes ? width * n : n, lanes ? width : 1}; };
  const auto a = strides(beside[0]), b = strides(beside[1]), c = strides(beside[2]);
  s.batch = {{blocks, a[0], b[0], c[0]}, {width, a[1], b[1], c[1]}};
  s.m = {{n, a[2], 0, c[2]}}, s.n = {{n, 0, b[3], c[3]}}, s.k = {{n, a[3], b[2], 0}};
  return s;
}

}  // namespace

TEST_CASE("blocks and lanes become one loop where a tile is a run of memory everywhere") {
  const cuda::gpu_machine m = cuda::described_h200();
  for (const auto& beside : {std::array{true, true, true}, {true, false, false}, {false, true, false}, {false, false, true}, {false, true, true}})
    for (const std::int64_t width : {2, 8, 32})
      for (const std::int64_t n : {2, 5, 8, 12}) {
        CAPTURE(beside[0], beside[1], beside[2], width, n);
        cuda::small_shape s;
        REQUIRE(cuda::make_small(step_of(1000, width, n, beside), s));
        CHECK(cuda::is_beside(s));
        CHECK((s.beside_a > 0) == beside[0]);
        CHECK((s.beside_b > 0) == beside[1]);
        CHECK((s.beside_c > 0) == beside[2]);
        CHECK(s.inner == cuda::axis{1000 * width, n * n, n * n, n * n});
        CHECK(s.outer.empty());
        const cuda::small_config c = cuda::choose_small(s, m);
        CHECK(cuda::fits(s, c, m));
        CHECK(c.problems % width == 0);
        CHECK(cuda::plan_step(step_of(1000, width, n, beside), m).kind == cuda::kernel_kind::small);
      }
}

TEST_CASE("what lies otherwise keeps its loops") {
  const std::array all{true, true, true};
  const auto is_joined = [](const cuda::step_shape& step) {
    cuda::small_shape s;
    return cuda::make_small(step, s) && cuda::is_beside(s);
  };
  CHECK(is_joined(step_of(50, 8, 4, all)));
  CHECK_FALSE(is_joined(step_of(50, 8, 4, {false, false, false})));
  CHECK_FALSE(is_joined(step_of(50, 64, 32, all)));  // one block of problems would fill a multiprocessor
  cuda::step_shape gap = step_of(50, 8, 4, all);
  gap.batch[0].b += 8;  // blocks apart
  CHECK_FALSE(is_joined(gap));
  cuda::step_shape rows = step_of(50, 8, 4, all);
  rows.m[0].a *= 2, rows.batch[0].a *= 2;  // rows apart
  CHECK_FALSE(is_joined(rows));
  cuda::step_shape shared = step_of(50, 8, 4, all);  // one matrix for all
  shared.batch[0].b = shared.batch[1].b = 0, shared.k[0].b = 4, shared.n[0].b = 1;
  CHECK(is_joined(shared));
  cuda::step_shape transposed = step_of(50, 8, 4, all);
  std::swap(transposed.m[0].a, transposed.k[0].a);
  CHECK(is_joined(transposed));
}

TEST_CASE("products of problems side by side on the GPU") {
  unsigned part = 0, parts = 1;
  if (const char* text = std::getenv("RICCI_TEST_PART")) std::sscanf(text, "%u/%u", &part, &parts);
  for (unsigned seed = 1; seed <= 240; ++seed) {
    if (!has_gpu() || seed % parts != part) continue;
    dice d{std::mt19937(seed)};
    case_builder c(any_type(d), seed);
    const int widths[] = {2, 3, 4, 8, 16, 32};
    const int width = widths[d(0, 5)], square = d.chance(50) ? d(1, 33) : 0;
    c.label('b', d(1, 40)), c.label('l', width);
    c.label('i', square ? square : d(1, 20)), c.label('j', square ? square : d(1, 20)), c.label('k', square ? square : d(1, 20));
    if (d.chance(20)) c.label('o', d(2, 5));
    const std::string outer = c.p.labels.size() > 5 ? "o" : "";
    const auto order = [&](const std::string& sides) {
      const std::string own = d.chance(70) ? sides : std::string(sides.rbegin(), sides.rend());
      return outer + (d.chance(65) ? "b" + own + "l" : "bl" + own);
    };
    statement s;
    s.left = c.tensor("C", outer + "blij", order("ij")), s.op = static_cast<update>(d(0, 2));
    const bool shared = d.chance(15);
    reference a = c.tensor("A", outer + "blik", order("ik")), b = shared ? c.tensor("B", "kj") : c.tensor("B", outer + "blkj", order("kj"));
    a.conj = d.chance(30), b.conj = d.chance(30);
    s.terms.push_back({d.chance(50) ? c.scalar({1.5, -0.25}) : -1, d.chance(30), {a, b}});
    c.p.statements.push_back(s);
    require_right_on_gpu(c, 2, d.chance(60) ? 0 : d(1, 7), "beside seed " + std::to_string(seed), s.op == update::assign);
  }
}
