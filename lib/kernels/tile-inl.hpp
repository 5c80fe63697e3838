// The register tile of lanes::n and lanes::batch: MR rows by NV vectors of accumulators.
#pragma once

#include "frame-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// acc[r][v] += a[r] * b[v] over k; then c = beta c + alpha acc. Complex keeps two sets, re(a) b and im(a) b.
template <class T, bool Complex, lanes L, int MR, int NV, masking Mask> struct tile {
  static constexpr int sets = Complex ? 2 : 1;
  using V = vec<T>;

  static constexpr bool partial(int v) { return Mask == mask_all || (Mask == mask_last && v == NV - 1); }

  static RICCI_INLINE V load_at(int v, const frame<T>& f, const T* p) {
    if (partial(v)) return load(p, f.rest);
    else return load(p);
  }

  static RICCI_INLINE void store_at(int v, const frame<T>& f, V x, T* p) {
    if (partial(v)) store<T>(x, p, f.rest);
    else store<T>(x, p);
  }

  template <class R, class VV> static RICCI_INLINE void multiply(const frame<T>& f, V (&acc)[sets][MR][NV],
                                                                 const R& pa, const VV& pb) {
    if constexpr (L == lanes::n && MR < NV) {  // the shorter side is the one to keep
      V x[sets][MR];
      RICCI_EACH(r, MR) {
        RICCI_EACH(s, sets) x[s][r] = set<T>(pa.at(r)[s]);
      }
      RICCI_EACH(v, NV) {
        const V b = load_at(v, f, pb.at(v));
        RICCI_EACH(s, sets) {
          RICCI_EACH(r, MR) acc[s][r][v] = fma(x[s][r], b, acc[s][r][v]);
        }
      }
      return;
    }
    V b[NV];
    RICCI_EACH(v, NV) b[v] = load_at(v, f, pb.at(v));
    RICCI_EACH(r, MR) {
      const T* p = pa.at(r);
      if constexpr (L == lanes::n) {
        RICCI_EACH(s, sets) {
          const V x = set<T>(p[s]);
          RICCI_EACH(v, NV) acc[s][r][v] = fma(x, b[v], acc[s][r][v]);
        }
      } else {
        const V x = load_at(0, f, p);
        if constexpr (Complex) {
          const V re = both_even<T>(x), im = both_odd<T>(x);
          RICCI_EACH(v, NV) acc[0][r][v] = fma(re, b[v], acc[0][r][v]);
          RICCI_EACH(v, NV) acc[1][r][v] = fma(im, b[v], acc[1][r][v]);
        } else {
          RICCI_EACH(v, NV) acc[0][r][v] = fma(x, b[v], acc[0][r][v]);
        }
      }
    }
  }

  /// alpha, and for complex the joining of the two sets.
  static RICCI_INLINE void scale(const frame<T>& f, V (&acc)[sets][MR][NV]) {
    if constexpr (Complex) {
      const V own = set_pairs<T>(f.own[0], f.own[1]), other = set_pairs<T>(f.other[0], f.other[1]);
      RICCI_EACH(r, MR) {
        RICCI_EACH(v, NV) {
          acc[0][r][v] = fma(other, swap_pairs<T>(acc[1][r][v]), mul(own, acc[0][r][v]));
        }
      }
      if (f.scaled) {
        const V re = set<T>(f.alpha_re), im = set_pairs<T>(-f.alpha_im, f.alpha_im);
        RICCI_EACH(r, MR) {
          RICCI_EACH(v, NV) {
            acc[0][r][v] = fma(im, swap_pairs<T>(acc[0][r][v]), mul(re, acc[0][r][v]));
          }
        }
      }
    } else if (f.scaled) {
      const V re = set<T>(f.alpha_re);
      RICCI_EACH(r, MR) {
        RICCI_EACH(v, NV) acc[0][r][v] = mul(re, acc[0][r][v]);
      }
    }
  }

  template <bool Reads> static RICCI_INLINE void finish(const frame<T>& f, V (&acc)[sets][MR][NV], T* c) {
    const V re = set<T>(f.beta_re), im = set_pairs<T>(-f.beta_im, f.beta_im);
    index row = f.row_c, next = f.vec_c;
    asm volatile("" : "+r"(row), "+r"(next));  // else every address is kept on the stack between tiles
    const rows<T, NV> vectors(c, next);
    RICCI_EACH(r, MR) {
      RICCI_EACH(v, NV) {
        T* p = shift(vectors.at(v), r * row);
        V x = acc[0][r][v];
        if constexpr (Reads) {
          const V old = load_at(v, f, p);
          x = fma(re, old, x);
          if constexpr (Complex)
            if (f.beta_im != T(0)) x = fma(im, swap_pairs<T>(old), x);
        }
        store_at(v, f, x, p);
      }
    }
  }

  static void run(const frame<T>& given, const T* a, const T* b, T* c) {
    const frame<T> f = given;  // a copy, so that stores to c cannot be thought to change it
    nest(f, a, b, c, [&](const T* a0, const T* b0, T* c0) RICCI_INLINE_LAMBDA {
      V acc[sets][MR][NV];
      RICCI_EACH(s, sets) {
        RICCI_EACH(r, MR) {
          RICCI_EACH(v, NV) acc[s][r][v] = zero<T>();
        }
      }
      const index *offset_a = f.outer_a, *offset_b = f.outer_b;
      for (index o = f.k_outer;;) {  // here and below: no extent is zero
        rows<const T, MR> pa(a0 + sets * *offset_a, f.row_a);
        rows<const T, NV> pb(b0 + sets * *offset_b, f.vec_b);
        for (index i = f.k;;) {
          multiply(f, acc, pa, pb);
          if (--i == 0) break;
          pa.advance(f.k_a);
          pb.advance(f.k_b);
        }
        if (--o == 0) break;
        offset_a += f.outer_step_a, offset_b += f.outer_step_b;
      }
      scale(f, acc);
      if (f.reads_c) finish<true>(f, acc, c0);
      else finish<false>(f, acc, c0);
    });
  }
};

}  // namespace ricci::kernels::RICCI_ISA
