// Which lines an iteration touches: what kernels ask for ahead is what they read, not what lies between.
#include <catch2/catch.hpp>

#include "codegen/touched.hpp"

using namespace ricci::codegen;

namespace {

using lines = std::vector<std::int64_t>;

/// c[8 rows, n] += a[8 rows, 8] b[8, n] of doubles whose rows are `row` elements apart.
nest product(std::int64_t row, std::int64_t columns) {
  nest n;
  n.rows = 8, n.row_a = n.row_c = 8 * row;
  n.k = 8, n.k_a = 8, n.k_b = 8 * row;
  for (std::int64_t j = 0; j < columns; j += 8) n.vectors.push_back({8 * j, 8 * j, static_cast<int>(std::min<std::int64_t>(8, columns - j)), 64});
  n.outer = {{0, 0}};
  return n;
}

geometry of_doubles() {
  geometry g{};
  g.real = g.real_b = g.real_c = 8, g.vector = 64, g.sets = 1;
  return g;
}

lines rows_of(std::int64_t bytes, int rows, lines in_row) {
  lines out;
  for (int r = 0; r < rows; ++r)
    for (const std::int64_t x : in_row) out.push_back(r * bytes + x);
  return out;
}

}  // namespace

TEST_CASE("touched lines: rows one behind the other are all of an iteration") {
  const nest n = product(8, 8);
  for (const nest_operand x : {nest_operand::a, nest_operand::b, nest_operand::c}) {
    CHECK(lines_of(n, of_doubles(), x, {0, 8, 0, 8}) == rows_of(64, 8, {0}));
    CHECK_FALSE(is_sparse(n, of_doubles(), x, 512));
  }
}

TEST_CASE("touched lines: of rows in a larger matrix only the rows") {
  const nest n = product(64, 12);
  CHECK(lines_of(n, of_doubles(), nest_operand::a, {0, 8, 0, 8}) == rows_of(512, 8, {0}));
  CHECK(lines_of(n, of_doubles(), nest_operand::b, {0, 8, 0, 8}) == rows_of(512, 8, {0, 64}));
  CHECK(lines_of(n, of_doubles(), nest_operand::c, {0, 8, 0, 8}) == rows_of(512, 8, {0, 64}));
  for (const nest_operand x : {nest_operand::a, nest_operand::b, nest_operand::c}) CHECK(is_sparse(n, of_doubles(), x, 64 * 512));
}

TEST_CASE("touched lines: parts of an iteration") {
  const nest n = product(64, 8);
  CHECK(lines_of(n, of_doubles(), nest_operand::c, {2, 3, 0, 8}) == lines{1024, 1536, 2048});
  CHECK(lines_of(n, of_doubles(), nest_operand::a, {2, 3, 0, 8}) == lines{1024, 1536, 2048});
  CHECK(lines_of(n, of_doubles(), nest_operand::b, {0, 0, 4, 2}) == lines{2048, 2560});
  CHECK(lines_of(n, of_doubles(), nest_operand::c, {0, 0, 0, 8}).empty());
}

TEST_CASE("touched lines: backwards, transposed, with last columns and outer sums") {
  nest n = product(64, 8);
  n.row_c = -512;
  CHECK(lines_of(n, of_doubles(), nest_operand::c, {0, 3, 0, 8}) == lines{-1024, -512, 0});
  n.row_a = 8, n.k_a = 512;
  CHECK(lines_of(n, of_doubles(), nest_operand::a, {0, 8, 0, 8}) == rows_of(512, 8, {0}));
  n.outer = {{0, 0}, {8192, 65536}};
  CHECK(lines_of(n, of_doubles(), nest_operand::a, {0, 8, 0, 1}) == lines{0, 8192});
  CHECK(lines_of(n, of_doubles(), nest_operand::b, {0, 8, 1, 1}) == lines{512, 66048});
  n.tail = summed_tail{};
  n.tail->columns = 2, n.tail->b = n.tail->c = 64;
  CHECK(lines_of(n, of_doubles(), nest_operand::b, {0, 8, 0, 1}) == lines{0, 64, 65536, 65600});
  CHECK(lines_of(n, of_doubles(), nest_operand::c, {0, 1, 0, 1}) == lines{0, 64});
}
