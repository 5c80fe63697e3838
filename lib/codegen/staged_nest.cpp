// What is converted to floats before it is multiplied: which blocks, and where they lie in the scratch.
#include "codegen/nest.hpp"

#include <algorithm>

namespace ricci::codegen {
namespace {

/// Scratch that iterations staged together take of each operand.
constexpr std::int64_t chunk_bytes = 4096;

/// Several tiles of rows would each convert b, and rows shorter than a vector waste most of a conversion: b is staged.
void stage_b(nest& n, const request& r) {
  const kernels::contract_args& x = r.args;
  if (r.type_b == r.type || n.pairs || x.col.extent != 1 || x.k_outer != 1) return;
  const bool dense = x.k_b == x.lane_extent && n.stage_a && x.lane_extent < 8 && x.lane_extent != 4;
  const std::int64_t row = dense ? x.lane_extent : (x.lane_extent + 15) / 16 * 16;
  if ((n.rows <= 2 * n.tile_rows && !dense) || x.k * row > most_staged) return;
  n.stage_b = staged_block{x.k, x.lane_extent, 2 * x.k_b, 4 * row, 0};
  n.k_b = 4 * row;
  for (lane_vector& v : n.vectors) v.b *= 2;
}

}  // namespace

/// Rows that follow each other are one, iterations that do are staged together, and the scratch has room for whole
/// vectors behind the last. What has just been stored is slow to load: with several iterations it is not just stored.
void settle_staging(nest& n, const request& r) {
  stage_b(n, r);
  bool together = n.stage_a && !n.loops.empty();
  std::int64_t largest = 1;
  for (auto* s : {&n.stage_a, &n.stage_b}) {
    if (!*s) continue;
    staged_block& b = **s;
    const bool flat = b.rows == 1 || (b.from == 2 * b.width && b.to == 4 * b.width);
    if (flat) b.width *= b.rows, b.rows = 1, b.to = 4 * b.width;
    largest = std::max(largest, b.bytes());
    together = together && flat && (s == &n.stage_a ? n.loops[0].a : n.loops[0].b) == 2 * b.width;
  }
  if (together) n.chunk = std::clamp<std::int64_t>(chunk_bytes / largest, 1, n.loops[0].count);
  std::int64_t at = 0;
  for (auto* s : {&n.stage_a, &n.stage_b})
    if (*s) (*s)->at = at, at += ((*s)->bytes() * n.chunk + 127) / 64 * 64;
}

}  // namespace ricci::codegen
