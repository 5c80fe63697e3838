// The move kernels: dst = convert(src) + beta dst over any axes.
#pragma once

#include "kernels.hpp"
#include "transpose-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// An axis as a move sees it.
struct stretch {
  std::int64_t extent, src, dst;
};

/// The axes of a move, the destination's smallest stride first, nested ones fused, extents of one left out.
struct move_plan {
  stretch at[max_loops];
  int count = 0;

  explicit move_plan(const move_args& g) {
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

  /// Takes axis i to place 1.
  void second(int i) {
    const stretch x = at[i];
    for (; i > 1; --i) at[i] = at[i - 1];
    at[1] = x;
  }
};

/// Calls body(src, dst) for all positions of axes 2 and up.
template <class S, class D, class Body>
RICCI_INLINE void outer_loops(const move_plan& p, const S* s, D* d, Body&& body) {
  std::int64_t at[max_loops] = {};
  for (;;) {
    body(s, d);
    int i = 2;
    for (; i < p.count; ++i) {
      const stretch& x = p.at[i];
      s += x.src, d += x.dst;
      if (++at[i] < x.extent) break;
      s -= x.src * x.extent, d -= x.dst * x.extent;
      at[i] = 0;
    }
    if (i >= p.count) return;
  }
}

/// One run with unit strides. A copy ends with a piece that overlaps the one before. Beyond the caches memcpy knows
/// better; below, its string instructions can be many times slower than vectors (5 against 60 GB/s on a Zen 3).
template <bool Reads, class S, class D>
RICCI_INLINE void unit_run(const S* __restrict s, D* __restrict d, std::int64_t n, compute<D> beta) {
  if constexpr (!Reads && same<S, D>) {
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(D));
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
  } else {
    std::int64_t i = 0;
#ifdef __F16C__
    if constexpr (!Reads && ((same<S, f16> && same<D, float>) || (same<S, float> && same<D, f16>)))
      for (; i + convert_width <= n; i += convert_width) convert_block(s + i, d + i);
#endif
    for (; i < n; ++i) move_one<Reads>(s[i], d[i], beta);
  }
}

template <bool Reads, class S, class D> void move_runs(const move_plan& p, const S* s, D* d, compute<D> beta) {
  const stretch x = p.at[0], y = p.at[1];
  outer_loops(p, s, d, [&](const S* s1, D* d1) {
    for (std::int64_t j = 0; j < y.extent; ++j) unit_run<Reads>(s1 + j * y.src, d1 + j * y.dst, x.extent, beta);
  });
}

template <bool Reads, class S, class D> void move_strided(const move_plan& p, const S* s, D* d, compute<D> beta) {
  const stretch x = p.at[0], y = p.at[1];
  outer_loops(p, s, d, [&](const S* s1, D* d1) {
    for (std::int64_t j = 0; j < y.extent; ++j) {
      const S* s0 = s1 + j * y.src;
      D* d0 = d1 + j * y.dst;
      for (std::int64_t i = 0; i < x.extent; ++i) move_one<Reads>(s0[i * x.src], d0[i * x.dst], beta);
    }
  });
}

template <class T> RICCI_INLINE T real_part(T x) { return x; }
template <class T> RICCI_INLINE T real_part(cplx<T> x) { return x.re; }

/// The same for a few problems that come to lie side by side: as many as fill a register of 64 bytes.
template <class T> void move_side_by_side(const move_plan& p, const T* s, T* d) {
  constexpr int n = vector_bytes / 8;
  const stretch x = p.at[0], y = p.at[1];
  outer_loops(p, s, d, [&](const T* s1, T* d1) {
    const std::int64_t whole = y.extent / n * n;
    for (std::int64_t i = 0; i < x.extent; i += n)
      for (std::int64_t j = 0; j < whole; j += n) transpose_lines(s1 + i * x.src + j, x.src, d1 + j * y.dst + i, y.dst);
    for (std::int64_t j = whole; j < y.extent; ++j)
      for (std::int64_t i = 0; i < x.extent; ++i) d1[j * y.dst + i] = s1[i * x.src + j];
  });
}

