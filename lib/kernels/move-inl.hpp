// The move kernels: dst = convert(src) + beta dst over any axes.
#pragma once

#include "kernels.hpp"
#include "stream-inl.hpp"
#include "turned-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// The axes of a move, the destination's smallest stride first, nested ones fused, extents of one left out.
struct move_plan {
  stretch at[max_loops];
  int count = 0;
  bool streams = false;  // past the caches, if that is possible

  explicit move_plan(const move_args& g) {
#if defined(RICCI_STREAMS)
    streams = g.streams;
#endif
    for (int i = 0; i < g.axis_count; ++i) {
      const axis& x = g.axes[i];
      if (x.extent != 1) insert({x.extent, x.b, x.c});
    }
    fuse();
  }

  static std::int64_t size_of(std::int64_t stride) { return stride < 0 ? -stride : stride; }

  void insert(const stretch& x) {
    int i = count++;
    for (; i > 0 && size_of(at[i - 1].dst) > size_of(x.dst); --i) at[i] = at[i - 1];
    at[i] = x;
  }

  void fuse() {
    int kept = 0;
    for (int i = 1; i < count; ++i) {
      stretch& last = at[kept];
      if (at[i].src == last.src * last.extent && at[i].dst == last.dst * last.extent) last.extent *= at[i].extent;
      else at[++kept] = at[i];
    }
    if (count > 0) count = kept + 1;
    while (count < 2) at[count++] = {1, 0, 0};
  }

  /// Takes the first axis out, whose n neighbours move as one element, if all other strides are multiples of n.
  bool bundle_first() {
    const std::int64_t n = at[0].extent;
    if (count < 2 || at[1].extent == 1 || at[0].src != 1 || at[0].dst != 1) return false;
    for (int i = 1; i < count; ++i)
      if (at[i].src % n != 0 || at[i].dst % n != 0) return false;
    --count;
    for (int i = 0; i < count; ++i) at[i] = {at[i + 1].extent, at[i + 1].src / n, at[i + 1].dst / n};
    if (count < 2) at[count++] = {1, 0, 0};
    return true;
  }

  /// Elements of axes from first to last.
  std::int64_t size(int first, int last) const {
    std::int64_t n = 1;
    for (int i = first; i < last; ++i) n *= at[i].extent;
    return n;
  }

  /// Whether the first `rows` axes, which are neighbours, are whole lines of d wherever the others are.
  template <class D> bool is_whole_lines(const D* d, int rows) const {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(D));
    bool whole = reinterpret_cast<std::uintptr_t>(d) % 64 == 0 && size(0, rows) % line == 0;
    for (int i = rows; i < count; ++i) whole = whole && at[i].dst % line == 0;
    return whole;
  }

  /// Takes axis i to place k, before it.
  void take(int i, int k) {
    const stretch x = at[i];
    for (; i > k; --i) at[i] = at[i - 1];
    at[k] = x;
  }

  /// Takes to place k, k + 1, .. the axes that make one run of neighbours, until it has `enough` of them, and says how many axes
  /// they are: 0 if there is no such run. Several have at most places::most elements; of a longer axis a part is taken. An axis
  /// along which `other` is 1 belongs to the run of the other side.
  int take_run(int k, std::int64_t stretch::*stride, std::int64_t stretch::*other, std::int64_t enough) {
    std::int64_t run = 1;
    int taken = k;
    for (int i = k; i < count && run < enough; ++i) {
      const stretch& x = at[i];
      if (x.extent == 1 || x.*stride != run || x.*other == 1) continue;
      if (taken > k && run * x.extent > places::most && !split(i, places::most / run)) break;
      run *= at[i].extent;
      take(i, taken++);
      i = taken - 1;
    }
    return taken - k;
  }

  /// Cuts axis i in two, so that the inner one has a fair part of `most` elements, if its extent can be divided so.
  bool split(int i, std::int64_t most) {
    if (count == max_loops) return false;
    for (std::int64_t part = most; part > most / 4; --part)
      if (at[i].extent % part == 0) {
        at[count++] = {at[i].extent / part, at[i].src * part, at[i].dst * part};
        at[i].extent = part;
        return true;
      }
    return false;
  }
};

/// Calls body(src, dst, next) for all positions of axes `inner` and up. next is the source of the position that follows, or of the
/// first one after the last.
template <class S, class D, class Body>
RICCI_INLINE void outer_loops_ahead(const move_plan& p, const S* s, D* d, Body&& body, int inner) {
  std::int64_t at[max_loops] = {};
  for (;;) {
    const S* s1 = s;
    D* d1 = d;
    int i = inner;
    for (; i < p.count; ++i) {
      const stretch& x = p.at[i];
      s1 += x.src, d1 += x.dst;
      if (++at[i] < x.extent) break;
      s1 -= x.src * x.extent, d1 -= x.dst * x.extent;
      at[i] = 0;
    }
    body(s, d, s1);
    if (i >= p.count) return;
    s = s1, d = d1;
  }
}

