// How steps see products of problems that lie side by side in blocks, in some operands or in all. No GPU is needed.
#include <catch2/catch.hpp>

#include <array>
#include <utility>

#include "gpu/step.hpp"

using namespace ricci;

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
