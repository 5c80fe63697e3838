// The driver of the contraction kernels: splits the tile axes once per call, then runs the tiles over all loops.
#pragma once

#include "choose-inl.hpp"
#include "dots-inl.hpp"
#include "tile-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// The last, partial vector of lanes::batch is one of many: it makes do with few tiles. So do dot products of 16 bits, which
/// read b from memory rather than again and again.
template <lanes L> inline constexpr int few_rows = L == lanes::k ? 2 : 4;
template <lanes L> inline constexpr int few_vectors = L == lanes::k ? 4 : 2;

/// All tile functions of one element type and lane axis. A, B: what a and b are stored in.
template <class T, bool Complex, lanes L, class A, class B> struct tile_table {
  tile_fn<T> fn[masking_count][max_vectors][max_rows];

  template <int MR, int NV, masking Mask> static constexpr tile_fn<T> one() {
    if constexpr (L == lanes::k) return &dots<T, Complex, MR, NV, A, B>::run;
    else return &tile<T, Complex, L, MR, NV, Mask>::run;
  }

  constexpr tile_table() : fn{} {
    each<max_vectors>([&](auto v) {
      each<rows_for<T, Complex>(v + 1)>([&](auto r) {
        constexpr int nv = v + 1, mr = r + 1;
        constexpr bool few = mr <= few_rows<L> && nv <= few_vectors<L>;
        if constexpr (sizeof(B) == sizeof(T) || few) fn[mask_none][v][r] = one<mr, nv, mask_none>();
        if constexpr (L != lanes::k && (L != lanes::batch || few)) fn[mask_all][v][r] = one<mr, nv, mask_all>();
        if constexpr (L == lanes::n && nv > 1) fn[mask_last][v][r] = one<mr, nv, mask_last>();
        if constexpr (L == lanes::n && nv == 1) fn[mask_last][v][r] = one<mr, nv, mask_all>();
      });
    });
  }
};

template <class T, bool Complex, lanes L, class A, class B> inline constexpr tile_table<T, Complex, L, A, B> tiles{};

/// Equal tiles side by side along one axis.
struct piece {
  index size, count, start;
  masking mask;
};

struct pieces {
  piece at[3];
  int count = 0;
  void add(index size, index many, index start, masking mask) {
    if (many > 0) at[count++] = {size, many, start, mask};
  }

  /// In place: to copy in wide loads what was just stored number by number takes longer than a small product.
  void split(index n, index tile, masking mask) {
    count = 0;
    if (n <= tile) return add(n, 1, 0, mask);
    const auto [size, more, fewer] = balanced(n, tile);
    const masking most = mask == mask_last ? mask_none : mask;
    add(size + 1, more, 0, most);
    if (mask == mask_last) {
      add(size, fewer - 1, (size + 1) * more, most);
      add(size, 1, n - size, mask);
    } else {
      add(size, fewer, (size + 1) * more, most);
    }
  }
};

/// The loops around the tiles, innermost first; loops of one are left out and nested ones fused. The first `Inside` are written where a
/// frame has them.
template <int Inside> struct loop_list {
  step* inside;
  step at[max_loops + 4 - Inside];  // the others
  int count = 0;

  explicit loop_list(step* frame_loops = nullptr) : inside(frame_loops) {}
  step& loop(int d) { return d < Inside ? inside[d] : at[d - Inside]; }
  void add(index n, index a, index b, index c) {
    if (n == 1) return;
    if (count > 0) {
      step& last = loop(count - 1);
      if (a == last.a * last.count && b == last.b * last.count && c == last.c * last.count) {
        last.count *= n;
        return;
      }
    }
    loop(count++) = {n, a, b, c};
  }
  void add(const step& s) { add(s.count, s.a, s.b, s.c); }
};

