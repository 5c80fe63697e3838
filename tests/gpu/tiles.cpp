// Every configuration of tiles, with sums whole and in parts of neighbours, however the factors lie, beside the general kernel.
// RICCI_TEST_PART=3/16 runs a sixteenth.
#include "gpu/tile_fit.hpp"
#include "part.hpp"
#include "step_memory.hpp"

using namespace ricci;
using namespace ricci::cuda;

namespace {

struct sides {
  std::int64_t m, n, k;
};

constexpr std::int64_t most_gap = 16;  // elements between the rows of a factor

std::int64_t rows_apart(std::int64_t row, int way) { return way & 8 ? (row + most_gap - 1) / most_gap * most_gap : row; }

/// c(z,i,j) = a b of two problems. way: a along i, b along k; rows and terms of two labels, which are not one; rows of the factors with gaps.
step_shape shape_of(dtype t, const sides& x, int way, bool beta) {
  step_shape s = product_step(t, x.m, x.n, x.k, beta, 2);
  s.conj_a = s.conj_b = is_complex(t);
  const std::int64_t row_a = rows_apart(way & 1 ? x.m : x.k, way), row_b = rows_apart(way & 2 ? x.k : x.n, way);
  (way & 1 ? s.k : s.m)[0].a = row_a, (way & 1 ? s.m : s.k)[0].a = 1;
  (way & 2 ? s.n : s.k)[0].b = row_b, (way & 2 ? s.k : s.n)[0].b = 1;
  s.batch[0].a = row_a * (way & 1 ? x.k : x.m), s.batch[0].b = row_b * (way & 2 ? x.n : x.k);
  if (way & 4) {
    const auto cut = [](std::vector<axis>& group, std::int64_t by) {  // the halves change places in a
      const axis g = group[0];
      group = {{by, g.a, g.b * (g.extent / by), g.c * (g.extent / by)}, {g.extent / by, g.a * by, g.b, g.c}};
    };
    if (x.m % 3 == 0) cut(s.m, 3);
    if (x.k % 5 == 0) cut(s.k, 5);
  }
  return s;
}

}  // namespace

TEST_CASE("every configuration of tiles gives the same products") {
  if (!test::has_gpu()) return;
  unsigned at = 0;
  const use_device use(current_device());
  for (int t = 0; t < dtype_count; ++t)
    for (const sides& x : {sides{72, 136, 160}, {141, 75, 205}, {13, 150, 145}, {150, 45, 130}})
      for (const int way : {0, 1, 2, 3, 4, 5, 6, 7, 9, 10}) {
        if (!test::is_mine(at++)) continue;
        const dtype type = static_cast<dtype>(t);
        const int shift = way < 8 && way % 3 == 2 ? 1 : 0;
        const test::step_memory m(type, 2 * (x.m + most_gap) * (x.k + most_gap), 2 * (x.k + most_gap) * (x.n + most_gap), 2 * x.m * x.n, shift);
        step_plan p;
        p.shape = shape_of(type, x, way, (way + t) % 2 == 0);
        const test::by_general_kernel wanted(m, p.shape, x.k);
        p.kind = kernel_kind::tile;
        const step_shape given = p.shape;
        unsigned number = at;
        for (const tile_config& c : tile_candidates(given, current_device().machine))
          for (const int together : {1, number++ % 2 == 0 ? 3 : 8}) {
            if (together > 1 && current_device().machine.architecture < 90) continue;
            p.tile = c, p.tile.parts = together, p.tile.beside = together > 1;
            p.shape = arranged_for_tiles(given, p.tile);
            CAPTURE(name_of(type), x.m, x.n, x.k, way, given.beta, shift, to_string(p));
            REQUIRE(wanted.first_wrong(p) == -1);
          }
      }
}

TEST_CASE("tiles that fit the sides give the same products") {
  if (!test::has_gpu()) return;
  unsigned at = 0;
  const use_device use(current_device());
  for (const dtype type : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    for (const sides& x : {sides{100, 100, 100}, {150, 52, 75}, {72, 200, 130}})
      for (const int way : {0, 1, 2, 3, 4, 7, 9, 10}) {
        if (!test::is_mine(at++)) continue;
        const int shift = way < 8 && way % 3 == 2 ? 1 : 0;
        const test::step_memory m(type, 2 * (x.m + most_gap) * (x.k + most_gap), 2 * (x.k + most_gap) * (x.n + most_gap), 2 * x.m * x.n, shift);
        step_plan p;
        p.shape = shape_of(type, x, way, at % 2 == 0);
        const test::by_general_kernel wanted(m, p.shape, x.k);
        p.kind = kernel_kind::tile;
        const step_shape given = p.shape;
        const tile_config usual = tile_candidates(given, current_device().machine)[0];
        const std::vector<tile_config> all = fitted_tiles(given, copies_of(arranged_for_tiles(given, usual), usual, {16, 16, 16}));
        const std::size_t step = all.size() / 4 + 1;
        for (std::size_t n = at % step; n < all.size(); n += step) {
          const bool together = n / step % 3 == 1 && current_device().machine.architecture >= 90;
          p.tile = all[n], p.tile.parts = together ? 2 : 1, p.tile.beside = together;
          p.shape = arranged_for_tiles(given, p.tile);
          CAPTURE(name_of(type), x.m, x.n, x.k, way, given.beta, shift, p.tile.block, p.tile.rm, p.tile.rn, p.tile.stages, to_string(p));
          REQUIRE(wanted.first_wrong(p) == -1);
        }
      }
}