template <class S, class D, class Body>
RICCI_INLINE void outer_loops(const move_plan& p, const S* s, D* d, Body&& body, int inner = 2) {
  outer_loops_ahead(p, s, d, [&](const S* s1, D* d1, const S*) RICCI_INLINE_LAMBDA { body(s1, d1); }, inner);
}

/// One run with unit strides; its last piece overlaps the one before. Beyond the caches memcpy knows better; below, its string
/// instructions can be many times slower than vectors (5 against 60 GB/s on a Zen 3).
template <class T> RICCI_INLINE void copy_run(const T* __restrict s, T* __restrict d, std::int64_t n) {
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
  const char* from = reinterpret_cast<const char*>(s);
  char* to = reinterpret_cast<char*>(d);
  constexpr int w = vector_bytes;
  if (bytes >= 1 << 19) {
    __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
  } else if (bytes >= w) {
    for (std::int64_t i = 0; i + w <= bytes; i += w) __builtin_memcpy(to + i, from + i, w);
    __builtin_memcpy(to + bytes - w, from + bytes - w, w);
  } else if (w > 16 && bytes >= 16) {
    for (std::int64_t i = 0; i + 16 <= bytes; i += 16) __builtin_memcpy(to + i, from + i, 16);
    __builtin_memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else {
    for (std::int64_t i = 0; i < n; ++i) d[i] = s[i];
  }
}

/// Copies of a run each: two pieces of so many bytes, the last of which may overlap the first.
template <int Piece, class T> void copy_runs(const move_plan& p, const T* s, T* d, std::int64_t last) {
  const stretch y = p.at[1];
  outer_loops(p, s, d, [&](const T* s1, T* d1) {
    for (std::int64_t j = 0; j < y.extent; ++j) {
      const char* from = reinterpret_cast<const char*>(s1 + j * y.src);
      char* to = reinterpret_cast<char*>(d1 + j * y.dst);
      __builtin_memcpy(to, from, Piece);
      __builtin_memcpy(to + last, from + last, Piece);
    }
  });
}

/// Runs of 2 bytes to 128.
template <class T> bool copy_short_runs(const move_plan& p, const T* s, T* d) {
  const std::int64_t bytes = p.at[0].extent * static_cast<std::int64_t>(sizeof(T));
  const auto in = [&](auto piece) {
    if (bytes >= piece && bytes <= 2 * piece) return copy_runs<piece.value>(p, s, d, bytes - piece), true;
    return false;
  };
  return in(constant<2>{}) || in(constant<4>{}) || in(constant<8>{}) || in(constant<16>{}) || in(constant<32>{}) || in(constant<64>{});
}

/// Runs of so many bytes, of which most are whole lines, go past the caches.
inline constexpr std::int64_t least_streamed = 256;

/// One run after the other as they lie in the source: where they go matters less past the caches.
template <class T> void stream_runs(move_plan& p, const T* s, T* d) {
  int nearest = 1;
  for (int i = 2; i < p.count; ++i)
    if (p.at[i].extent > 1 && (p.at[nearest].extent == 1 || p.size_of(p.at[i].src) < p.size_of(p.at[nearest].src))) nearest = i;
  p.take(nearest, 1);
  const stretch x = p.at[0], y = p.at[1];
  outer_loops(p, s, d, [&](const T* s1, T* d1) {
    for (std::int64_t j = 0; j < y.extent; ++j) stream_copy(s1 + j * y.src, d1 + j * y.dst, x.extent * static_cast<std::int64_t>(sizeof(T)));
  });
}

template <class T> void copy_all_runs(move_plan& p, const T* s, T* d) {
  const stretch x = p.at[0], y = p.at[1];
  if (p.streams && x.extent * static_cast<std::int64_t>(sizeof(T)) >= least_streamed) return stream_runs(p, s, d);
  if (copy_short_runs(p, s, d)) return;
  outer_loops(p, s, d, [&](const T* s1, T* d1) {
    for (std::int64_t j = 0; j < y.extent; ++j) copy_run(s1 + j * y.src, d1 + j * y.dst, x.extent);
  });
}

template <bool Reads, class S, class D> void move_nests(const move_plan& p, const S* s, D* d, compute<D> beta) {
  outer_loops(p, s, d, [&](const S* s1, D* d1) { move_nest<Reads>(p.at[0], p.at[1], s1, d1, beta); });
}

/// The same for a few problems that come to lie side by side: as many as fill a register of 64 bytes.
template <class T> void move_side_by_side(const move_plan& p, const T* s, T* d, bool far) {
  constexpr int n = vector_bytes / 8;
  const stretch x = p.at[0], y = p.at[1];
  outer_loops_ahead(p, s, d, [&](const T* s1, T* d1, const T* next) RICCI_INLINE_LAMBDA {
    const std::int64_t whole = y.extent / n * n;
    for (std::int64_t i = 0; i < x.extent; i += n)
      for (std::int64_t j = 0; j < whole; j += n) {
        if (far) RICCI_EACH(r, n) __builtin_prefetch(next + (i + r) * x.src + j);
        transpose_lines(s1 + i * x.src + j, x.src, d1 + j * y.dst + i, y.dst);
      }
    for (std::int64_t j = whole; j < y.extent; ++j)
      for (std::int64_t i = 0; i < x.extent; ++i) d1[j * y.dst + i] = s1[i * x.src + j];
  }, 2);
}

/// Moves of more ask for what comes next: it is not in the first caches.
inline constexpr std::int64_t far_bytes = 1 << 20;

/// Turned in registers: every type to itself, but for complex beta on 8-byte elements, and 16 bits to and from float, but in sets that
/// are there to be right rather than fast.
#ifdef RICCI_FEW_TURNS
template <class S, class D> inline constexpr bool is_turned = same<S, D>;
#else
template <class S, class D> inline constexpr bool is_turned = same<S, D> || (is_float_like<S> && is_float_like<D>);
#endif

template <bool Reads, class S, class D> bool move_turned(move_plan& p, const S* s, D* d, compute<D> beta) {
  using turn = turning<Reads, S, D>;
  if constexpr (Reads && same<D, cplx<float>>)
    if (beta.im != 0) return false;
  const bool two = p.count == 2 && p.at[0].dst == 1 && p.at[1].src == 1;
  const int rows = two ? 1 : p.take_run(0, &stretch::dst, &stretch::src, 2 * turn::n);
  if (rows == 0) return false;
  const int cols = two ? 1 : p.take_run(rows, &stretch::src, &stretch::dst, 2 * turn::n);
  if (cols == 0 || (p.size(0, rows) < turn::n && p.size(rows, rows + cols) < turn::n)) return false;
  const bool far = p.size(0, p.count) * static_cast<std::int64_t>(sizeof(S)) > far_bytes;
  if constexpr (!Reads && same<S, D> && sizeof(S) == 8 && vector_bytes == 64)
    if (!p.streams && rows == 1 && cols == 1 && p.at[0].extent % 8 == 0 && p.at[0].extent <= 64 && p.at[1].extent >= 8) {
      move_side_by_side(p, s, d, far);
      return true;
    }
  if constexpr (!Reads && same<S, D>) p.streams = p.streams && p.is_whole_lines(d, rows);
  places row, col;
  row.assign(p.at, rows, &stretch::src), col.assign(p.at + rows, cols, &stretch::dst);
  const turn t(row, col, beta, p.streams);
  outer_loops_ahead(p, s, d, [&](const S* s1, D* d1, const S* next) { t.run(s1, d1, far ? next : nullptr); }, rows + cols);
  return true;
}

template <bool Reads, class S, class D> void move_any(move_plan& p, const S* s, D* d, compute<D> beta) {
  if (p.at[0].dst == 1 && p.at[0].src == 1) {
    if constexpr (!Reads && same<S, D>) return copy_all_runs(p, s, d);
  } else if constexpr (is_turned<S, D>) {
    if (move_turned<Reads>(p, s, d, beta)) return;
  }
  move_nests<Reads>(p, s, d, beta);
}

template <int Bytes> void move_bytes(move_plan& p, const void* s, void* d) {
  using T = bundle<Bytes>;
  move_any<false>(p, static_cast<const T*>(s), static_cast<T*>(d), T{});
}

/// Neighbours of 4, 8 or 16 bytes together as one element.
inline bool move_together(move_plan& p, int size, const void* s, void* d) {
  if (p.at[0].extent < 2) return false;
  const std::int64_t bytes = p.at[0].extent * size;
  if ((bytes != 4 && bytes != 8 && bytes != 16) || !p.bundle_first()) return false;
  if (bytes == 4) move_bytes<4>(p, s, d);
  else if (bytes == 8) move_bytes<8>(p, s, d);
  else move_bytes<16>(p, s, d);
  return true;
}

template <class S, class D> void move(const move_args& g, const void* src, void* dst, const void* beta) {
  move_plan p(g);
  const S* s = static_cast<const S*>(src);
  D* d = static_cast<D*>(dst);
  const compute<D> scale = beta ? *static_cast<const compute<D>*>(beta) : compute<D>{};
  if (!is_zero(scale)) return move_any<true>(p, s, d, scale);
  if constexpr (same<S, D>) {
    if (!move_together(p, sizeof(S), src, dst)) move_bytes<sizeof(S)>(p, src, dst);
  } else {
    move_any<false>(p, s, d, scale);
  }
}

inline void fill_moves(kernel_set& set) {
#define RICCI_MOVE(S, D, from, to) set.move[static_cast<int>(dtype::from)][static_cast<int>(dtype::to)] = &move<S, D>;
  RICCI_MOVES(RICCI_MOVE)
#undef RICCI_MOVE
}

}  // namespace ricci::kernels::RICCI_ISA