/// Calls body(a, b, c) for all iterations of loops[0..n).
template <class T, class Body>
RICCI_INLINE void odometer(const step* loops, int n, const T* a, const T* b, T* c, Body&& body) {
  index at[max_loops + 4];
  for (int d = 0; d < n; ++d) at[d] = 0;
  for (;;) {
    body(a, b, c);
    int d = 0;
    for (; d < n; ++d) {
      const step& s = loops[d];
      a = shift(a, s.a), b = shift(b, s.b), c = shift(c, s.c);
      if (++at[d] < s.count) break;
      a = shift(a, -s.a * s.count), b = shift(b, -s.b * s.count), c = shift(c, -s.c * s.count);
      at[d] = 0;
    }
    if (d == n) return;
  }
}

/// One call of a kernel: the frame, the tile axes and the loops. row_a, row_c, vec_b and vec_c are in the frame.
template <class T, bool Complex, lanes L, class A = T, class B = T> struct call {
  frame<T> f;
  pieces row, vector;
  loop_list<0> loops;
  index row_count = 1, vector_count = 1;

  tile_fn<T> function(const piece& r, const piece& v) const {
    return tiles<T, Complex, L, A, B>.fn[v.mask][v.size - 1][r.size - 1];
  }
  step row_step(const piece& r) const { return {r.count, r.size * f.row_a, 0, r.size * f.row_c}; }
  step vector_step(const piece& v) const { return {v.count, 0, v.size * f.vec_b, v.size * f.vec_c}; }

  /// Tiles of one shape only: the first loops of all go into the tile function.
  void run_uniform(const T* a, const T* b, T* c) {
    loop_list<3> all(f.loops);
    all.add(row_step(row.at[0]));
    all.add(vector_step(vector.at[0]));
    for (int i = 0; i < loops.count; ++i) all.add(loops.at[i]);
    for (int i = all.count; i < 3; ++i) f.loops[i] = once;
    const tile_fn<T> fn = function(row.at[0], vector.at[0]);
    odometer<T>(all.at, all.count < 3 ? 0 : all.count - 3, a, b, c,
                [&](const T* a0, const T* b0, T* c0) { fn(f, a0, b0, c0); });
  }

  /// Problems of the innermost loop whose data stays in the first cache while all tile shapes pass over them.
  index chunk() const {
    const step& s = loops.at[0];
    const index k = f.k * f.k_outer * (L == lanes::k ? f.vectors + 1 : 1);
    const index reals = (s.a ? row_count * k : 0) + (s.b ? vector_count * k : 0) + row_count * vector_count;
    const index room = 16384 / (reals * (L == lanes::k ? 1 : vector_bytes));
    return room < 1 ? 1 : room;
  }

  void run_mixed(const T* a, const T* b, T* c) {
    const step first = loops.count > 0 ? loops.at[0] : once;
    const index most = loops.count > 0 ? chunk() : 1;
    const int outer = loops.count > 0 ? loops.count - 1 : 0;
    odometer<T>(loops.at + 1, outer, a, b, c, [&](const T* a0, const T* b0, T* c0) {
      for (index p = 0; p < first.count; p += most) {
        const index many = first.count - p < most ? first.count - p : most;
        f.loops[2] = {many, first.a, first.b, first.c};
        pass(shift(a0, p * first.a), shift(b0, p * first.b), shift(c0, p * first.c));
      }
    });
  }

  void pass(const T* a, const T* b, T* c) {
    for (int j = 0; j < vector.count; ++j) {
      const piece& v = vector.at[j];
      f.loops[1] = vector_step(v);
      for (int i = 0; i < row.count; ++i) {
        const piece& r = row.at[i];
        f.loops[0] = row_step(r);
        function(r, v)(f, shift(a, r.start * f.row_a), shift(b, v.start * f.vec_b),
                       shift(c, r.start * f.row_c + v.start * f.vec_c));
      }
    }
  }

  void run(const T* a, const T* b, T* c) {
    if (row.count == 1 && vector.count == 1) run_uniform(a, b, c);
    else run_mixed(a, b, c);
  }

  /// Splits rows and vectors into tiles; mask says which vectors are partial.
  void split(index rows, index vectors, masking mask) {
    row_count = rows;
    vector_count = vectors;
    tile_choice best = choose<T, Complex>(rows, vectors);
    if ((L == lanes::batch && mask == mask_all) || sizeof(B) != sizeof(T)) {
      if (best.rows > few_rows<L>) best.rows = few_rows<L>;
      if (best.vectors > few_vectors<L>) best.vectors = few_vectors<L>;
    }
    row.split(rows, best.rows, mask_none);
    vector.split(vectors, best.vectors, mask);
  }
};

