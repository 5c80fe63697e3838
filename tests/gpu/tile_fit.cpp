// Tiles that fit the sides of a product, and what chooses them. No GPU is needed.
#include <catch2/catch.hpp>

#include <algorithm>

#include "gpu/measure.hpp"
#include "gpu/tile_fit.hpp"

using namespace ricci;
using namespace ricci::cuda;

namespace {

constexpr dtype fitted_types[] = {dtype::f32, dtype::f64, dtype::c64, dtype::c128};

tile_copies copies_for(const step_shape& s) {
  const tile_config usual = tile_candidates(s, described_h200())[0];
  return copies_of(arranged_for_tiles(s, usual), usual, {16, 16, 16});
}

std::int64_t elements_in_tiles(const step_shape& s, const tile_config& c) {
  return divide_up(count_of(s.m), std::int64_t{c.rows}) * c.rows * divide_up(count_of(s.n), std::int64_t{c.cols}) * c.cols;
}

}  // namespace

TEST_CASE("tiles that fit are tiles: their warps have all rows and columns, and few threads have none") {
  for (const dtype t : fitted_types)
    for (const std::int64_t side : {24, 64, 80, 100, 101, 150, 200, 300, 4000}) {
      const step_shape s = product_step(t, side, side + 7, side, side % 3 == 0, 20);
      const tile_copies copies = copies_for(s);
      const std::vector<tile_config> all = fitted_tiles(s, copies);
      CHECK(all.size() > 3);
      for (const tile_config& c : all) {
        CAPTURE(name_of(t), side, c.rows, c.cols, c.block, c.rm, c.rn);
        const bool threads = c.compute == arithmetic::threads;
        CHECK(c.block % 32 == 0);
        if (threads) {
          const int workers = c.rows / c.rm * (c.cols / c.rn);
          CHECK((c.rows % c.rm == 0 && c.cols % c.rn == 0 && workers <= c.block && c.block < workers + 32));
        } else {
          CHECK((c.rows == 16 * c.rm * c.warps_m && c.cols == 8 * c.rn * c.warps_n && c.block == 32 * c.warps_m * c.warps_n));
        }
        CHECK((c.rows % copies.vec_a == 0 && c.cols % copies.vec_b == 0 && c.cols % copies.vec_c == 0 && c.depth % 4 == 0));
        CHECK(tile_shared_bytes(s, c, copies) <= described_h200().shared_most);
        CHECK((c.blocks >= 1 && c.blocks * c.block <= 2048));
      }
    }
}

TEST_CASE("less lies outside of tiles that fit, and they are estimated to be faster") {
  const gpu_machine m = described_h200();
  for (const dtype t : fitted_types)
    for (const auto& [side, problems] : {std::pair<std::int64_t, std::int64_t>{80, 1000}, {100, 200}, {160, 300}, {200, 10}}) {
      const step_shape s = product_step(t, side, side, side, false, problems);
      const tile_config usual = choose_tile(s, m, true), fit = fit_tile(s, usual, m, true);
      CAPTURE(name_of(t), side, problems, fit.rows, fit.cols, fit.depth);
      const tile_copies copies = copies_for(s);
      CHECK(fitted_seconds(s, fit, copies, m) <= fitted_seconds(s, usual, copies, m));
      if (t == dtype::f32) CHECK(elements_in_tiles(s, fit) < elements_in_tiles(s, usual));
      CHECK(best_tile_seconds(s, m, true) == fitted_seconds(s, fit, copies, m));
    }
}

TEST_CASE("an estimate that passes its limit says so") {
  const gpu_machine m = described_h200();
  const step_shape s = product_step(dtype::f32, 200, 200, 200, false, 40);
  const tile_copies copies = copies_for(s);
  for (const tile_config& c : fitted_tiles(s, copies)) {
    const double seconds = fitted_seconds(s, c, copies, m);
    CHECK(fitted_seconds(s, c, copies, m, seconds) == seconds);
    CHECK(fitted_seconds(s, c, copies, m, seconds / 3) > seconds / 3);
  }
}

TEST_CASE("where the estimate is not known, tiles and the choice of a kernel stay what they were") {
  const gpu_machine m = described_h200();
  const auto is_usual = [&](const step_shape& s) {
    const tile_config usual = choose_tile(s, m, true), fit = fit_tile(s, usual, m, true);
    return fit.rows == usual.rows && fit.cols == usual.cols && fit.depth == usual.depth && fit.parts == usual.parts && best_tile_seconds(s, m, true) > 1;
  };
  CHECK(is_usual(product_step(dtype::f16, 100, 100, 100, false, 50)));
  CHECK(is_usual(product_step(dtype::f32, 100, 100, 20, false, 50)));  // a short sum
  CHECK(is_usual(product_step(dtype::f32, 12, 1000, 100, false, 50)));
  step_shape two = product_step(dtype::f32, 100, 100, 100, false, 50);
  two.m = {{10, 1000, 0, 1000}, {10, 90, 0, 100}};  // two labels of rows
  CHECK(is_usual(two));
}

TEST_CASE("few small problems are done in tiles, many by small products; the library does what it does better") {
  gpu_machine m = described_h200();
  m.blas = blas_use::never;
  CHECK(cuda::plan_step(product_step(dtype::f32, 64, 64, 64, false, 50), m).kind == kernel_kind::tile);
  CHECK(cuda::plan_step(product_step(dtype::f32, 56, 56, 56, false, 20000), m).kind == kernel_kind::small);
  // Long sums of few rows and columns are cut in many small products, and stay so.
  step_shape long_sum = product_step(dtype::f32, 32, 32, 4000000, false, 1);
  long_sum.m[0].a = 1, long_sum.k[0].a = 32;
  CHECK(cuda::plan_step(long_sum, m).kind == kernel_kind::small);
  m.blas = blas_use::where_it_wins;
  const auto by_library = [&](dtype t, std::int64_t side, std::int64_t problems) { return cuda::plan_step(product_step(t, side, side, side, false, problems), m).blas.used; };
  CHECK(by_library(dtype::f64, 1024, 1));
  CHECK(by_library(dtype::c128, 256, 100));
  CHECK_FALSE(by_library(dtype::f64, 80, 1000));
  CHECK_FALSE(by_library(dtype::c64, 100, 200));
  CHECK_FALSE(by_library(dtype::f32, 200, 256));
  m.blas = blas_use::always;
  CHECK(by_library(dtype::f64, 80, 1000));
}
