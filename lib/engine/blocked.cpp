// Large products: panels of A and B are packed for the caches, the tile kernel runs over panels.
// c[rows, cols] = beta c + alpha sum_k a[rows, k] b[k, cols], rows, cols and k each several labels flattened to offsets.
#include <algorithm>
#include <cstring>

#include "engine/bound.hpp"

namespace ricci {
namespace {

/// Summed indices of a cache block: a panel of B, three vectors wide, stays in the first cache beside one of A.
constexpr std::int64_t sum_block = 192;

struct blocking {
  std::int64_t tile_rows, tile_cols;   // one kernel tile: MR x NR
  std::int64_t rows, cols;             // cache block: MC x NC
};

blocking blocking_of(const bound_step& s) {
  const std::int64_t lanes = std::max<std::int64_t>(1, s.vector_bytes / static_cast<std::int64_t>(size_of(s.type)));
  const std::int64_t cols = (is_complex(s.type) ? 2 : 3) * lanes, rows = s.vector_bytes >= 64 ? 8 : is_complex(s.type) ? 3 : 4;
  const std::int64_t block = 98304 / static_cast<std::int64_t>(size_of(s.type)) / 128;  // rows that fill part of L2
  return {rows, cols, block / rows * rows, 64 * cols};
}

std::int64_t round_up(std::int64_t x, std::int64_t to) { return (x + to - 1) / to * to; }

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
               kernels::move_fn mover)
      : line_(line), sum_(sum), size_(static_cast<std::int64_t>(size_of(type))),
        from_(static_cast<std::int64_t>(size_of(from))), move_(mover) {}