inline constexpr index no_offset = 0;

/// Scalars, signs of conjugation, strides of the summed axes.
template <class T, bool Complex, class A = T, class B = T>
RICCI_INLINE void set_up(frame<T>& f, const contract_args& g, const T* alpha, const T* beta) {
  constexpr index parts = Complex ? 2 : 1;
  f.k = g.k, f.k_a = g.k_a * parts * sizeof(A), f.k_b = g.k_b * parts * sizeof(B);
  f.k_outer = g.k_outer;
  f.outer_a = g.k_outer_a ? g.k_outer_a : &no_offset;
  f.outer_b = g.k_outer_b ? g.k_outer_b : &no_offset;
  f.outer_step_a = g.k_outer_a != nullptr, f.outer_step_b = g.k_outer_b != nullptr;
  f.row_a = g.row.a * parts * sizeof(A), f.row_c = g.row.c * parts * sizeof(T);
  f.alpha_re = alpha[0], f.beta_re = beta[0];
  f.scaled = alpha[0] != T(1);
  f.reads_c = beta[0] != T(0);
  if constexpr (Complex) {
    f.alpha_im = alpha[1], f.beta_im = beta[1];
    f.reads_c = f.reads_c || beta[1] != T(0);
    f.scaled = alpha[1] != T(0) || alpha[0] - alpha[0] != T(0);
  }
}

/// lanes::n and batch: own and other multiply the two accumulator sets; a real alpha is folded into them, but not an
/// infinite one, which would make NaN of the zeros in either set.
template <class T> RICCI_INLINE void set_signs(frame<T>& f, bool conj_a, bool conj_b) {
  const T sa = conj_a ? T(-1) : T(1), sb = conj_b ? T(-1) : T(1), x = f.scaled ? T(1) : f.alpha_re;
  f.own[0] = x, f.own[1] = sb * x;
  f.other[0] = -sa * sb * x, f.other[1] = sa * x;
}

template <class T, bool Complex>
void contract_n(const contract_args& g, const T* a, const T* b, T* c, const T* alpha, const T* beta) {
  constexpr index scale = sizeof(T) * (Complex ? 2 : 1);
  call<T, Complex, lanes::n> job;
  set_up<T, Complex>(job.f, g, alpha, beta);
  if constexpr (Complex) set_signs(job.f, g.conj_a, g.conj_b);
  const index reals = g.lane_extent * (Complex ? 2 : 1), vectors = (reals + width<T> - 1) / width<T>;
  const int rest = static_cast<int>(reals % width<T>);
  if (rest) job.f.rest.assign(rest);
  if (vectors == 1 && g.col.extent > 1) {
    job.f.vec_b = g.col.b * scale, job.f.vec_c = g.col.c * scale;
    job.split(g.row.extent, g.col.extent, rest ? mask_all : mask_none);
  } else {
    job.f.vec_b = job.f.vec_c = vector_bytes;
    job.split(g.row.extent, vectors, rest ? mask_last : mask_none);
    job.loops.add(g.col.extent, 0, g.col.b * scale, g.col.c * scale);
  }
  for (int i = 0; i < g.loop_count; ++i)
    job.loops.add(g.loops[i].extent, g.loops[i].a * scale, g.loops[i].b * scale, g.loops[i].c * scale);
  job.run(a, b, c);
}

