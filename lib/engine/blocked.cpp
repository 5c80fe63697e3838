// Large products: panels of A and B are packed for the caches, the tile kernel runs over panels.
// c[rows, cols] = beta c + alpha sum_k a[rows, k] b[k, cols], rows, cols and k each several labels flattened to offsets.
#include <algorithm>
#include <cstring>

#include "engine/bound.hpp"

namespace ricci {
namespace {

std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

std::int64_t panel_bytes(std::int64_t lines, const cache_blocks& g, std::int64_t size) { return round_up(lines * g.sums * size, 64); }

/// The common difference of offsets[first, last), or -1 if there is none.
std::int64_t even_step(const std::vector<std::int64_t>& offsets, std::int64_t first, std::int64_t last) {
  if (last - first < 2) return 1;
  const std::int64_t step = offsets[first + 1] - offsets[first];
  for (std::int64_t i = first + 2; i < last; ++i)
    if (offsets[i] - offsets[i - 1] != step) return -1;
  return step >= 0 ? step : -1;
}

/// How many offsets from `first` on lie at even steps.
std::int64_t even_run(const std::vector<std::int64_t>& offsets, std::int64_t first, std::int64_t last) {
  std::int64_t n = std::min<std::int64_t>(2, last - first);
  while (first + n < last && offsets[first + n] - offsets[first + n - 1] == offsets[first + 1] - offsets[first]) ++n;
  return n;
}

/// One side (A by rows, or B by columns) of a cache block, packed into panels [panel][k][width].
class panel_packer {
 public:
  panel_packer(const std::vector<std::int64_t>& line, const std::vector<std::int64_t>& sum, dtype type, dtype from,
               kernels::move_fn mover, const codegen::kernel* const* turns)
      : line_(line), sum_(sum), size_(static_cast<std::int64_t>(size_of(type))),
        from_(static_cast<std::int64_t>(size_of(from))), move_(mover), turns_(turns) {}

  /// last: the sums are those of the last block.
  void pack(const char* source, char* target, std::int64_t l0, std::int64_t l1, std::int64_t k0, std::int64_t k1,
            std::int64_t width, bool last) const {
    const std::int64_t step = even_step(line_, l0, l1);
    if (step == 1 && l1 - l0 > width) return pack_rows(source + line_[l0] * from_, target, l1 - l0, k0, k1, width);
    const codegen::kernel* const turn = turns_ ? turns_[last] : nullptr;
    for (std::int64_t l = l0; l < l1; l += width, target += width * (k1 - k0) * size_) {
      const std::int64_t end = std::min(l + width, l1);
      if (turn && end - l == width) {
        (*turn)(nullptr, source + (line_[l] + sum_[k0]) * from_, target, nullptr, nullptr);
        continue;
      }
      // Runs of even steps along both sides go through one call of the move kernel.
      for (std::int64_t i = l; i < end;) {
        const std::int64_t lines = even_run(line_, i, end);
        for (std::int64_t k = k0; k < k1;) {
          const std::int64_t sums = even_run(sum_, k, k1);
          move(source + (line_[i] + sum_[k]) * from_, target + ((k - k0) * width + i - l) * size_, lines,
               lines > 1 ? line_[i + 1] - line_[i] : 0, sums, sums > 1 ? sum_[k + 1] - sum_[k] : 0, width);
          k += sums;
        }
        i += lines;
      }
    }
  }

 private:
  /// All lines are neighbours: a few sums at a time for all panels, so that memory is read in long runs.
  void pack_rows(const char* source, char* target, std::int64_t lines, std::int64_t k0, std::int64_t k1, std::int64_t width) const {
    constexpr std::int64_t at_once = 8;
    const std::int64_t panels = lines / width, rest = lines % width, panel = width * (k1 - k0);
    for (std::int64_t k = k0; k < k1;) {
      const std::int64_t sums = std::min(even_run(sum_, k, k1), at_once);
      kernels::move_args m;
      m.axis_count = 3;
      m.axes[0] = {width, 0, 1, 1};
      m.axes[1] = {sums, 0, sums > 1 ? sum_[k + 1] - sum_[k] : 0, width};
      m.axes[2] = {panels, 0, width, panel};
      const char* const from = source + sum_[k] * from_;
      char* const to = target + (k - k0) * width * size_;
      move_(m, from, to, nullptr);
      if (rest > 0) move(from + panels * width * from_, to + panels * panel * size_, rest, 1, sums, m.axes[1].b, width);
      k += sums;
    }
  }

