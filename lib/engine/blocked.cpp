// Large products: panels of A and B are packed for the caches, the tile kernel runs over panels.
// c[rows, cols] = beta c + alpha sum_k a[rows, k] b[k, cols], rows, cols and k each several labels flattened to offsets.
#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/panels.hpp"

namespace ricci {
namespace {


bool is_value(const void* x, const void* y, std::int64_t size) { return std::memcmp(x, y, static_cast<std::size_t>(size)) == 0; }

constexpr std::int64_t few_sums = 96;  // a block whose results count more than its factors

std::int64_t panel_bytes(std::int64_t lines, const cache_blocks& g, std::int64_t size) { return round_up(lines * g.sums * size, 64); }

class block_runner {
 public:
  block_runner(const step_run& r) : r_(r), s_(*r.step), t_(s_.blocked), g_(t_.cut) {
    size_ = static_cast<std::int64_t>(size_of(s_.type));
    size_c_ = static_cast<std::int64_t>(size_of(s_.type_c));
    panel_a_ = r.scratch + s_.pack_a;
    panel_b_ = panel_a_ + panel_bytes(g_.rows, g_, size_);
    buffer_ = panel_b_ + panel_bytes(g_.cols, g_, size_);
    for (std::int64_t i = 0; i < cache_blocks::most_tile; ++i) buffer_rows_[i] = i * g_.tile_cols * t_.reals;
    zero_ = is_value(r_.beta, zero_of(s_.type), size_), one_ = is_value(r_.beta, one_of(s_.type), size_);
  }