template <class T, bool Complex>
void contract_batch(const contract_args& g, const T* a, const T* b, T* c, const T* alpha, const T* beta) {
  constexpr index scale = sizeof(T) * (Complex ? 2 : 1);
  call<T, Complex, lanes::batch> job;
  set_up<T, Complex>(job.f, g, alpha, beta);
  if constexpr (Complex) set_signs(job.f, g.conj_a, g.conj_b);
  job.f.vec_b = g.col.b * scale, job.f.vec_c = g.col.c * scale;
  const index reals = g.lane_extent * (Complex ? 2 : 1), vectors = reals / width<T>, rest = reals % width<T>;
  const auto add_loops = [&] {
    for (int i = 0; i < g.loop_count; ++i)
      job.loops.add(g.loops[i].extent, g.loops[i].a * scale, g.loops[i].b * scale, g.loops[i].c * scale);
  };
  if (vectors > 0) {
    job.split(g.row.extent, g.col.extent, mask_none);
    job.loops.add(vectors, vector_bytes, vector_bytes, vector_bytes);
    add_loops();
    job.run(a, b, c);
  }
  if (rest > 0) {
    job.f.rest.assign(static_cast<int>(rest));
    job.split(g.row.extent, g.col.extent, mask_all);
    job.loops.count = 0;
    add_loops();
    const index done = vectors * width<T>;
    job.run(a + done, b + done, c + done);
  }
}

template <class T, bool Complex, class A = T, class B = T>
void contract_k(const contract_args& g, const T* a, const T* b, T* c, const T* alpha, const T* beta) {
  constexpr index parts = Complex ? 2 : 1, size_a = parts * sizeof(A), size_b = parts * sizeof(B), size_c = parts * sizeof(T);
  if constexpr (!Complex)
    if (g.row.extent == 1 && g.col.extent == 1 && g.k == 1 && g.k_outer == 1 && g.loop_count == 0) return single_dot<T, A, B>(g, a, b, c, alpha[0], beta[0]);
  call<T, Complex, lanes::k, A, B> job;
  frame<T>& f = job.f;
  set_up<T, Complex, A, B>(f, g, alpha, beta);
  if constexpr (Complex) {
    const T sa = g.conj_a ? T(-1) : T(1), sb = g.conj_b ? T(-1) : T(1);
    const T x = f.scaled ? T(1) : f.alpha_re;
    f.own[0] = x, f.own[1] = -sa * sb * x;
    f.other[0] = sb * x, f.other[1] = sa * x;
  }
  f.vec_b = g.col.b * size_b, f.vec_c = g.col.c * size_c;
  const index reals = g.lane_extent * parts, rest = reals % width<T>;
  f.vectors = reals / width<T>;
  f.step_a = g.ones_a ? 0 : width<T> * sizeof(A);
  f.partial = rest != 0;
  if (rest) f.rest.assign(static_cast<int>(rest));
  job.split(g.row.extent, g.col.extent, mask_none);
  for (int i = 0; i < g.loop_count; ++i)
    job.loops.add(g.loops[i].extent, g.loops[i].a * size_a, g.loops[i].b * size_b, g.loops[i].c * size_c);
  job.run(a, b, c);
}

template <class T, bool Complex, lanes L>
void contract(const contract_args& g, const void* a, const void* b, void* c, const void* alpha, const void* beta) {
  const T *pa = static_cast<const T*>(a), *pb = static_cast<const T*>(b);
  T* pc = static_cast<T*>(c);
  const T *x = static_cast<const T*>(alpha), *y = static_cast<const T*>(beta);
  if constexpr (L == lanes::n) contract_n<T, Complex>(g, pa, pb, pc, x, y);
  else if constexpr (L == lanes::batch) contract_batch<T, Complex>(g, pa, pb, pc, x, y);
  else contract_k<T, Complex>(g, pa, pb, pc, x, y);
}

template <class T, bool Complex> void fill_contract(contract_fn (&row)[lanes_count]) {
  row[static_cast<int>(lanes::n)] = &contract<T, Complex, lanes::n>;
  row[static_cast<int>(lanes::batch)] = &contract<T, Complex, lanes::batch>;
  row[static_cast<int>(lanes::k)] = &contract<T, Complex, lanes::k>;
}

}  // namespace ricci::kernels::RICCI_ISA
