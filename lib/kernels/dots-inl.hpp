// The register tile of lanes::k: MR by NR dot products along the lane axis.
#pragma once

#include "narrow-inl.hpp"
#include "sums-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// Rows of so many whole vectors ask for what lies so many bytes behind: the hardware follows short rows, of which some are read
/// by masked loads, at a third of the speed of memory.
inline constexpr int short_row = 4, bytes_ahead = 1024;

/// Rows of at least so many vectors are summed one after the other.
inline constexpr int least_in_order = 12;

template <class Load> RICCI_INLINE auto ahead(Load get) {
  return [get](const auto* p) RICCI_INLINE_LAMBDA {
    __builtin_prefetch(reinterpret_cast<const char*>(p) + bytes_ahead);
    return get(p);
  };
}

/// Complex keeps two sets: a b, whose even and odd lanes are re re and im im, and a swap(b): re im and im re.
/// A, B: the types that a and b are stored in, whatever their pointers say.
template <class T, bool Complex, int MR, int NR, class A = T, class B = T> struct dots {
  static constexpr int sets = Complex ? 2 : 1;
  /// Vectors in a row that have sums of their own: one sum would wait for every product.
  static constexpr int together = MR * NR * sets < 4 ? 4 / (MR * NR * sets) : 1;
  using V = vec<T>;

  template <class Load, class R, class C>
  static RICCI_INLINE void multiply(V (&acc)[sets][MR][NR], const R& pa, const C& pb, Load&& get) {
    V b[NR];
    RICCI_EACH(v, NR) b[v] = get(pb.at(v));
    RICCI_EACH(r, MR) {
      const V x = get(pa.at(r));
      RICCI_EACH(v, NR) {
        acc[0][r][v] = fma(x, b[v], acc[0][r][v]);
        if constexpr (Complex) acc[1][r][v] = fma(x, swap_pairs<T>(b[v]), acc[1][r][v]);
      }
    }
  }

  /// The sum of the vectors of a row, four at a time.
  template <class P, class Some> static RICCI_INLINE V row_sum(const P* p, const frame<T>& f, Some&& some) {
    V sums[4];
    RICCI_EACH(u, 4) sums[u] = zero<T>();
    index l = f.vectors;
    for (; l >= 4; l -= 4, p += 4 * width<T>) RICCI_EACH(u, 4) sums[u] = kernels::RICCI_ISA::add(sums[u], load_as<T>(p + u * width<T>));
    for (; l > 0; --l, p += width<T>) sums[0] = kernels::RICCI_ISA::add(sums[0], load_as<T>(p));
    if (f.partial) sums[1] = kernels::RICCI_ISA::add(sums[1], some(p));
    return kernels::RICCI_ISA::add(kernels::RICCI_ISA::add(sums[0], sums[1]), kernels::RICCI_ISA::add(sums[2], sums[3]));
  }

  static RICCI_INLINE void finish(const frame<T>& f, V (&acc)[sets][MR][NR], T* c) {
    if constexpr (Complex) {
      finish_complex(f, acc, c);
    } else if constexpr (NR >= MR) {
      RICCI_EACH(r, MR) store_sums<T, NR>(f, acc[0][r], shift(c, r * f.row_c), f.vec_c);
    } else {
      RICCI_EACH(v, NR) {
        V column[MR];
        RICCI_EACH(r, MR) column[r] = acc[0][r][v];
        store_sums<T, MR>(f, column, shift(c, v * f.vec_c), f.row_c);
      }
    }
  }

  static RICCI_INLINE void finish_complex(const frame<T>& f, V (&acc)[sets][MR][NR], T* c) {
    RICCI_EACH(r, MR) {
      RICCI_EACH(v, NR) {
        T* p = shift(c, r * f.row_c + v * f.vec_c);
        if (f.step_a == 0)  // ones, whose imaginary parts are not to make NaN of infinities
          RICCI_EACH(s, sets) acc[s][r][v] = even_alone<T>(acc[s][r][v]);
        T re = sum<T>(mul(acc[0][r][v], set_pairs<T>(f.own[0], f.own[1])));
        T im = sum<T>(mul(acc[1][r][v], set_pairs<T>(f.other[0], f.other[1])));
        if (f.scaled) {
          const T x = re * f.alpha_re - im * f.alpha_im;
          im = re * f.alpha_im + im * f.alpha_re;
          re = x;
        }
        if (f.reads_c) {
          const T x = p[0], y = p[1];
          re += f.beta_re * x, im += f.beta_re * y;
          if (f.beta_im != T(0)) re -= f.beta_im * y, im += f.beta_im * x;
        }
        p[0] = re;
        p[1] = im;
      }
    }
  }

  /// Sum by sum, y is added to x.
  static RICCI_INLINE void add(V (&x)[sets][MR][NR], const V (&y)[sets][MR][NR]) {
    RICCI_EACH(s, sets) {
      RICCI_EACH(r, MR) {
        RICCI_EACH(v, NR) x[s][r][v] = kernels::RICCI_ISA::add(x[s][r][v], y[s][r][v]);
      }
    }
  }

  static void run(const frame<T>& given, const T* a, const T* b, T* c) {
    const frame<T> f = given;
    const bool is_long = f.vectors >= 2 * together;
    nest(f, a, b, c, [&](const T* a0, const T* b0, T* c0) RICCI_INLINE_LAMBDA {
      V acc[together][sets][MR][NR];
      RICCI_EACH(u, together) {
        RICCI_EACH(s, sets) {
          RICCI_EACH(r, MR) {
            RICCI_EACH(v, NR) acc[u][s][r][v] = zero<T>();
          }
        }
      }
      const index *offset_a = f.outer_a, *offset_b = f.outer_b;
      for (index o = f.k_outer; o > 0; --o, offset_a += f.outer_step_a, offset_b += f.outer_step_b) {
        const A* a1 = reinterpret_cast<const A*>(a0) + sets * *offset_a;
        const B* b1 = reinterpret_cast<const B*>(b0) + sets * *offset_b;
        for (index i = f.k; i > 0; --i, a1 = shift(a1, f.k_a), b1 = shift(b1, f.k_b)) {
          rows<const A, MR> pa(a1, f.row_a);
          rows<const B, NR> pb(b1, f.vec_b);
          const auto whole = [](const auto* p) RICCI_INLINE_LAMBDA { return load_as<T>(p); };
          const auto some = [&](const auto* p) RICCI_INLINE_LAMBDA { return load_as<T>(p, f.rest); };
          const auto next = [&](auto& sums, const auto& get) RICCI_INLINE_LAMBDA {
            multiply(sums, pa, pb, get);
            pa.advance(f.step_a);
            pb.advance(width<T> * sizeof(B));
          };
          if (MR == 1 && f.step_a == 0 && f.vectors >= least_in_order) {  // a is ones: row by row, which the hardware follows best
            V row[NR];
            RICCI_EACH(v, NR) row[v] = row_sum(pb.at(v), f, some);
            const V x = whole(pa.at(0));
            RICCI_EACH(v, NR) {
              acc[0][0][0][v] = fma(x, row[v], acc[0][0][0][v]);
              if constexpr (Complex) acc[0][1][0][v] = fma(x, swap_pairs<T>(row[v]), acc[0][1][0][v]);
            }
          } else if (f.vectors > short_row) {
            index l = f.vectors;
            if constexpr (together > 1) {
              for (; is_long && l >= together; l -= together) RICCI_EACH(u, together) next(acc[u], whole);
            }
            for (; l > 0; --l) next(acc[0], whole);
            if (f.partial) multiply(acc[0], pa, pb, some);
          } else {
            for (index l = f.vectors; l > 0; --l) next(acc[0], ahead(whole));
            if (f.partial) multiply(acc[0], pa, pb, ahead(some));
          }
        }
      }
      if constexpr (together > 1) {
        if (is_long) RICCI_EACH(u, together - 1) add(acc[0], acc[u + 1]);
      }
      finish(f, acc[0], c0);
    });
  }
};