  void run(const char* a, const char* b, char* c, std::int64_t m0, std::int64_t m1, std::int64_t n0, std::int64_t n1) {
    const auto sums = static_cast<std::int64_t>(t_.lists.sum_a.size());
    const codegen::kernel* const turns[] = {t_.turn_a[0].get(), t_.turn_a[1].get()};
    const panel_packer rows(t_.lists.row_a, t_.lists.sum_a, s_.type, s_.type_a, {s_.move_a, t_.turn, t_.pieces, turns});
    const panel_packer cols(t_.lists.col_b, t_.lists.sum_b, s_.type, s_.type_b, {s_.move_b, t_.turn, t_.pieces, nullptr});
    for (std::int64_t j = n0; j < n1; j += g_.cols) {
      const std::int64_t j_end = std::min(j + g_.cols, n1);
      for (std::int64_t k = 0; k < sums; k += g_.sums) {
        const std::int64_t k_end = std::min(k + g_.sums, sums);
        const bool last = k_end - k < g_.sums;
        cols.pack(b, panel_b_, {j, j_end, k, k_end, g_.tile_cols, last});
        for (std::int64_t i = m0; i < m1; i += g_.rows) {
          const std::int64_t i_end = std::min(i + g_.rows, m1);
          rows.pack(a, panel_a_, {i, i_end, k, k_end, g_.tile_rows, last});
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
    if (x.sums <= few_sums && !t_.plain) return multiply_in_order(c, x);
    if (x.sums <= few_sums) {  // c is written along its rows
      for (std::int64_t i = x.i0; i < x.i1; i += g_.tile_rows)
        for (std::int64_t j = x.j0; j < x.j1; j += g_.tile_cols) multiply_tile(c, x, i, j);
    } else {
      for (std::int64_t j = x.j0; j < x.j1; j += g_.tile_cols)
        for (std::int64_t i = x.i0; i < x.i1; i += g_.tile_rows) multiply_tile(c, x, i, j);
    }
  }

  /// f(first column) for the tiles of a block in the order in which they are in c.
  template <class F> void each_in_order(const block& x, const F& f) const {
    for (std::int64_t first = x.j0 / g_.cols * g_.cols; first < x.j1; first += g_.cols) {  // threads begin within blocks
      const std::int64_t t0 = first / g_.tile_cols, t1 = std::min(t0 + g_.cols / g_.tile_cols, static_cast<std::int64_t>(t_.order.size()));
      for (std::int64_t t = t0; t < t1; ++t) {
        const std::int64_t j = first + t_.order[static_cast<std::size_t>(t)] * g_.tile_cols;
        if (j >= x.j0 && j < x.j1) f(j);
      }
    }
  }

  /// Few sums and columns that are no neighbours: c, which counts most, is written along its rows as far as a block has them.
  void multiply_in_order(char* c, const block& x) {
    const auto& row = t_.lists.row_c;
    const std::int64_t next = x.i0 + g_.tile_rows < x.i1 ? std::abs(row[x.i0 + g_.tile_rows] - row[x.i0]) : 0;
    std::int64_t nearest = std::numeric_limits<std::int64_t>::max(), before = -1;
    each_in_order(x, [&](std::int64_t j) {
      const std::int64_t at = t_.lists.col_c[j];
      if (before >= 0) nearest = std::min(nearest, at - before);
      before = at;
    });
    if (next < nearest) {
      each_in_order(x, [&](std::int64_t j) {
        for (std::int64_t i = x.i0; i < x.i1; i += g_.tile_rows) multiply_tile(c, x, i, j);
      });
    } else {
      for (std::int64_t i = x.i0; i < x.i1; i += g_.tile_rows) each_in_order(x, [&](std::int64_t j) { multiply_tile(c, x, i, j); });
    }
  }

  void multiply_tile(char* c, const block& x, std::int64_t i, std::int64_t j) {
    const void* const beta = x.later ? one_of(s_.type) : static_cast<const void*>(r_.beta);
    const std::int64_t width = std::min(g_.tile_cols, x.j1 - j), height = std::min(g_.tile_rows, x.i1 - i);
    const char* const a = panel_a_ + (i - x.i0) * x.sums * size_;
    const char* const b = panel_b_ + (j - x.j0) * x.sums * size_;
    char* const to = c + (t_.lists.row_c[i] + t_.lists.col_c[j]) * size_c_;
    if (!t_.streams && (t_.plain || (columns_at(j).neighbours && (height == 1 || even_step(t_.lists.row_c, i, i + height) == t_.row_step)))) {
      tile(x, x.later ? sums_into::later : sums_into::first, height, width, a, b, to, t_.row_step, beta);
    } else {
      tile(x, sums_into::buffer, height, width, a, b, buffer_, g_.tile_cols, zero_of(s_.type));
      scatter(i, height, j, width, c, x.later, beta);
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
  void scatter(std::int64_t i, std::int64_t height, std::int64_t j, std::int64_t width, char* c, bool later, const void* beta) {
    const bool adds = later || one_;
    if (t_.spread && (adds || zero_)) {
      const tile_columns& x = columns_at(j);
      const std::int64_t* const rows = t_.real_rows.empty() ? t_.lists.row_c.data() : t_.real_rows.data();
      t_.spread({buffer_rows_, rows + i, height, t_.pieces_of_columns.data() + x.first, x.count, adds, t_.streams}, buffer_, c);
      return;
    }
    const std::int64_t rows = even_step(t_.lists.row_c, i, i + height);
    for (std::int64_t n = 0; n < width;) {
      std::int64_t run = 1;  // columns at even steps go together
      const std::int64_t step = n + 1 < width ? t_.lists.col_c[j + n + 1] - t_.lists.col_c[j + n] : 1;
      while (n + run < width && t_.lists.col_c[j + n + run] - t_.lists.col_c[j + n + run - 1] == step) ++run;
      const std::int64_t whole = rows >= 0 ? height : 1;
      for (std::int64_t m = 0; m < height; m += whole) {
        kernels::move_args y;
        y.axis_count = 2;
        y.axes[0] = {run, 0, 1, step};
        y.axes[1] = {whole, 0, g_.tile_cols, whole > 1 ? rows : 0};
        s_.move_c(y, buffer_ + (m * g_.tile_cols + n) * size_, c + (t_.lists.row_c[i + m] + t_.lists.col_c[j + n]) * size_c_, beta);
      }
      n += run;
    }
  }

  const tile_columns& columns_at(std::int64_t j) const { return t_.columns[static_cast<std::size_t>(j / g_.tile_cols)]; }

  const step_run& r_;
  const bound_step& s_;
  const blocked_product& t_;
  const cache_blocks& g_;
  std::int64_t buffer_rows_[cache_blocks::most_tile];
  bool zero_, one_;  // beta is
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
  const auto rows = static_cast<std::int64_t>(s.blocked.lists.row_a.size()), cols = static_cast<std::int64_t>(s.blocked.lists.col_b.size());
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
  const std::int64_t rows = static_cast<std::int64_t>(s.blocked.lists.row_a.size()), cols = static_cast<std::int64_t>(s.blocked.lists.col_b.size());
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
