// Which kernel for small products counting finds best: some hundred ways are counted, the best of them in all other ways as well.
#include <algorithm>
#include <cmath>

#include "gpu/small_cost.hpp"
#include "gpu/small_image.hpp"

namespace ricci::cuda {
namespace {

int most_sums(dtype c) {
  switch (compute_type(c)) {
    case dtype::f32: return 90;
    case dtype::c128: return 20;
    default: return 40;
  }
}

/// Elements to leave free after each row, so that the reads of a warp spread over the banks.
int pad_for(const small_shape& s, const std::vector<axis>& rows, const std::vector<axis>& cols, std::int64_t axis::*stride,
            dtype t, arithmetic how) {
  std::int64_t row = 1;
  bool found = false;
  for (const auto* group : {&rows, &cols})
    for (const axis& x : *group)
      if (x.*stride == 1) row = x.extent, found = true;
  if (!found || rows.empty() || cols.empty() || s.pointers) return 0;
  const auto size = static_cast<std::int64_t>(size_of(t));
  if (how == arithmetic::mma_f64) return row % 8 == 4 ? 0 : static_cast<int>((12 - row % 8) % 8);
  if (how == arithmetic::mma_c128) return row % 8 == 0 ? 2 : 0;
  if (how == arithmetic::mma_16) return row % 8 != 0 ? 0 : row % 64 == 0 || row % 32 == 0 || row % 16 == 0 ? 8 : 0;
  if (row * size % 64 == 0) return static_cast<int>(std::max<std::int64_t>(1, 16 / size));
  return 0;
}

}  // namespace

void set_pads(const small_shape& s, small_config& c, bool wanted) {
  c.pad_a = wanted ? pad_for(s, s.step.m, s.step.k, &axis::a, s.step.a, c.compute) : 0;
  c.pad_b = wanted ? pad_for(s, s.step.k, s.step.n, &axis::b, s.step.b, c.compute) : 0;
  c.pad_c = wanted && c.compute == arithmetic::mma_16 ? pad_for(s, s.step.m, s.step.n, &axis::c, s.step.c, c.compute) : 0;
}

bool is_along_sum(const small_shape& s) { return s.rows > 1 && std::any_of(s.step.k.begin(), s.step.k.end(), [](const axis& x) { return x.b == 1; }); }

std::vector<register_tile> register_tiles(std::int64_t m, std::int64_t n, int most, int longest) {
  std::vector<register_tile> tiles;
  for (int rm = 1; rm <= longest && rm <= m; ++rm)
    for (int rn = 1; rn <= longest && rn <= n; ++rn) {
      if (rm * rn > most || (rm - 1) * divide_up(m, rm) >= m || (rn - 1) * divide_up(n, rn) >= n) continue;
      const double waste = static_cast<double>(divide_up(m, rm) * rm * divide_up(n, rn) * rn) / static_cast<double>(m * n);
      tiles.push_back({rm, rn, waste * (1 + 1.5 * static_cast<double>(rm + rn) / (rm * rn))});
    }
  std::stable_sort(tiles.begin(), tiles.end(), [](const register_tile& x, const register_tile& y) { return x.cost < y.cost; });
  return tiles;
}

namespace {

using candidate = std::pair<double, small_config>;

/// Configurations that fit, and what they are estimated to take.
class search {
 public:
  search(const small_shape& s, const gpu_machine& m) : s_(s), m_(m), sm_(count_of(s.step.m)), sn_(count_of(s.step.n)), sk_(count_of(s.step.k)), size_(static_cast<std::int64_t>(size_of(s.step.c))) {}

  std::optional<small_config> best() {
    if (!is_one_type()) by_threads(), refine();
    else if (size_of(s_.step.a) == 2) by_cores_16(), refine_cores_16();
    else by_threads(), by_cores(), refine();
    if (found_.empty()) return std::nullopt;
    return std::min_element(found_.begin(), found_.end(), better)->second;
  }

