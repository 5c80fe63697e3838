// Moves that turn: what lies in rows of the source lies in rows of the destination the other way round.
#pragma once

#include "kernels.hpp"
#include "nests-inl.hpp"
#include "transpose-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// Number i of some rows or columns begins at base(i) + offsets(i)[0], the next one at base(i) + offsets(i)[1], and so on.
struct beginnings {
  const std::int64_t* list;
  std::int64_t stride;  // from one to the next; 0: the list has all
  std::int64_t step;    // 1 if it has all, 0 if it has a few to begin with

  std::int64_t base(std::int64_t i) const { return i * stride; }
  const std::int64_t* offsets(std::int64_t i) const { return list + i * step; }
  std::int64_t offset(std::int64_t i, int more) const { return offsets(i)[more]; }
  std::int64_t operator()(std::int64_t i) const { return base(i) + *offsets(i); }
};

/// The same for multiples of a stride.
struct even_beginnings {
  std::int64_t stride;

  std::int64_t base(std::int64_t i) const { return i * stride; }
  std::int64_t offset(std::int64_t, int more) const { return more * stride; }
};

/// Where the rows (or columns) of a transposition begin: multiples of a stride, or any offsets.
class places {
 public:
  static constexpr std::int64_t most = 512;
  static constexpr int near = 8;  // no block is larger

  /// Of axes of which the first is the fastest: several, of at most `most` places together, or one.
  void assign(const stretch* axes, int count, std::int64_t stretch::*stride) {
    extent_ = axes[0].extent, stride_ = axes[0].*stride, listed_ = count > 1;
    if (!listed_) {
      RICCI_EACH(i, near) at_[i] = i * stride_;
      return;
    }
    for (std::int64_t i = 0; i < extent_; ++i) at_[i] = i * stride_;
    for (int a = 1; a < count; ++a) {
      for (std::int64_t x = 1; x < axes[a].extent; ++x)
        for (std::int64_t i = 0; i < extent_; ++i) at_[x * extent_ + i] = at_[i] + x * (axes[a].*stride);
      extent_ *= axes[a].extent;
    }
  }

  std::int64_t extent() const { return extent_; }

  beginnings all() const { return {at_, listed_ ? 0 : stride_, listed_ ? 1 : 0}; }

  /// Whether they follow one another without a gap, `run` elements each.
  bool is_dense(std::int64_t run) const {
    if (!listed_) return stride_ == run;
    for (std::int64_t i = 0; i < extent_; ++i)
      if (at_[i] != i * run) return false;
    return true;
  }

 private:
  std::int64_t at_[most];
  std::int64_t extent_ = 1, stride_ = 0;
  bool listed_ = false;
};

/// f(constant) for the count, which is less than N.
template <int N, class F> RICCI_INLINE void with_count(std::int64_t count, F&& f) {
  each<N - 1>([&](auto c) { if (count == c + 1) f(constant<c + 1>{}); });
}

/// Where a few rows (or columns) lie one behind the other: the N registers that so many rows fill become one register for each column, or
/// the other way round. Lane l of the register `To` is element from(l) of all those of x in turn.
template <int To, int N, class V, class From, int... L> RICCI_INLINE V collected(const V (&x)[N], constants<L...>) {
  constexpr int w = sizeof...(L);
  V y = __builtin_shufflevector(x[0], x[1], (From::at(To, L) < 2 * w ? From::at(To, L) : -1)...);
  each<N - 2>([&](auto k) {
    constexpr int next = k.value + 2;
    y = __builtin_shufflevector(y, x[next], (From::at(To, L) / w == next ? w + From::at(To, L) % w : L)...);
  });
  return y;
}
template <int N, int W> struct apart {
  static constexpr int at(int to, int lane) { return lane * N + to; }
};
template <int N, int W> struct together {
  static constexpr int at(int to, int lane) { return (to * W + lane) % N * W + (to * W + lane) / N; }
};

