// The lines that an iteration touches: where its rows, columns and sums lie.
#include "codegen/touched.hpp"

#include <algorithm>

namespace ricci::codegen {
namespace {

constexpr std::int64_t line_bytes = 64;

class line_set {
 public:
  void add(std::int64_t first, std::int64_t bytes) {
    for (std::int64_t at = floor(first); at < first + bytes; at += line_bytes) lines_.push_back(at);
  }

  std::vector<std::int64_t> take() {
    std::sort(lines_.begin(), lines_.end());
    lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
    return std::move(lines_);
  }

 private:
  static std::int64_t floor(std::int64_t x) { return (x >= 0 ? x : x - (line_bytes - 1)) / line_bytes * line_bytes; }

  std::vector<std::int64_t> lines_;
};

/// The columns of a row of b or c.
struct columns {
  std::int64_t lane_vector::*at;
  std::int64_t summed, packed, real;

  void add_to(line_set& lines, const nest& n, const geometry& g, std::int64_t row) const {
    for (const lane_vector& v : n.vectors) lines.add(row + v.*at, v.count * real);
    if (n.tail) lines.add(row + summed, n.tail->columns * real);
    if (n.packed) lines.add(row + packed, n.packed->columns * real * g.sets);
  }
};

}  // namespace

std::vector<std::int64_t> lines_of(const nest& n, const geometry& g, nest_operand x, const nest_part& part) {
  line_set lines;
  const columns of_b{&lane_vector::b, n.tail ? n.tail->b : 0, n.packed ? n.packed->b : 0, g.real_b};
  const columns of_c{&lane_vector::c, n.tail ? n.tail->c : 0, n.packed ? n.packed->c : 0, g.real_c};
  const std::int64_t last_row = part.row + part.rows, last_sum = part.sum + part.sums;
  if (x == nest_operand::c)
    for (std::int64_t r = part.row; r < last_row; ++r) of_c.add_to(lines, n, g, r * n.row_c);
  for (const auto& [a, b] : n.outer)
    for (std::int64_t k = part.sum; k < last_sum; ++k) {
      if (x == nest_operand::b) of_b.add_to(lines, n, g, k * n.k_b + b);
      if (x == nest_operand::a)
        for (std::int64_t r = part.row; r < last_row; ++r) lines.add(r * n.row_a + k * n.k_a + a, g.batch ? g.vector : g.real * g.sets);
    }
  return lines.take();
}

bool is_sparse(const nest& n, const geometry& g, nest_operand x, std::int64_t step) {
  constexpr std::int64_t few = 4 * line_bytes, most_parts = 1 << 16;
  const std::int64_t outer = std::ssize(n.outer), vectors = std::ssize(n.vectors);
  const std::int64_t parts = x == nest_operand::c ? n.rows * (vectors + 2) : x == nest_operand::a ? n.rows * n.k * outer : n.k * outer * (vectors + 2);
  if (step <= few || parts > most_parts) return false;
  return 10 * line_bytes * std::ssize(lines_of(n, g, x, {0, n.rows, 0, n.k})) < 9 * step;
}

}  // namespace ricci::codegen
