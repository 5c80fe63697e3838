// Transpositions: what runs them, and their kernels' requests; texts for kernels/permute.cuh.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include "gpu/long_text.hpp"
#include "gpu/step.hpp"

namespace ricci::cuda {
namespace {

constexpr std::int64_t side = 32;  // of the kernel's squares

/// The axes of the squares, and those around them, outermost in the result first.
struct turned {
  axis i, j;  // the nearest of b and of c
  std::vector<axis> around;
};

/// Nothing if no axes are turned.
std::optional<turned> turned_of(const step_shape& s) {
  if (s.has_a || !s.has_b || !s.k.empty()) return {};
  turned t{{}, {}, free_axes(s)};
  std::stable_sort(t.around.begin(), t.around.end(), [](const axis& x, const axis& y) { return std::abs(x.c) > std::abs(y.c); });
  const std::size_t j = nearest_axis(t.around, &axis::c), i = nearest_axis(t.around, &axis::b);
  if (i == j || i >= t.around.size() || j >= t.around.size()) return {};
  t.i = t.around[i], t.j = t.around[j];
  t.around.erase(t.around.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
  t.around.erase(t.around.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
  return t;
}

/// Smaller sides leave most of a square empty.
bool is_small(const step_shape& s, const turned& t) {
  const auto [least, most] = std::minmax(t.i.extent, t.j.extent);
  const std::int64_t few = size_of(s.b) >= 8 ? 12 : 20;
  return least < 8 || (least <= few && most <= 3 * few);
}

}  // namespace

/// The limits are those of 76 contractions of one tensor on an H200, each run in all three ways.
turning turning_of(const step_shape& s) {
  const std::optional<turned> t = turned_of(s);
  if (!t) return turning::threads;
  const auto size = static_cast<std::int64_t>(size_of(s.c)), apart = std::abs(t->i.c);  // of neighbours of b in the result
  constexpr std::int64_t sector = 32;
  const auto share = [](const axis& x) { return static_cast<double>(x.extent) / static_cast<double>(divide_up(x.extent, side) * side); };
  const double used = share(t->i) * share(t->j);  // of the squares
  if (is_small(s, *t)) return size == 16 || (size > 2 && apart >= far_apart) ? turning::tiles : turning::threads;
  const std::int64_t near = size == 2 ? 64 : size == 4 ? 40 : 0;
  if (apart <= near && (used < 0.7 || size == 2)) return turning::threads;
  // Two squares share sectors of the result: the first of them may have left the second cache before the other comes.
  const bool shared = (size == 4 || size == 8) && apart * size % sector != 0 && t->j.extent > side;
  return used < 0.55 || shared ? turning::tiles : turning::squares;
}

bool can_permute(const step_shape& s) {
  const turning how = turning_of(s);
  return how == turning::squares || (how == turning::tiles && !is_small(s, *turned_of(s)));
}

std::int64_t permute_count(const step_plan& p) {
  if (p.turn.used()) return turn_tiles(p.turn);
  const turned t = *turned_of(p.shape);
  return count_of(t.around) * divide_up(t.i.extent, side) * divide_up(t.j.extent, side);
}

int permute_threads(const step_plan& p) { return p.turn.used() ? p.turn.block : 256; }

kernel_request permute_request(const step_plan& p, const alignments& at) {
  const step_shape& s = p.shape;
  if (p.turn.used()) return {turn_text(s, p.turn, at.b, at.c), "turn", p.turn.block, turn_shared_bytes(p.turn)};
  const turned t = *turned_of(s);
  std::string text = "#include \"element.cuh\"\nstruct permute_type {\n";
  text += "  using B = " + element_text(s.b) + ";\n  using C = " + element_text(s.c) + ";\n";
  text += constant_text("conj_b", s.conj_b) + constant_text("beta", s.beta);
  text += constant_text("i64", "extent_i", t.i.extent) + constant_text("i64", "extent_j", t.j.extent);
  text += constant_text("i64", "b_i", t.i.b) + constant_text("i64", "c_i", t.i.c) + constant_text("i64", "b_j", t.j.b) + constant_text("i64", "c_j", t.j.c);
  return {text + offset_function("place", t.around, "bc") + "};\n#include \"permute.cuh\"\n", "permute", permute_threads(p), 0};
}

}  // namespace ricci::cuda
