// Products that read a large factor in pieces: as it lies in memory, each for all of its results before the next one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "plan/candidate.hpp"
#include "plan/rows.hpp"

namespace ricci::planning {
namespace {

// Of a piece: bytes of both factors; terms, where the results stay in the first cache and where they do not. Measured.
constexpr double least_piece_bytes = 8192, most_piece_bytes = 65536, few_piece_terms = 8, more_piece_terms = 16;
constexpr double least_sum = 64;  // of a sum

}  // namespace

bool candidate::moves_with_blocks(const operand& x) const {
  return x.where == operand::kind::temporary || std::any_of(block_labels.begin(), block_labels.end(), [&](int l) { return has(x, l); });
}

void candidate::cut_to_pieces() {
  if (!m.writes_kernels || m.vector_bytes != 32 || m.asks.memory == 0 || m.caches.size() < 2 || step.lanes != lanes::n || op.cut_label >= 0) return;
  if (step.pack_a || step.pack_b || compute_type(op.c.type) != op.c.type) return;
  const double second = static_cast<double>(m.caches[1].bytes), bytes_a = bytes_of(op.a, step.axes, &step_axis::a), bytes_b = bytes_of(op.b, step.axes, &step_axis::b);
  const operand& large = bytes_a > bytes_b ? op.a : op.b;
  std::int64_t step_axis::*const at = bytes_a > bytes_b ? &step_axis::a : &step_axis::b;
  if (large.where != operand::kind::external || moves_with_blocks(large) || std::max(bytes_a, bytes_b) < second) return;
  for (std::int64_t step_axis::*stride : {&step_axis::a, &step_axis::b})
    if (distinct_share(step.axes, [&](const step_axis& x) { return strided_axis{x.extent, x.*stride}; }) < 1) return;  // windows
  const auto apart = [&](const step_axis& x) { return std::abs(x.*at); };
  std::vector<step_axis> cut = step.axes;
  step_axis* sum = nullptr;
  for (step_axis& x : cut) {
    if (x.tile != x.extent) return;
    if (x.role == group::k && x.extent > 1 && (!sum || apart(x) > apart(*sum))) sum = &x;
  }
  if (!sum || sum->*at == 0) return;
  // Results around the sum one by one; several register tiles of those within it read its terms again.
  double rows = 1, results = 1, terms = 1;
  for (step_axis& x : cut) {
    if (&x != sum && x.role == group::k) terms *= static_cast<double>(x.extent);
    if (x.c == 0) continue;
    if (x.*at != 0 && apart(x) > apart(*sum)) {
      if (x.label == step.lane_label) return;
      x.tile = 1;
    } else {
      if (x.*at != 0) rows *= static_cast<double>(x.extent);
      results *= static_cast<double>(x.extent);
    }
  }
  const auto size = static_cast<double>(size_of(op.c.type)), whole = static_cast<double>(sum->extent);
  if (rows <= 8 || results * size > 0.5 * second || whole * terms < least_sum) return;
  const auto value = [&](const operand& x, std::int64_t step_axis::*stride) {  // bytes for one value of the summed label
    auto n = static_cast<double>(size_of(x.type));
    for (const step_axis& y : cut)
      if (&y != sum && y.*stride != 0) n *= static_cast<double>(y.tile);
    return n;
  };
  const double a = value(op.a, &step_axis::a), b = value(op.b, &step_axis::b), each = a + b, others = &large == &op.a ? b : a;
  if (each * whole < 0.5 * second) return;  // stays in the second cache until it is read again
  if (others * whole > 0.25 * second && others > 0.3 * (each - others)) return;  // would come again for every result around the sum
  const double enough_terms = results * size <= static_cast<double>(m.caches[0].bytes) ? few_piece_terms : more_piece_terms;
  const auto tile = static_cast<std::int64_t>(std::max({1.0, std::min(enough_terms / terms, most_piece_bytes / each), least_piece_bytes / each}));
  if (each * static_cast<double>(tile) > most_piece_bytes || static_cast<double>(tile) * terms < 0.5 * enough_terms || 2 * tile > sum->extent) return;
  sum->tile = divide_up(sum->extent, divide_up(sum->extent, tile));
  step.axes = std::move(cut), step.in_pieces = true;
}

}  // namespace ricci::planning