/// One dot product of real numbers, alone: a frame and its tiles take longer to set up than a few vectors to sum.
template <class T, class A, class B> void single_dot(const contract_args& g, const T* a, const T* b, T* c, T alpha, T beta) {
  const A* x = reinterpret_cast<const A*>(a);
  const B* y = reinterpret_cast<const B*>(b);
  const index step = g.ones_a ? 0 : width<T>;
  vec<T> sums[4];
  RICCI_EACH(u, 4) sums[u] = zero<T>();
  index l = g.lane_extent / width<T>;
  for (; l >= 4; l -= 4, x += 4 * step, y += 4 * width<T>) RICCI_EACH(u, 4) sums[u] = fma(load_as<T>(x + u * step), load_as<T>(y + u * width<T>), sums[u]);
  for (; l > 0; --l, x += step, y += width<T>) sums[0] = fma(load_as<T>(x), load_as<T>(y), sums[0]);
  if (const index rest = g.lane_extent % width<T>) {
    tail<T> last;
    last.assign(static_cast<int>(rest));
    sums[1] = fma(load_as<T>(x, last), load_as<T>(y, last), sums[1]);
  }
  const T all = alpha * sum<T>(add(add(sums[0], sums[1]), add(sums[2], sums[3])));
  *c = beta != T(0) ? all + beta * *c : all;
}

}  // namespace ricci::kernels::RICCI_ISA
