// Rows of neighbours found by a table, to and from problems that lie side by side: loads of rows and transpositions in
// registers instead of element after element.
#pragma once

#include "frame-inl.hpp"
#include "transpose-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

template <class T> struct side_t {
  typedef T type __attribute__((vector_size(vector_bytes)));
  typedef T half __attribute__((vector_size(vector_bytes / 2)));
};
/// One element of as many problems as a register has lanes.
template <class T> using side = typename side_t<T>::type;

template <class V, int... I> RICCI_INLINE V lower_halves(V x, V y, constants<I...>) {
  constexpr int h = sizeof...(I) / 2, n = sizeof...(I);
  return __builtin_shufflevector(x, y, (I < h ? I : I - h + n)...);
}

template <class H, int... I> RICCI_INLINE auto joined(H x, H y, constants<I...>) { return __builtin_shufflevector(x, y, I...); }

template <class T> RICCI_INLINE side<T> load_side(const T* p, const tail<T>& rest) {
  return __builtin_bit_cast(side<T>, load<T>(p, rest));
}

/// Columns [0, C) of W rows, C == W or W / 2, as C vectors. Whole: all of them are there; else rest.count.
template <class T, int C, bool Whole>
RICCI_INLINE void load_columns(const T* from, const std::int32_t* at, const tail<T>& rest, side<T> (&v)[C]) {
  constexpr int W = width<T>;
  if constexpr (C == W) {
    RICCI_EACH(l, W) {
      if constexpr (Whole) __builtin_memcpy(&v[l], from + at[l], sizeof v[l]);
      else v[l] = load_side(from + at[l], rest);
    }
  } else {
    RICCI_EACH(l, C) {
      if constexpr (Whole) {
        typename side_t<T>::half x, y;
        __builtin_memcpy(&x, from + at[l], sizeof x);
        __builtin_memcpy(&y, from + at[l + C], sizeof y);
        v[l] = joined(x, y, typename up_to_t<W>::type{});
      } else {
        v[l] = lower_halves(load_side(from + at[l], rest), load_side(from + at[l + C], rest), typename up_to_t<W>::type{});
      }
    }
  }
  transpose_steps<1>(v);
}

template <class T, int C, bool Whole>
RICCI_INLINE void gather_columns(const T* from, const std::int32_t* at, const tail<T>& rest, int count, T* to, index step) {
  side<T> v[C];
  load_columns<T, C, Whole>(from, at, rest, v);
  RICCI_EACH(i, C) {
    if (Whole || i < count) __builtin_memcpy(to + i * step, &v[i], sizeof v[i]);
  }
}

template <class T, int... I>
RICCI_INLINE void gather_one(const T* from, const std::int32_t* at, T* to, constants<I...>) {
  const side<T> v = {from[at[I]]...};
  __builtin_memcpy(to, &v, sizeof v);
}

/// A row of each of W problems: to[i * step + problem].
template <class T>
RICCI_INLINE void gather_row(const T* from, const std::int32_t* at, index row, const tail<T>& rest, T* to, index step) {
  constexpr int W = width<T>;
  index i = 0;
  for (; i + W <= row; i += W) gather_columns<T, W, true>(from + i, at, rest, W, to + i * step, step);
  const int left = static_cast<int>(row - i);
  from += i, to += i * step;
  if (left == 0) return;
  if constexpr (W >= 4) {
    if (left == W / 2) return gather_columns<T, W / 2, true>(from, at, rest, left, to, step);
    if (left < W / 2) return gather_columns<T, W / 2, false>(from, at, rest, left, to, step);
  }
  gather_columns<T, W, false>(from, at, rest, left, to, step);
}

/// Asks for the lines of `count` rows.
template <class T, int Writes> RICCI_INLINE void fetch_rows(const T* from, const std::int32_t* at, index count, index row) {
  for (index n = 0; n < count; ++n)
    for (index i = 0; i < row; i += 64 / static_cast<index>(sizeof(T))) __builtin_prefetch(from + at[n] + i, Writes);
}

