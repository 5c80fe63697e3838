// Which width of registers the generator takes, and which columns a tile has.
#include <catch2/catch.hpp>

#include "codegen/nest.hpp"

using namespace ricci::codegen;

TEST_CASE("columns in a loop cost as much as columns in the tiles") {
  if (double_pumped()) return;  // there narrow registers do as much
  for (const int n : {6, 7, 8}) {
    request r;  // a middle direction: b and c have the other ones around it
    r.args.lane_extent = n;
    r.args.row = {n, n - 1, 0, n};
    r.args.col = {n, 0, (n - 1) * n, n * n};
    r.args.k = n - 1, r.args.k_a = 1, r.args.k_b = n;
    r.alpha = factor::one, r.beta = factor::zero;
    const std::vector<nest> made = shape(r, target::avx512);
    REQUIRE(made.size() == 1);
    INFO(n << " columns by " << n);
    CHECK(made[0].vectors[0].width == 64);
    CHECK(made[0].vectors.size() == static_cast<std::size_t>(n));
  }
}

TEST_CASE("long sums across problems have columns of two axes in one tile") {
  for (const int k : {8, 100}) {
    request r;  // the gradient of a filter: c[r, s, lane] = sum a[k, lane] b[k + r * 100 + s, lane]
    r.lanes = ricci::kernels::lanes::batch;
    r.args.lane_extent = 64;
    r.args.col = {3, 0, 64, 64};
    r.args.loops[0] = {3, 0, 6400, 192}, r.args.loop_count = 1;
    r.args.k = k, r.args.k_a = 64, r.args.k_b = 64;
    r.alpha = factor::one, r.beta = factor::zero;
    const std::vector<nest> made = shape(r, target::avx512);
    REQUIRE(made.size() == 1);
    INFO(k << " sums");
    CHECK(made[0].vectors.size() == (k < 64 ? 3u : 9u));
    if (k >= 64) CHECK(made[0].tile_vectors == 9);
    r.args.loops[0].a = 1;  // not a column: a moves, too
    CHECK(shape(r, target::avx512).at(0).vectors.size() == 3);
  }
}