/// Axis 0 has unit stride in the destination, axis 1 in the source. Strips of one cache line of the source, so that
/// every line is read once and a strip writes few streams; in each, blocks through registers.
template <bool Reads, class T> void move_transposed(const move_plan& p, const T* s, T* d, compute<T> beta) {
  constexpr int n = block<sizeof(T)>;
  constexpr std::int64_t strip = 64 / sizeof(T) > n ? 64 / sizeof(T) : n;
  const stretch x = p.at[0], y = p.at[1];
  constexpr std::int64_t ahead = 32;               // rows of the source; no hardware follows such strides
  const bool far = x.extent * 64 > std::int64_t(1) << 14;  // the lines of a strip leave the first cache
  outer_loops(p, s, d, [&](const T* s1, T* d1) {
    const std::int64_t whole_x = x.extent / n * n, whole_y = y.extent / n * n;
    for (std::int64_t j0 = 0; j0 < whole_y; j0 += strip) {
      const std::int64_t end = j0 + strip < whole_y ? j0 + strip : whole_y;
      for (std::int64_t i = 0; i < whole_x; i += n) {
        if (far && i + ahead + n <= whole_x)
          for (int r = 0; r < n; ++r) __builtin_prefetch(s1 + (i + ahead + r) * x.src + j0);
        for (std::int64_t j = j0; j < end; j += n)
          transpose_block<Reads>(s1 + i * x.src + j, x.src, d1 + j * y.dst + i, y.dst, real_part(beta));
      }
    }
    for (std::int64_t j = 0; j < y.extent; ++j)
      for (std::int64_t i = j < whole_y ? whole_x : 0; i < x.extent; ++i)
        move_one<Reads>(s1[i * x.src + j], d1[j * y.dst + i], beta);
  });
}

/// Blocks in registers pay for plain copies of every type but the 16-byte one, and for real beta on real arithmetic.
template <class S, class D> constexpr bool transposes(bool reads) {
  return same<S, D> && sizeof(S) <= 8 && !(reads && sizeof(S) == 2);
}

template <bool Reads, class S, class D> void move_any(move_plan& p, const S* s, D* d, compute<D> beta) {
  if (p.at[0].dst == 1 && p.at[0].src == 1) return move_runs<Reads>(p, s, d, beta);
  if constexpr (transposes<S, D>(Reads)) {
    constexpr int n = block<sizeof(S)>;
    bool real_beta = true;
    if constexpr (same<compute<D>, cplx<float>>) real_beta = beta.im == 0;
    if (p.at[0].dst == 1 && p.at[0].extent >= n && real_beta)
      for (int i = 1; i < p.count; ++i)
        if (p.at[i].src == 1 && p.at[i].extent >= n) {
          p.second(i);
          if constexpr (!Reads && sizeof(S) == 8 && vector_bytes == 64)
            if (p.at[0].extent % 8 == 0 && p.at[0].extent <= 64) return move_side_by_side(p, s, d);
          return move_transposed<Reads>(p, s, d, beta);
        }
  }
  move_strided<Reads>(p, s, d, beta);
}

template <class S, class D> void move(const move_args& g, const void* src, void* dst, const void* beta) {
  move_plan p(g);
  const S* s = static_cast<const S*>(src);
  D* d = static_cast<D*>(dst);
  const compute<D> scale = beta ? *static_cast<const compute<D>*>(beta) : compute<D>{};
  if (is_zero(scale)) move_any<false>(p, s, d, scale);
  else move_any<true>(p, s, d, scale);
}

template <class S, class D> void set_move(kernel_set& set, dtype from, dtype to) {
  set.move[static_cast<int>(from)][static_cast<int>(to)] = &move<S, D>;
}

/// Every type to itself; between precisions; real to complex. From double to 16 bits would round twice: left out.
inline void fill_moves(kernel_set& set) {
  constexpr dtype f32 = dtype::f32, f64 = dtype::f64, c64 = dtype::c64, c128 = dtype::c128;
  set_move<float, float>(set, f32, f32);
  set_move<double, double>(set, f64, f64);
  set_move<cplx<float>, cplx<float>>(set, c64, c64);
  set_move<cplx<double>, cplx<double>>(set, c128, c128);
  set_move<RICCI_ISA::f16, RICCI_ISA::f16>(set, dtype::f16, dtype::f16);
  set_move<RICCI_ISA::bf16, RICCI_ISA::bf16>(set, dtype::bf16, dtype::bf16);
  set_move<RICCI_ISA::f16, float>(set, dtype::f16, f32);
  set_move<RICCI_ISA::bf16, float>(set, dtype::bf16, f32);
  set_move<float, RICCI_ISA::f16>(set, f32, dtype::f16);
  set_move<float, RICCI_ISA::bf16>(set, f32, dtype::bf16);
  set_move<RICCI_ISA::f16, double>(set, dtype::f16, f64);
  set_move<RICCI_ISA::bf16, double>(set, dtype::bf16, f64);
  set_move<float, double>(set, f32, f64);
  set_move<double, float>(set, f64, f32);
  set_move<cplx<float>, cplx<double>>(set, c64, c128);
  set_move<cplx<double>, cplx<float>>(set, c128, c64);
  set_move<float, cplx<float>>(set, f32, c64);
  set_move<float, cplx<double>>(set, f32, c128);
  set_move<double, cplx<double>>(set, f64, c128);
}

}  // namespace ricci::kernels::RICCI_ISA