  void move(const char* source, char* target, std::int64_t lines, std::int64_t l_step, std::int64_t sums,
            std::int64_t k_step, std::int64_t width) const {
    kernels::move_args m;
    m.axis_count = 2;
    m.axes[0] = {lines, 0, l_step, 1};
    m.axes[1] = {sums, 0, k_step, width};
    move_(m, source, target, nullptr);
  }

  const std::vector<std::int64_t>&line_, &sum_;
  std::int64_t size_, from_;
  kernels::move_fn move_;
  const codegen::kernel* const* turns_;
};

class block_runner {
 public:
  block_runner(const step_run& r) : r_(r), s_(*r.step), t_(s_.blocked), g_(t_.cut) {
    size_ = static_cast<std::int64_t>(size_of(s_.type));
    size_c_ = static_cast<std::int64_t>(size_of(s_.type_c));
    panel_a_ = r.scratch + s_.pack_a;
    panel_b_ = panel_a_ + panel_bytes(g_.rows, g_, size_);
    buffer_ = panel_b_ + panel_bytes(g_.cols, g_, size_);
  }

  void run(const char* a, const char* b, char* c, std::int64_t m0, std::int64_t m1, std::int64_t n0, std::int64_t n1) {
    const auto sums = static_cast<std::int64_t>(t_.sum_a.size());
    const codegen::kernel* const turns[] = {t_.turn_a[0].get(), t_.turn_a[1].get()};
    const panel_packer rows(t_.row_a, t_.sum_a, s_.type, s_.type_a, s_.move_a, turns);
    const panel_packer cols(t_.col_b, t_.sum_b, s_.type, s_.type_b, s_.move_b, nullptr);
    for (std::int64_t j = n0; j < n1; j += g_.cols) {
      const std::int64_t j_end = std::min(j + g_.cols, n1);
      for (std::int64_t k = 0; k < sums; k += g_.sums) {
        const std::int64_t k_end = std::min(k + g_.sums, sums);
        const bool last = k_end - k < g_.sums;
        cols.pack(b, panel_b_, j, j_end, k, k_end, g_.tile_cols, last);
        for (std::int64_t i = m0; i < m1; i += g_.rows) {
          const std::int64_t i_end = std::min(i + g_.rows, m1);
          rows.pack(a, panel_a_, i, i_end, k, k_end, g_.tile_rows, last);
          multiply(c, {i, i_end, j, j_end, k_end - k, last, k > 0});
        }
      }
    }
  }

 private:
  struct block {
    std::int64_t i0, i1, j0, j1, sums;
    bool last, later;  // sums are the last ones; c holds the sum of those before
  };

  void multiply(char* c, const block& x) {
    const void* const beta = x.later ? one_of(s_.type) : static_cast<const void*>(r_.beta);
    for (std::int64_t j = x.j0; j < x.j1; j += g_.tile_cols) {
      const std::int64_t width = std::min(g_.tile_cols, x.j1 - j);
      const char* const b = panel_b_ + (j - x.j0) * x.sums * size_;
      const bool neighbours = t_.plain || (even_step(t_.col_c, j, j + width) == 1 && s_.type == s_.type_c);
      for (std::int64_t i = x.i0; i < x.i1; i += g_.tile_rows) {
        const std::int64_t height = std::min(g_.tile_rows, x.i1 - i);
        const char* const a = panel_a_ + (i - x.i0) * x.sums * size_;
        char* const to = c + (t_.row_c[i] + t_.col_c[j]) * size_c_;
        if (t_.plain || (neighbours && (height == 1 || even_step(t_.row_c, i, i + height) == t_.row_step))) {
          tile(x, x.later ? sums_into::later : sums_into::first, height, width, a, b, to, t_.row_step, beta);
        } else {
          tile(x, sums_into::buffer, height, width, a, b, buffer_, g_.tile_cols, zero_of(s_.type));
          scatter(i, height, j, width, c, beta);
        }
      }
    }
  }

  void tile(const block& x, sums_into kind, std::int64_t height, std::int64_t width, const char* a, const char* b, char* c,
            std::int64_t row_step, const void* beta) const {
    const std::shared_ptr<const codegen::kernel>& written = t_.tile(height < g_.tile_rows, width < g_.tile_cols, x.last, kind);
    if (written) return (*written)(a, b, c, r_.alpha, beta);
    kernels::contract_args y;
    y.lane_extent = width;
    y.row = {height, 1, 0, row_step};
    y.k = x.sums, y.k_a = g_.tile_rows, y.k_b = g_.tile_cols;
    y.conj_a = s_.conj_a, y.conj_b = s_.conj_b;
    s_.contract(y, a, b, c, r_.alpha, beta);
  }