/// One transposition: d[col(j) + i] = s[row(i) + j] + beta d[..] for all rows and columns.
template <bool Reads, class S, class D> struct turning {
  static constexpr int size = middle<Reads, S, D>, n = block<size>;
  static constexpr int few = stays_as_it_is<Reads, S, D> ? n / 4 : 0;  // rows or columns that are no faster in blocks
  static constexpr int line = 64 / static_cast<int>(sizeof(S)), strip = line > n ? line : n;
  std::int64_t rows, cols;
  beginnings row, col;                   // of rows in the source, of columns in the destination
  bool dense_source, dense_destination;  // one right behind the other
  compute<D> beta;
  bool streams;  // rows are whole lines of the destination, which go past the caches

  turning(const places& r, const places& c, compute<D> b, bool past)
      : rows(r.extent()), cols(c.extent()), row(r.all()), col(c.all()), dense_source(r.is_dense(cols)), dense_destination(c.is_dense(rows)), beta(b), streams(past) {}

  /// next: the source of the transposition that follows, whose lines are asked for; or null.
  void run(const S* s, D* d, const S* next) const {
#if defined(RICCI_STREAMS)
    if constexpr (!Reads && same<S, D>)
      if (streams && cols >= n) return squares(s, d, next);
#endif
    if constexpr (size == 16) return rows <= 256 ? lines(s, d) : one_by_one(s, d, 0, rows);
    if (rows >= n && cols >= n) return wide(s, d, next);
    if (rows >= n) return with_count<n>(cols, [&](auto c) { few_columns<c.value>(s, d); });
    if constexpr (!Reads || stays_as_it_is<Reads, S, D>)  // sums in 16 bits: pieces of registers are slower than numbers
      if (cols >= n) return with_count<n>(rows, [&](auto r) { few_rows<r.value>(s, d); });
    one_by_one(s, d, 0, rows);
  }

  /// Rows i to i + Rows of columns j + First to j + Last.
  template <int Rows, int First, int Last, bool Whole = false> RICCI_INLINE void at(const S* s, D* d, std::int64_t i, std::int64_t j) const {
    const std::int64_t *const from = row.offsets(i), *const to = col.offsets(j);
    transpose_block<Reads, Rows, First, Last, Whole>(s + row.base(i) + j, [from](int r) { return from[r]; }, d + col.base(j) + i, [to](int c) { return to[c]; }, beta);
  }

  /// Out of line: it stands behind every kind of block.
  __attribute__((noinline)) void one_by_one(const S* s, D* d, std::int64_t first_row, std::int64_t last_row, std::int64_t first_col = 0) const {
    const beginnings r = row;
    const compute<D> scale = beta;
    if (r.step == 0 && col.step == 0) {
      const stretch x{last_row - first_row, r.stride, 1}, y{cols - first_col, 1, col.stride};
      return move_nest<Reads>(x, y, s + first_row * x.src + first_col, d + first_col * y.dst + first_row, scale);
    }
    for (std::int64_t j = first_col; j < cols; ++j) {
      const S* const from = s + j;
      D* const to = d + col(j);
      for (std::int64_t i = first_row; i < last_row; ++i) move_one<Reads>(from[r(i)], to[i], scale);
    }
  }

  /// Elements of 16 bytes are registers of their own: one line of the source after the other.
  void lines(const S* s, D* d) const {
    const turning t = *this;
    for (std::int64_t j0 = 0; j0 < cols; j0 += line)
      if (j0 + line <= cols) {
        for (std::int64_t i = 0; i < rows; ++i) t.template at<1, 0, line>(s, d, i, j0);
      } else {
        one_by_one(s, d, 0, rows, j0);
      }
  }

  void wide(const S* s, D* d, const S* next) const {
    const std::int64_t whole = cols / n * n, end = Reads || rows % n <= few ? rows / n * n : rows;
    const turning t = *this;
    const ask what = in_bands() ? ask::nothing : asks(next, end);
    const auto run = [&](auto row_at, auto col_at) {
      if (what == ask::nothing) t.template strips<false>(s, d, end, next, what, row_at, col_at);
      else t.template strips<true>(s, d, end, next, what, row_at, col_at);
    };
    if (t.row.step == 0 && t.col.step == 0) run(even_beginnings{t.row.stride}, even_beginnings{t.col.stride});
    else run(t.row, t.col);
    if (cols - whole <= few) one_by_one(s, d, 0, end, whole);
    else
      with_count<n>(cols - whole, [&](auto c) {
        for (std::int64_t i = 0; i < end; i += n) t.template at<n, n - c.value, n>(s, d, i + n <= end ? i : end - n, cols - n);
      });
    one_by_one(s, d, end, rows);
  }

  /// What is asked for: nothing; rows of the source that come soon, which no hardware follows; the same place of the next transposition.
  enum class ask { nothing, rows, next };
  static constexpr std::int64_t ahead = 32;  // rows

  ask asks(const S* next, std::int64_t end) const {
    if (rows * 64 > std::int64_t(1) << 14) return ask::rows;  // the lines of a strip leave the first cache
    if (!next) return ask::nothing;
    return rows * cols * static_cast<std::int64_t>(sizeof(S)) > std::int64_t(1) << 15 && end >= 2 * ahead ? ask::rows : ask::next;
  }

  /// Asks for what comes `ahead` rows after row i of the strip at column j0, be it in the strip at column `after` (0: there is none)
  /// or in the next transposition; with `same`, for row i of that.
  template <class Row>
  RICCI_INLINE void ask_for(bool same, const S* s, const S* next, std::int64_t i, std::int64_t end, std::int64_t j0, std::int64_t after, Row row_at) const {
    std::int64_t k = i;
    const S* from = next ? next + j0 : nullptr;
    if (!same) {
      const bool here = i + ahead + n <= end;
      k = i + ahead - (here ? 0 : end - n);
      from = here ? s + j0 : after > 0 ? s + after : next;
    }
    if (from) RICCI_EACH(r, n) __builtin_prefetch(from + row_at.base(k) + row_at.offset(k, r));
  }

  /// Columns of the destination whole pages apart: a strip of more of them than a set of the first cache has ways would push lines out
  /// that are half written.
  bool shares_sets() const {
    constexpr std::int64_t page = 4096;
    return strip > 8 && col(1) * static_cast<std::int64_t>(sizeof(D)) % page == 0;
  }

  /// Whether some lines of a few rows are turned before the next rows, where a block of registers is less than a line of the destination:
  /// lines are written whole, and the hardware follows the rows. Not where lines of rows or columns share sets of the first cache.
  /// Measured on one core of Zen 3 (docs/performance/matrices.md).
  bool in_bands() const {
    constexpr std::int64_t many = 1 << 16, apart = 1024;  // bytes
    return vector_bytes == 32 && rows * cols * static_cast<std::int64_t>(sizeof(S)) >= many && row(1) * static_cast<std::int64_t>(sizeof(S)) % apart != 0 &&
           col(1) * static_cast<std::int64_t>(sizeof(D)) % apart != 0;
  }

  /// Strips of one cache line of the source, so that every line is read once and a strip writes few streams; or bands. The last rows go
  /// with some before them, once more, where the destination is not read.
  template <bool Asks, class Row, class Col>
  RICCI_INLINE void strips(const S* s, D* d, std::int64_t end, const S* next, ask what, Row row_at, Col col_at) const {
    const bool bands = !Asks && in_bands();
    constexpr std::int64_t band_width = 512 / static_cast<std::int64_t>(sizeof(S)), band_height = 128 / static_cast<std::int64_t>(sizeof(D));
    const std::int64_t whole = cols / n * n, width = bands ? band_width : shares_sets() ? n : strip, height = bands ? band_height : n;
    const compute<D> scale = beta;
    for (std::int64_t j0 = 0; j0 < whole; j0 += width) {
      const std::int64_t j1 = j0 + width < whole ? j0 + width : whole;
      for (std::int64_t i0 = 0; i0 < end; i0 += height) {
        const std::int64_t i1 = i0 + height < end ? i0 + height : end;
        if constexpr (Asks) ask_for(what == ask::next, s, next, i1 - i0 < n ? end - n : i0, end, j0, j1 < whole ? j1 : 0, row_at);
        for (std::int64_t j = j0; j < j1; j += n)
          for (std::int64_t k = i0; k < i1; k += n) {
            const std::int64_t i = k + n <= end ? k : end - n;
            const S* from = s + row_at.base(i) + j;
            D* to = d + col_at.base(j) + i;
            __asm__("" : "+r"(from), "+r"(to));  // or the compiler keeps a pointer for each row and column, in more registers than there are
            transpose_block<Reads, n, 0, n, false>(from, [=](int r) RICCI_INLINE_LAMBDA { return row_at.offset(i, r); }, to,
                                                   [=](int c) RICCI_INLINE_LAMBDA { return col_at.offset(j, c); }, scale);
          }
      }
    }
  }

#if defined(RICCI_STREAMS)
  /// Squares that are a line of rows long: turned where the first cache has them, they leave as whole lines. Some lie side by side,
  /// so that the source is read in longer pieces.
  void squares(const S* s, D* d, const S* next) const {
    constexpr std::int64_t together = 8;
    const turning t = *this;
    const ask what = asks(next, rows);
    const std::int64_t wide = cols >= line ? line : n;
    for (std::int64_t first = 0; first < cols; first += together * wide) {
      const std::int64_t last = first + together * wide < cols ? first + together * wide : cols;
      for (std::int64_t i = 0; i < rows; i += line)
        for (std::int64_t j0 = first; j0 < last; j0 += wide) {
          const std::int64_t j = j0 + wide <= cols ? j0 : cols - wide;
          if (what != ask::nothing)
            for (std::int64_t k = i; k < i + line; k += n) t.ask_for(what == ask::next, s, next, k, rows, j, last < cols ? last : 0, t.row);
          t.square(s, d, i, j, wide);
        }
    }
  }

  RICCI_INLINE void square(const S* s, D* d, std::int64_t i, std::int64_t j, std::int64_t wide) const {
    alignas(64) D turned[line * line];
    for (std::int64_t k = 0; k < line; k += n) {
      const std::int64_t* const from = row.offsets(i + k);
      for (std::int64_t c = 0; c < wide; c += n)
        transpose_block<Reads, n, 0, n, false>(s + row.base(i + k) + j + c, [from](int r) { return from[r]; }, turned + c * line + k, [](int x) { return x * line; }, beta);
    }
    for (std::int64_t c = 0; c < wide; ++c)
      stream_line(reinterpret_cast<const char*>(turned + c * line), reinterpret_cast<char*>(d + col(j + c) + i));
  }
#endif

  /// Whether so many rows or columns, one behind the other, are put together from whole registers.
  template <int N> static constexpr bool collects = !Reads && same<S, D> && vector_bytes == 64 && size < 16 && N > 1 && (size > 2 || N <= 4);
  typedef typename bits_t<size == 16 ? 8 : size>::type whole_register __attribute__((vector_size(64)));
  static constexpr int lanes = 64 / size;

  /// All rows of C columns, at least a register of them.
  template <int C> void collect_columns(const S* s, D* d) const {
    const turning t = *this;
    for (std::int64_t i0 = 0; i0 < t.rows; i0 += lanes) {
      const std::int64_t i = i0 + lanes <= t.rows ? i0 : t.rows - lanes;
      whole_register x[C];
      RICCI_EACH(k, C) __builtin_memcpy(&x[k], s + i * C + k * lanes, 64);
      each<C>([&](auto c) {
        const whole_register y = collected<c.value, C, whole_register, apart<C, lanes>>(x, typename up_to_t<lanes>::type{});
        __builtin_memcpy(d + t.col(c) + i, &y, 64);
      });
    }
  }
  /// All columns of R rows.
  template <int R> void collect_rows(const S* s, D* d) const {
    const turning t = *this;
    for (std::int64_t j0 = 0; j0 < t.cols; j0 += lanes) {
      const std::int64_t j = j0 + lanes <= t.cols ? j0 : t.cols - lanes;
      whole_register x[R];
      RICCI_EACH(r, R) __builtin_memcpy(&x[r], s + t.row(r) + j, 64);
      each<R>([&](auto k) {
        const whole_register y = collected<k.value, R, whole_register, together<R, lanes>>(x, typename up_to_t<lanes>::type{});
        __builtin_memcpy(d + j * R + k * lanes, &y, 64);
      });
    }
  }

  /// C columns, which are all.
  template <int C> void few_columns(const S* s, D* d) const {
    if constexpr (collects<C>)
      if (dense_source && rows >= lanes) return collect_columns<C>(s, d);
    const turning t = *this;
    const std::int64_t end = Reads ? rows / n * n : rows;
    std::int64_t i0 = 0;
    if (dense_source)
      for (; i0 + n <= rows && (i0 + n - 1) * C + n <= rows * C; i0 += n) t.template at<n, 0, C>(s, d, i0, 0);
    if (stays_as_it_is<Reads, S, D> && !dense_source) return one_by_one(s, d, 0, rows);
    if (i0 < end) copied_together<C>(s, d, i0, end);
    one_by_one(s, d, end, rows);
  }

  /// Where a register would read past the source, rows are copied together first.
  template <int C> void copied_together(const S* s, D* d, std::int64_t i0, std::int64_t end) const {
    constexpr std::int64_t chunk = 4 * n;
    const std::int64_t* const to = col.list;
    S together[(chunk - 1) * C + n] = {};
    while (i0 < end) {
      const std::int64_t i = i0 + n <= end ? i0 : end - n, count = end - i < chunk ? (end - i) / n * n : chunk;
      for (std::int64_t r = 0; r < count; ++r) {
        const S* const from = s + row(i + r);
        RICCI_EACH(c, C) together[r * C + c] = from[c];
      }
      for (std::int64_t r = 0; r < count; r += n)
        transpose_block<Reads, n, 0, C, false>(together + r * C, [](int x) { return x * C; }, d + i + r, [to](int c) { return to[c]; }, beta);
      i0 = i + count;
    }
  }

  /// All columns of R rows, which are all rows.
  template <int R> void few_rows(const S* s, D* d) const {
    if constexpr (collects<R>)
      if (dense_destination && cols >= lanes) return collect_rows<R>(s, d);
    const turning t = *this;
    const std::int64_t end = Reads ? cols / n * n : cols;
    std::int64_t j = 0;
    if constexpr (!Reads)
      if (dense_destination)
        for (; (j + n - 1) * R + n <= cols * R; j += n) t.template at<R, 0, n, true>(s, d, 0, j);
    for (; j < end; j += n) t.template at<R, 0, n>(s, d, 0, j + n <= end ? j : end - n);
    one_by_one(s, d, 0, R, end);
  }
};

}  // namespace ricci::kernels::RICCI_ISA