 private:
  static bool better(const candidate& x, const candidate& y) { return x.first < y.first; }
  /// Of the factors; results of float from factors of 16 bits are the tensor cores' as well.
  bool is_one_type() const { return s_.step.a == s_.step.b; }
  bool may_pack() const { return is_one_type() && sk_ % 2 == 0 && (sn_ % 2 == 0 || is_along_sum(s_)) && size_ < 16 && size_ > 2 && !s_.pointers; }

  void consider(small_config c) {
    const std::int64_t items = divide_up(sm_, c.rm) * divide_up(sn_, c.rn);
    c.over = c.compute == arithmetic::threads && c.stages == 1 && !s_.step.beta && c.problems * items <= c.group;
    if (!fits(s_, c, m_)) {
      if (!c.over) return;
      c.over = false;
      if (!fits(s_, c, m_)) return;
    }
    found_.push_back({estimated_clocks(s_, c, m_), c});
  }

  bool has_problems(std::int64_t problems) const { return problems == 1 || problems <= s_.inner.extent; }
  std::int64_t factor_bytes(std::int64_t problems) const { return problems * (sm_ + sn_) * sk_ * size_; }
  static bool is_busy(std::int64_t work, std::int64_t group, double share) { return static_cast<double>(work) >= share * static_cast<double>(divide_up(work, group) * group); }

  void by_threads() {
    constexpr std::size_t most_tiles = 14;
    constexpr std::int64_t longest = 12, most_factors = 24 << 10;
    std::vector<register_tile> tiles = register_tiles(sm_, sn_, most_sums(s_.step.c), longest);
    tiles.resize(std::min(tiles.size(), most_tiles));
    for (const register_tile& t : tiles)
      for (const int group : {32, 64, 96, 128}) {
        const std::int64_t items = divide_up(sm_, t.rm) * divide_up(sn_, t.rn), one = std::max<std::int64_t>(1, group / items);
        for (const std::int64_t problems : {one, 2 * one}) {
          if (problems > one && (group < items || factor_bytes(problems) > most_factors)) continue;
          if (!has_problems(problems) || !is_busy(problems * items, group, 0.6)) continue;
          small_config c;
          c.rm = t.rm, c.rn = t.rn, c.group = c.block = group, c.problems = static_cast<int>(problems), c.stages = 1;
          c.unroll = static_cast<int>(sk_ <= 8 ? sk_ : 4);
          c.vectors = may_pack(), c.lined = sk_ % 2 != 0 && sn_ % 2 != 0 && !s_.pointers;
          consider(c);
        }
      }
  }

  void by_cores() {
    constexpr std::int64_t most_factors = 32 << 10, least_side = 5, least_sum = 3;
    const bool complex = s_.step.c == dtype::c128;
    if ((s_.step.c != dtype::f64 && !complex) || std::min(sm_, sn_) < least_side || sk_ < least_sum) return;
    const std::int64_t rows = divide_up(sm_, 8), cols = divide_up(sn_, 8);
    for (int rm = 1; rm <= std::min<std::int64_t>(4, rows); ++rm)
      for (int rn = 1; rn <= std::min<std::int64_t>(8, cols); ++rn) {
        const std::int64_t items = divide_up(rows, rm) * divide_up(cols, rn);
        if (rm * rn > (complex ? 8 : 16) || 3 * items * rm * rn > 4 * rows * cols) continue;
        for (const int group : {32, 64, 96, 128, 192, 256})
          for (const int problems : {1, 2, 3, 4, 6, 8}) {
            const std::int64_t work = 32 * items * problems;
            if (!has_problems(problems) || !is_busy(work, group, 0.7) || (problems > 1 && (work > 4 * group || factor_bytes(problems) > most_factors))) continue;
            small_config c;
            c.compute = complex ? arithmetic::mma_c128 : arithmetic::mma_f64;
            c.rm = rm, c.rn = rn, c.group = c.block = group, c.problems = problems, c.stages = 1, c.unroll = complex ? 1 : 4;
            consider(c);
          }
      }
  }