  /// c is not a plain matrix here: from the buffer to where its elements are.
  void scatter(std::int64_t i, std::int64_t height, std::int64_t j, std::int64_t width, char* c, const void* beta) const {
    const std::int64_t rows = even_step(t_.row_c, i, i + height);
    for (std::int64_t n = 0; n < width;) {
      std::int64_t run = 1;  // columns at even steps go together
      const std::int64_t step = n + 1 < width ? t_.col_c[j + n + 1] - t_.col_c[j + n] : 1;
      while (n + run < width && t_.col_c[j + n + run] - t_.col_c[j + n + run - 1] == step) ++run;
      const std::int64_t whole = rows >= 0 ? height : 1;
      for (std::int64_t m = 0; m < height; m += whole) {
        kernels::move_args y;
        y.axis_count = 2;
        y.axes[0] = {run, 0, 1, step};
        y.axes[1] = {whole, 0, g_.tile_cols, whole > 1 ? rows : 0};
        s_.move_c(y, buffer_ + (m * g_.tile_cols + n) * size_, c + (t_.row_c[i + m] + t_.col_c[j + n]) * size_c_, beta);
      }
      n += run;
    }
  }

  const step_run& r_;
  const bound_step& s_;
  const blocked_product& t_;
  const cache_blocks& g_;
  std::int64_t size_, size_c_;
  char *panel_a_, *panel_b_, *buffer_;
};

/// How a blocked step is cut into tasks: `cuts` along the longer of rows and columns for every batch.
struct cutting {
  std::int64_t cuts, unit;
  bool by_rows;
};

cutting cut(const bound_step& s, std::int64_t wanted) {
  const cache_blocks& g = s.blocked.cut;
  const auto rows = static_cast<std::int64_t>(s.blocked.row_a.size()), cols = static_cast<std::int64_t>(s.blocked.col_b.size());
  const bool by_rows = rows / g.tile_rows > cols / g.tile_cols;
  const std::int64_t extent = by_rows ? rows : cols, tile = by_rows ? g.tile_rows : g.tile_cols;
  const std::int64_t unit = std::max(tile, round_up((extent + wanted - 1) / wanted, tile));
  return {(extent + unit - 1) / unit, unit, by_rows};
}

}  // namespace

std::int64_t blocked_scratch(const bound_step& s) {
  const cache_blocks& g = s.blocked.cut;
  const auto size = static_cast<std::int64_t>(size_of(s.type));
  return panel_bytes(g.rows, g, size) + panel_bytes(g.cols, g, size) + g.tile_rows * g.tile_cols * size;
}

std::int64_t blocked_cuts(const bound_step& s, int threads) {
  return threads == 1 || s.free_count >= 4 * threads ? 1 : 2 * threads;
}

std::int64_t blocked_tasks(const bound_step& s, std::int64_t cuts) { return s.free_count * cut(s, cuts).cuts; }

void run_blocked(const step_run& r, std::int64_t first, std::int64_t last) {
  const bound_step& s = *r.step;
  const std::int64_t rows = static_cast<std::int64_t>(s.blocked.row_a.size()), cols = static_cast<std::int64_t>(s.blocked.col_b.size());
  block_runner runner(r);
  const cutting c = cut(s, r.cuts);
  for (std::int64_t i = first; i < last; ++i) {
    std::int64_t batch = i / c.cuts, piece = i % c.cuts, a = 0, b = 0, cc = 0;
    for (std::size_t l = s.free_loops.size(); l-- > 0;) {
      const outer_loop& x = s.free_loops[l];
      a += batch % x.count * x.a, b += batch % x.count * x.b, cc += batch % x.count * x.c;
      batch /= x.count;
    }
    const std::int64_t from = piece * c.unit, to = std::min(from + c.unit, c.by_rows ? rows : cols);
    if (c.by_rows) runner.run(r.a + a, r.b + b, r.c + cc, from, to, 0, cols);
    else runner.run(r.a + a, r.b + b, r.c + cc, 0, rows, from, to);
  }
}

}  // namespace ricci
