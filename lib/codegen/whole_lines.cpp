// Whether a kernel's stores may go past the caches.
#include "codegen/nest.hpp"

namespace ricci::codegen {
namespace {

constexpr std::int64_t line = 64;

/// The stores of a tile fill whole lines: vectors of a line's width, or all of one row's, or rows right behind one another.
bool fills_lines(const nest& n) {
  if (n.vectors[0].width == line) return true;
  std::int64_t row_bytes = 0;
  for (const lane_vector& v : n.vectors) {
    if (v.c != n.vectors[0].c + row_bytes) return false;
    row_bytes += v.width;
  }
  if (n.tile_vectors < static_cast<int>(n.vectors.size())) return false;
  if (row_bytes % line == 0) return true;
  if (line % row_bytes != 0 || (n.rows > 1 && n.row_c != row_bytes)) return false;
  for (const tile_run& run : runs_of(n.rows, n.tile_rows))
    if (run.size * row_bytes % line != 0) return false;
  return true;
}

}  // namespace

bool writes_whole_lines(const request& r, const std::vector<nest>& nests) {
  const std::int64_t real = r.type == dtype::f32 || r.type == dtype::c64 ? 4 : 8;
  for (const nest& n : nests) {
    if (n.tail || n.packed || n.vectors.empty()) return false;
    const std::int64_t width = n.vectors[0].width;
    for (const lane_vector& v : n.vectors)
      if (v.width != width || v.count * real != width || v.c % width != 0) return false;
    if (n.start % line != 0 || (n.rows > 1 && n.row_c % width != 0)) return false;
    for (const code_loop& l : n.loops)
      if (l.count > 1 && l.c % line != 0) return false;
    if (!fills_lines(n)) return false;
  }
  return true;
}

}  // namespace ricci::codegen