  /// Bytes of memory of a tile.
  std::int64_t tile_bytes(std::int64_t problems) const {
    const auto factor = static_cast<std::int64_t>(size_of(s_.step.a));
    return problems * (((is_common(s_, &axis::a) ? 0 : sm_) + (is_common(s_, &axis::b) ? 0 : sn_)) * sk_ * factor + sm_ * sn_ * size_);
  }

  void by_cores_16() {
    constexpr std::int64_t fewest_bytes = 3 << 10, most_bytes = 26 << 10, most_turns = 4;
    const std::int64_t rows = divide_up(sm_, 16), cols = divide_up(sn_, 8);
    for (const int rm : {1, 2, 4})
      for (int rn = 1; rn <= std::min<std::int64_t>(8, cols); ++rn) {
        const std::int64_t items = divide_up(rows, rm) * divide_up(cols, rn);
        if (rm > rows || rm * rn > 16 || 3 * items * rm * rn > 4 * rows * cols) continue;
        for (const int group : {32, 64, 96, 128, 192, 256})
          for (const int problems : {1, 2, 4, 8, 16, 32}) {
            const std::int64_t work = 32 * items * problems, bytes = tile_bytes(problems);
            if (!has_problems(problems) || !is_busy(work, group, 0.7) || work > most_turns * group || (problems > 1 && bytes > most_bytes) || (problems < 32 && bytes < fewest_bytes && has_problems(2 * problems))) continue;
            small_config c;
            c.compute = arithmetic::mma_16, c.rm = rm, c.rn = rn, c.group = c.block = group, c.problems = problems, c.stages = 1, c.unroll = 2;
            consider(c);
          }
      }
  }

  /// The best so far with space after rows, and with threads that sum neighbouring terms and have neighbouring columns.
  void refine_cores_16() {
    constexpr std::size_t kept = 8;
    std::stable_sort(found_.begin(), found_.end(), better);
    found_.resize(std::min(found_.size(), kept));
    for (const candidate& base : std::vector<candidate>(found_))
      for (const bool spread : {false, true})
        for (const int together : {0, 2})
          for (const bool pads : {false, true}) {
            small_config c = base.second;
            c.spread = spread, c.together = together;
            set_pads(s_, c, pads);
            if (pads && c.pad_a == 0 && c.pad_b == 0 && c.pad_c == 0) continue;
            if (together == 0 || result_pack_of(make_images(s_, c, {}).c, c) > 2) consider(c);
          }
  }

  /// The best so far in other ways: other places of a thread's rows and columns, space after rows, copies by the hardware, two stages.
  void refine() {
    constexpr std::size_t kept = 6;
    std::stable_sort(found_.begin(), found_.end(), better);
    found_.resize(std::min(found_.size(), kept));
    for (const candidate& base : std::vector<candidate>(found_)) {
      const bool threads = base.second.compute == arithmetic::threads;
      for (int together = 0; together < (threads ? 4 : 1); ++together)
        for (const bool vectors : {false, true}) {
          if (vectors && !(threads && may_pack())) continue;
          small_config c = base.second;
          c.together = together, c.vectors = vectors, c.stages = 1, c.bulk = 0, c.pad_a = c.pad_b = 0;
          consider(c);
          small_config other = c;
          set_pads(s_, other, true);
          if (other.pad_a > 0 || other.pad_b > 0) consider(other);
          other.stages = 2;
          if (s_.rows == 1) consider(other);  // else they take room from blocks that would hide more
          // What problems share would be asked of one place in the second cache by all: 0.6 of the speed.
          if (m_.architecture < 90 || s_.pointers || s_.inner.a == 0 || s_.inner.b == 0) continue;
          other = c, other.bulk = 2, other.lined = false;
          consider(other);
        }
    }
  }

  const small_shape& s_;
  const gpu_machine& m_;
  const std::int64_t sm_, sn_, sk_, size_;
  std::vector<candidate> found_;
};

}  // namespace

std::optional<small_config> choose_by_counting(const small_shape& s, const gpu_machine& m) { return search(s, m).best(); }

}  // namespace ricci::cuda
