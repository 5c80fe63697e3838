// Which width of registers the generator takes.
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