  void pack(const char* source, char* target, std::int64_t l0, std::int64_t l1, std::int64_t k0, std::int64_t k1,
            std::int64_t width) const {
    for (std::int64_t l = l0; l < l1; l += width, target += width * (k1 - k0) * size_) {
      const std::int64_t end = std::min(l + width, l1);
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
};

class block_runner {
 public:
  block_runner(const step_run& r) : r_(r), s_(*r.step), t_(s_.blocked), g_(blocking_of(s_)) {
    size_ = static_cast<std::int64_t>(size_of(s_.type));
    size_c_ = static_cast<std::int64_t>(size_of(s_.type_c));
    panel_a_ = r.scratch + s_.pack_a;
    panel_b_ = panel_a_ + round_up(g_.rows * sum_block * size_, 64);
    buffer_ = panel_b_ + round_up(g_.cols * sum_block * size_, 64);
  }

  void run(const char* a, const char* b, char* c, std::int64_t m0, std::int64_t m1, std::int64_t n0, std::int64_t n1) {
    const auto sums = static_cast<std::int64_t>(t_.sum_a.size());
    const panel_packer rows(t_.row_a, t_.sum_a, s_.type, s_.type_a, s_.move_a);
    const panel_packer cols(t_.col_b, t_.sum_b, s_.type, s_.type_b, s_.move_b);
    for (std::int64_t j = n0; j < n1; j += g_.cols) {
      const std::int64_t j_end = std::min(j + g_.cols, n1);
      for (std::int64_t k = 0; k < sums; k += sum_block) {
        const std::int64_t k_end = std::min(k + sum_block, sums);
        const void* beta = k == 0 ? static_cast<const void*>(r_.beta) : one_of(s_.type);
        cols.pack(b, panel_b_, j, j_end, k, k_end, g_.tile_cols);
        for (std::int64_t i = m0; i < m1; i += g_.rows) {
          const std::int64_t i_end = std::min(i + g_.rows, m1);
          rows.pack(a, panel_a_, i, i_end, k, k_end, g_.tile_rows);
          multiply(c, i, i_end, j, j_end, k_end - k, beta);
        }
      }
    }
  }

 private:
  void multiply(char* c, std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1, std::int64_t sums,
                const void* beta) {
    const std::int64_t row_step = even_step(t_.row_c, i0, i1);
    for (std::int64_t j = j0; j < j1; j += g_.tile_cols) {
      const std::int64_t width = std::min(g_.tile_cols, j1 - j);
      const char* b = panel_b_ + (j - j0) * sums * size_;
      const bool straight = even_step(t_.col_c, j, j + width) == 1 && row_step >= 0 && s_.type == s_.type_c;
      const std::int64_t whole = straight ? (i1 - i0) / g_.tile_rows * g_.tile_rows : 0;
      if (whole > 0)
        panels(i0, i0 + whole, i0, j, width, sums, row_step, b, c, beta);
      for (std::int64_t i = i0 + whole; i < i1; i += g_.tile_rows) {
        const std::int64_t height = std::min(g_.tile_rows, i1 - i);
        if (straight) ragged(i, height, i0, j, width, sums, row_step, b, c, beta);
        else scattered(i, height, i0, j, width, sums, b, c, beta);
      }
    }
  }

  kernels::contract_args base(std::int64_t width, std::int64_t height, std::int64_t sums, std::int64_t row_step) const {
    kernels::contract_args x;
    x.lane_extent = width;
    x.row = {height, 1, 0, row_step};
    x.k = sums, x.k_a = g_.tile_rows, x.k_b = g_.tile_cols;
    x.conj_a = s_.conj_a, x.conj_b = s_.conj_b;
    return x;
  }

  const char* panel(std::int64_t i, std::int64_t i0, std::int64_t sums) const { return panel_a_ + (i - i0) * sums * size_; }

  void panels(std::int64_t i, std::int64_t end, std::int64_t i0, std::int64_t j, std::int64_t width, std::int64_t sums,
              std::int64_t row_step, const char* b, char* c, const void* beta) {
    kernels::contract_args x = base(width, g_.tile_rows, sums, row_step);
    x.loop_count = 1;
    x.loops[0] = {(end - i) / g_.tile_rows, g_.tile_rows * sums, 0, g_.tile_rows * row_step};
    s_.contract(x, panel(i, i0, sums), b, c + (t_.row_c[i] + t_.col_c[j]) * size_c_, r_.alpha, beta);
  }

  void ragged(std::int64_t i, std::int64_t height, std::int64_t i0, std::int64_t j, std::int64_t width,
              std::int64_t sums, std::int64_t row_step, const char* b, char* c, const void* beta) {
    const kernels::contract_args x = base(width, height, sums, row_step);
    s_.contract(x, panel(i, i0, sums), b, c + (t_.row_c[i] + t_.col_c[j]) * size_c_, r_.alpha, beta);
  }

  /// c is not a plain matrix here: the tile goes through a buffer.
  void scattered(std::int64_t i, std::int64_t height, std::int64_t i0, std::int64_t j, std::int64_t width,
                 std::int64_t sums, const char* b, char* c, const void* beta) {
    const kernels::contract_args x = base(width, height, sums, g_.tile_cols);
    s_.contract(x, panel(i, i0, sums), b, buffer_, r_.alpha, zero_of(s_.type));
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
  const blocked_tables& t_;
  blocking g_;
  std::int64_t size_, size_c_;
  char *panel_a_, *panel_b_, *buffer_;
};

/// How a blocked step is cut into tasks: `cuts` along the longer of rows and columns for every batch.
struct cutting {
  std::int64_t cuts, unit;
  bool by_rows;
};

cutting cut(const bound_step& s, std::int64_t wanted) {
  const blocking g = blocking_of(s);
  const auto rows = static_cast<std::int64_t>(s.blocked.row_a.size()), cols = static_cast<std::int64_t>(s.blocked.col_b.size());
  const bool by_rows = rows / g.tile_rows > cols / g.tile_cols;
  const std::int64_t extent = by_rows ? rows : cols, tile = by_rows ? g.tile_rows : g.tile_cols;
  const std::int64_t unit = std::max(tile, round_up((extent + wanted - 1) / wanted, tile));
  return {(extent + unit - 1) / unit, unit, by_rows};
}

}  // namespace

std::int64_t blocked_scratch(const bound_step& s) {
  const blocking g = blocking_of(s);
  const auto size = static_cast<std::int64_t>(size_of(s.type));
  return round_up(g.rows * sum_block * size, 64) + round_up(g.cols * sum_block * size, 64) + g.tile_rows * g.tile_cols * size;
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