/// Calls body(offset, part) for the parts of n elements: whole registers, then powers of two from the largest on.
template <class T, int N, class Body> RICCI_INLINE void in_parts(index n, index& i, const Body& body) {
  if constexpr (N > 0) {
    if (n & N) body(i, std::integral_constant<int, N>{}), i += N;
    in_parts<T, N / 2>(n, i, body);
  }
}
template <class T, class Body> RICCI_INLINE void in_parts(index n, const Body& body) {
  index i = 0;
  for (; i + width<T> <= n; i += width<T>) body(i, std::integral_constant<int, width<T>>{});
  in_parts<T, width<T> / 2>(n, i, body);
}

template <class T, int N> struct part_t { typedef T type __attribute__((vector_size(N * sizeof(T)))); };
template <class T> struct part_t<T, 1> { using type = T; };

template <class T> RICCI_INLINE void copy_row(const T* x, index n, T* y) {
  in_parts<T>(n, [=](index i, auto part) RICCI_INLINE_LAMBDA { __builtin_memcpy(y + i, x + i, part.value * sizeof(T)); });
}

/// The first element alone: it is often the last of the row before in space, whose store a wider load would wait for.
template <class T> RICCI_INLINE void add_row(const T* x, index n, T alpha, T* y) {
  *y++ += alpha * *x++;
  in_parts<T>(n - 1, [=](index i, auto part) RICCI_INLINE_LAMBDA {
    typename part_t<T, part.value>::type u, v;
    __builtin_memcpy(&u, x + i, sizeof u), __builtin_memcpy(&v, y + i, sizeof v);
    v += alpha * u;
    __builtin_memcpy(y + i, &v, sizeof v);
  });
}

/// The same where a register with masks holds the row: there are other rows between this one and the one before in space.
template <class T> RICCI_INLINE void add_short_row(const T* x, const tail<T>& row, T alpha, T* y) {
  const side<T> sum = load_side(y, row) + alpha * load_side(x, row);
  store<T>(__builtin_bit_cast(vec<T>, sum), y, row);
}

/// Rows ahead: what a core gathers while a line comes from memory; of problems side by side, and of rows alone.
inline constexpr index rows_ahead = 16, single_rows_ahead = 48;

template <class T> void gather_single_rows(const rows_args& g, const std::int32_t* at, const std::int32_t* end, const T* from, T* to) {
  for (index r = 0; r < g.rows; ++r, to += g.row) {
    if (end - at > r + single_rows_ahead) fetch_rows<T, 0>(from, at + r + single_rows_ahead, 1, g.row);
    copy_row<T>(from + at[r], g.row, to);
  }
}

template <class T>
void gather_rows(const rows_args& g, const std::int32_t* at, const std::int32_t* end, const void* source, void* target) {
  constexpr int W = width<T>;
  const T* from = static_cast<const T*>(source);
  T* to = static_cast<T*>(target);
  if (g.lanes == 1) return gather_single_rows<T>(g, at, end, from, to);
  const index whole = g.lanes / W * W, step = g.lanes;
  tail<T> rest;
  if (g.row % W) rest.assign(static_cast<int>(g.row % W));
  for (index r = 0; r < g.rows; ++r, at += g.lanes, to += g.row * step) {
    if (end - at >= (rows_ahead + 1) * g.lanes) fetch_rows<T, 0>(from, at + rows_ahead * g.lanes, g.lanes, g.row);
    for (index l = 0; l < whole; l += W) {
      if (g.row == 1) gather_one<T>(from, at + l, to + l, typename up_to_t<W>::type{});
      else gather_row<T>(from, at + l, g.row, rest, to + l, step);
    }
    for (index l = whole; l < g.lanes; ++l)
      for (index i = 0; i < g.row; ++i) to[i * step + l] = from[at[l] + i];
  }
}

