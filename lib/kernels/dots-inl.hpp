// The register tile of lanes::k: MR by NR dot products along the lane axis.
#pragma once

#include "narrow-inl.hpp"
#include "sums-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// Rows of so many whole vectors ask for what lies so many bytes behind: the hardware follows short rows, of which some are read
/// by masked loads, at a third of the speed of memory.
inline constexpr int short_row = 4, rows_ahead = 1024;

template <class Load> RICCI_INLINE auto ahead(Load get) {
  return [get](const auto* p) RICCI_INLINE_LAMBDA {
    __builtin_prefetch(reinterpret_cast<const char*>(p) + rows_ahead);
    return get(p);
  };
}

/// Complex keeps two sets: a b, whose even and odd lanes are re re and im im, and a swap(b): re im and im re.
/// A, B: the types that a and b are stored in, whatever their pointers say.
template <class T, bool Complex, int MR, int NR, class A = T, class B = T> struct dots {
  static constexpr int sets = Complex ? 2 : 1;
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
        T re = sum<T>(mul(acc[0][r][v], set_pairs<T>(f.own[0], f.own[1])));
        T im = sum<T>(mul(acc[1][r][v], set_pairs<T>(f.other[0], f.other[1])));
        if (f.scaled) {
          const T x = re * f.alpha_re - im * f.alpha_im;
          im = re * f.alpha_im + im * f.alpha_re;
          re = x;
        }
        if (f.reads_c) {
          const T x = p[0], y = p[1];
          re += f.beta_re * x - f.beta_im * y;
          im += f.beta_re * y + f.beta_im * x;
        }
        p[0] = re;
        p[1] = im;
      }
    }
  }

  static void run(const frame<T>& given, const T* a, const T* b, T* c) {
    const frame<T> f = given;
    nest(f, a, b, c, [&](const T* a0, const T* b0, T* c0) RICCI_INLINE_LAMBDA {
      V acc[sets][MR][NR];
      RICCI_EACH(s, sets) {
        RICCI_EACH(r, MR) {
          RICCI_EACH(v, NR) acc[s][r][v] = zero<T>();
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
          if (f.vectors > short_row) {
            for (index l = f.vectors; l > 0; --l) {
              multiply(acc, pa, pb, whole);
              pa.advance(f.step_a);
              pb.advance(width<T> * sizeof(B));
            }
            if (f.partial) multiply(acc, pa, pb, some);
          } else {
            for (index l = f.vectors; l > 0; --l) {
              multiply(acc, pa, pb, ahead(whole));
              pa.advance(f.step_a);
              pb.advance(width<T> * sizeof(B));
            }
            if (f.partial) multiply(acc, pa, pb, ahead(some));
          }
        }
      }
      finish(f, acc, c0);
    });
  }
};

}  // namespace ricci::kernels::RICCI_ISA
