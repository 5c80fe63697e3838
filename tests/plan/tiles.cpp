// How the tiles of a step are cut for the caches.
#include <catch2/catch.hpp>

#include "machines.hpp"
#include "plan/blocked.hpp"
#include "plan/candidate.hpp"
#include "plan/rows.hpp"

using namespace ricci;
using namespace ricci::test;

TEST_CASE("only what is packed is cut for the caches, rows of memory last") {
  const machine m = *named_machine("avx512");
  const options o;
  const std::vector<int> none;
  pair_op op;
  op.a.where = op.b.where = op.c.where = operand::kind::external;
  const auto fitted = [&](std::int64_t columns) {
    planning::candidate x{m, o, none, op, {}, false};
    x.step.lanes = kernels::lanes::n, x.step.lane_label = 1, x.step.pack_b = true;
    x.step.axes = {{0, 4096, 4096, 4096, 0, columns, group::m}, {1, columns, columns, 0, 1, 1, group::n}, {2, 4096, 4096, 1, columns, 0, group::k}};
    x.fit_tiles();
    return x.step.axes;
  };
  const auto narrow = fitted(256);
  CHECK(narrow[0].tile == 4096);
  CHECK(narrow[1].tile == 256);
  CHECK(narrow[2].tile < 4096);
  CHECK(narrow[2].tile * 256 * 8 <= m.caches[1].bytes / 2);
  CHECK(fitted(100000)[1].tile < 100000);
}

TEST_CASE("without sums, neighbours that are packed along another label come in whole lines") {
  const machine m = *named_machine("avx512");
  const options o;
  const std::vector<int> none;
  for (const dtype type : {dtype::f32, dtype::f64}) {
    pair_op op;
    op.a.where = op.b.where = op.c.where = operand::kind::external;
    op.a.type = op.b.type = op.c.type = type;
    planning::candidate x{m, o, none, op, {}, false};
    x.step.lanes = kernels::lanes::batch, x.step.lane_label = 1, x.step.pack_a = x.step.pack_b = true;
    x.step.axes = {{0, 20000, 20000, 1, 1, 900, group::batch}, {1, 900, 900, 20000, 20000, 1, group::batch}};
    x.fit_tiles();
    const auto size = static_cast<std::int64_t>(size_of(type));
    CHECK(x.step.axes[0].tile * size >= 64);
    CHECK(x.packed_bytes() <= m.caches[1].bytes / 2);
  }
}

TEST_CASE("what is packed and read once stays in the first cache beside its source and its result") {
  const machine m = *named_machine("avx512");
  const options o;
  const std::vector<int> none;
  pair_op op;
  op.a.where = op.b.where = op.c.where = operand::kind::external;
  const auto fitted = [&](std::int64_t rows) {
    planning::candidate x{m, o, none, op, {}, false};
    x.step.lanes = kernels::lanes::n, x.step.lane_label = 1, x.step.pack_b = true;
    x.step.axes = {{1, 28728, 28728, 0, 2, 1, group::n}, {2, 2, 2, 1, 1, 0, group::k}};
    if (rows > 1) x.step.axes.push_back({0, rows, rows, 2, 0, 28728, group::m});
    CHECK(x.reads_packed_once() == (rows < 8));
    x.fit_tiles();
    CHECK(x.step.axes[1].tile == 2);
    return x.packed_bytes();
  };
  for (const std::int64_t rows : {1, 2}) CHECK(fitted(rows) <= m.caches[0].bytes / 3);
  CHECK(fitted(8) == 28728 * 2 * 8);
}

TEST_CASE("sums over long rows of two tensors follow the rows") {
  const machine m = *named_machine("avx512");
  const options o;
  const std::vector<int> none;
  pair_op op;
  op.a.where = op.b.where = op.c.where = operand::kind::external;
  const auto followed = [&](std::int64_t row, std::int64_t count) {
    planning::candidate x{m, o, none, op, {}, false};
    x.step.lanes = kernels::lanes::batch, x.step.lane_label = 0;
    x.step.axes = {{0, row, row, 1, 1, 1, group::batch}, {1, count, count, row, row, 0, group::k}};
    x.follow_rows_of_b();
    return x.step.axes[1].tile;
  };
  CHECK(followed(14880, 539) == 8);
  CHECK(followed(14880, 3) == 3);
  CHECK(followed(200, 539) == 539);   // rows a page holds several of
  CHECK(followed(1000, 50) == 50);    // in the second cache
}

TEST_CASE("no tile of a blocked product is larger than the lists of its rows and columns") {
  machine m = *named_machine("avx512");
  pair_op op;
  op.a.where = op.b.where = op.c.where = operand::kind::external;
  for (const int bytes : {16, 32, 64, 128, 256})
    for (const dtype type : {dtype::f32, dtype::f64, dtype::c64}) {
      m.vector_bytes = bytes;
      op.a.type = op.b.type = op.c.type = type;
      const auto step = planning::blocked_step(op, {{0, 4096, 4096, 4096, 0, 4096, group::m}, {1, 4096, 4096, 0, 1, 1, group::n}, {2, 4096, 4096, 1, 4096, 0, group::k}}, m);
      REQUIRE(step);
      CHECK(step->cut.tile_rows > 0);
      CHECK(step->cut.tile_cols > 0);
      CHECK(step->cut.tile_rows <= cache_blocks::most_tile);
      CHECK(step->cut.tile_cols <= cache_blocks::most_tile);
    }
}

TEST_CASE("a kernel goes along the sum whose steps touch the fewest lines of all rows and columns") {
  struct sum {
    std::int64_t extent, a, b;
  };
  const auto first = [](const planning::lines_touched& lines, sum x, sum y) { return lines.along(std::vector{x, y}) == 0 && lines.along(std::vector{y, x}) == 1; };
  const planning::lines_touched rows{24, 1, 3, 8}, wide{24, 1, 16, 8}, long_lanes{8, 1, 84, 4};
  const sum near_in_a{12, 1, 804}, near_in_b{268, 12, 3};
  CHECK(first(rows, near_in_a, near_in_b));                 // 268 lines of eight rows leave the first cache, twelve of b stay
  CHECK(first({1, 1, 3, 4}, {32, 1, 3984}, {1328, 128, 3}));  // and so they do of one row
  CHECK(first(rows, near_in_b, {3, 1, 804}));               // too short
  CHECK(first(long_lanes, {152, 8, 84}, {4, 2, 12768}));    // a long row of b is followed by the next one
  CHECK(first(wide, {64, 20, 16}, {20, 1, 1024}));          // whole pages apart: they push each other out
  CHECK(first(rows, {30, 1, 160}, {40, 30, 4}));
  CHECK(rows.distance(sum{10, 20, 24}) < rows.distance(sum{8, 200, 3}));  // around it the next in a, not the nearer one in b
}