/// W vectors of elements [i, i + W) of a row of every problem, as a row for each problem.
template <class T> RICCI_INLINE void turn_columns(const T* from, index step, int count, T* to, index pitch) {
  constexpr int W = width<T>;
  side<T> v[W];
  RICCI_EACH(i, W) {
    if (i < count) __builtin_memcpy(&v[i], from + i * step, sizeof v[i]);
    else v[i] = side<T>{};
  }
  transpose_steps<1>(v);
  RICCI_EACH(l, W) __builtin_memcpy(to + l * pitch, &v[l], sizeof v[l]);
}

/// `count` rows of W problems. They go through a buffer, problem after problem: neighbours share elements, and a load
/// that meets a store of the row before in part would wait for it.
template <class T, int Buffer>
RICCI_INLINE void scatter_slab(const rows_args& g, const std::int32_t* at, const std::int32_t* end, index count, const T* from, T alpha, T* to) {
  constexpr int W = width<T>;
  alignas(64) T buffer[Buffer];
  const index pitch = (g.row + W - 1) / W * W, block = g.rows * g.lanes;
  for (index r = 0; r < count; ++r) {
    if (end - at >= block + r * g.lanes + W) fetch_rows<T, 1>(to, at + block + r * g.lanes, W, g.row);
    for (index i = 0; i < g.row; i += W)
      turn_columns<T>(from + (r * g.row + i) * g.lanes, g.lanes, static_cast<int>(g.row - i < W ? g.row - i : W),
                      buffer + r * pitch + i, count * pitch);
  }
  const auto each = [&](const auto& add) RICCI_INLINE_LAMBDA {
    for (index l = 0; l < W; ++l)
      for (index r = 0; r < count; ++r) add(buffer + (l * count + r) * pitch, to + at[r * g.lanes + l]);
  };
  if (vector_bytes < 64 || g.row > W) return each([&](const T* x, T* y) RICCI_INLINE_LAMBDA { add_row<T>(x, g.row, alpha, y); });
  tail<T> row;
  row.assign(static_cast<int>(g.row));
  each([&](const T* x, T* y) RICCI_INLINE_LAMBDA { add_short_row<T>(x, row, alpha, y); });
}

template <class T>
void scatter_single_rows(const rows_args& g, const std::int32_t* at, const std::int32_t* end, const T* from, T alpha, T* to) {
  for (index r = 0; r < g.rows; ++r, from += g.row) {
    if (end - at > r + single_rows_ahead) fetch_rows<T, 1>(to, at + r + single_rows_ahead, 1, g.row);
    add_row<T>(from, g.row, alpha, to + at[r]);
  }
}

template <class T>
void scatter_rows(const rows_args& g, const std::int32_t* at, const std::int32_t* end, const void* source, void* target,
                  const void* factor) {
  constexpr int W = width<T>, buffer = 16384 / static_cast<int>(sizeof(T));
  const T* from = static_cast<const T*>(source);
  T* to = static_cast<T*>(target);
  const T alpha = *static_cast<const T*>(factor);
  if (g.lanes == 1) return scatter_single_rows<T>(g, at, end, from, alpha, to);
  const index pitch = (g.row + W - 1) / W * W;
  const index slab = g.row < 3 || g.lanes % W ? 0 : buffer / (pitch * W);
  if (slab > 0) {
    for (index r = 0; r < g.rows; r += slab) {
      const index count = g.rows - r < slab ? g.rows - r : slab;
      for (index l = 0; l < g.lanes; l += W)
        scatter_slab<T, buffer>(g, at + r * g.lanes + l, end, count, from + r * g.row * g.lanes + l, alpha, to);
    }
    return;
  }
  for (index l = 0; l < g.lanes; ++l)
    for (index r = 0; r < g.rows; ++r) {
      const T* x = from + r * g.row * g.lanes + l;
      T* y = to + at[r * g.lanes + l];
      for (index i = 0; i < g.row; ++i) y[i] += alpha * x[i * g.lanes];
    }
}

}  // namespace ricci::kernels::RICCI_ISA
