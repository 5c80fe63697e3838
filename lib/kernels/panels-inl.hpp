// Transpositions of lines at any distance, and copies of rows that lie in pieces.
#pragma once

#include <type_traits>

#include "kernels.hpp"
#include "transpose-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

/// Lanes of a whole register as bits, for shuffles.
template <class T> struct lane_bits_t {
  typedef typename bits_t<sizeof(T)>::type type __attribute__((vector_size(vector_bytes)));
};
template <class T> using lane_bits = typename lane_bits_t<T>::type;

template <class T> RICCI_INLINE lane_bits<T> bits_of_lanes(vec<T> v) {
  lane_bits<T> x;
  __builtin_memcpy(&x, &v, sizeof x);
  return x;
}

template <class T> RICCI_INLINE vec<T> lanes_of_bits(lane_bits<T> x) {
  vec<T> v;
  __builtin_memcpy(&v, &x, sizeof x);
  return v;
}

/// Fewer numbers than a register has, without masked stores, which are slow where masks are no registers.
template <class T> RICCI_INLINE void copy_rest(const T* s, T* d, std::int64_t n) {
  const auto copy = [&](auto some) RICCI_INLINE_LAMBDA {
    if (!(n & some())) return;
    __builtin_memcpy(d, s, some() * sizeof(T));
    s += some(), d += some();
  };
  copy(std::integral_constant<std::int64_t, 8>{});
  copy(std::integral_constant<std::int64_t, 4>{});
  copy(std::integral_constant<std::int64_t, 2>{});
  copy(std::integral_constant<std::int64_t, 1>{});
}

template <class T> inline constexpr bool copies_rest = vector_bytes < 64 && width<T> <= 16;

/// A block of a register's lanes by as many: `lines` of them, the first `length` of each.
template <class T> RICCI_INLINE void turn_block(const turn_args& g, const T* s, T* d, std::int64_t l0, std::int64_t j0, std::int64_t lines, std::int64_t length) {
  constexpr int n = width<T>;
  const std::int64_t* const line = g.line + l0;
  lane_bits<T> rows[n];
  if (lines == n && length == n) {
    RICCI_EACH(i, n) rows[i] = bits_of_lanes<T>(load<T>(s + line[i] + j0));
  } else {
    tail<T> some;
    if (length < n) some.assign(static_cast<int>(length));
    RICCI_EACH(i, n) {  // behind the last line there are copies of it, which are not stored
      const T* const from = s + line[i < lines ? i : lines - 1] + j0;
      rows[i] = bits_of_lanes<T>(length < n ? load<T>(from, some) : load<T>(from));
    }
  }
  transpose_steps<1>(rows);
  T* const to = d + j0 * g.pitch + l0;
  if (lines == n && length == n) {
    RICCI_EACH(j, n) store<T>(lanes_of_bits<T>(rows[j]), to + j * g.pitch);
  } else if (lines == n) {
    RICCI_EACH(j, n) if (j < length) store<T>(lanes_of_bits<T>(rows[j]), to + j * g.pitch);
  } else if constexpr (copies_rest<T>) {
    alignas(vector_bytes) T columns[n][n];
    RICCI_EACH(j, n) __builtin_memcpy(columns[j], &rows[j], sizeof rows[j]);
    for (std::int64_t j = 0; j < length; ++j) copy_rest(columns[j], to + j * g.pitch, lines);
  } else {
    tail<T> some;
    some.assign(static_cast<int>(lines));
    RICCI_EACH(j, n) if (j < length) store<T>(lanes_of_bits<T>(rows[j]), to + j * g.pitch, some);
  }
}

/// Half a register of lines, two registers of each, the second as if they were more lines: what comes out are halves of registers.
template <class T> RICCI_INLINE void turn_half(const turn_args& g, const T* s, T* d, std::int64_t l0, std::int64_t j0) {
  constexpr int n = width<T>, half = n / 2;
  const std::int64_t* const line = g.line + l0;
  lane_bits<T> rows[n];
  RICCI_EACH(i, half) {
    rows[i] = bits_of_lanes<T>(load<T>(s + line[i] + j0));
    rows[half + i] = bits_of_lanes<T>(load<T>(s + line[i] + j0 + n));
  }
  transpose_steps<1>(rows);
  T* const to = d + j0 * g.pitch + l0;
  RICCI_EACH(j, n) {
    __builtin_memcpy(to + j * g.pitch, &rows[j], half * sizeof(T));
    __builtin_memcpy(to + (n + j) * g.pitch, reinterpret_cast<const char*>(&rows[j]) + half * sizeof(T), half * sizeof(T));
  }
}

template <class T> void turn_lines(const turn_args& g, const void* from, void* to) {
  constexpr std::int64_t n = width<T>, line = 64 / static_cast<std::int64_t>(sizeof(T));
  const T* const s = static_cast<const T*>(from);
  T* const d = static_cast<T*>(to);
  if (g.ask != 0)
    for (std::int64_t l = 0; l < g.lines; ++l) {
      const T* const next = s + g.line[l] + g.ask;
      for (std::int64_t j = 0; j < g.length - 1; j += line) __builtin_prefetch(next + j);
      __builtin_prefetch(next + g.length - 1);
    }
  const std::int64_t whole = g.lines / n * n, rest = g.lines - whole;
  const auto length = [&](std::int64_t j) { return g.length - j < n ? g.length - j : n; };
  for (std::int64_t j = 0; j < g.length; j += n)  // all lines before what comes next in each: more of memory is waited for at a time
    for (std::int64_t l = 0; l < whole; l += n) turn_block<T>(g, s, d, l, j, n, length(j));
  if (rest == 0) return;
  std::int64_t j = 0;
  if constexpr (n > 1)
    if (2 * rest == n)
      for (; j + 2 * n <= g.length; j += 2 * n) turn_half<T>(g, s, d, whole, j);
  for (; j < g.length; j += n) turn_block<T>(g, s, d, whole, j, rest, length(j));
}

template <bool Adds, class T> RICCI_INLINE void copy_piece(const T* s, T* d, std::int64_t n) {
  constexpr std::int64_t w = width<T>;
  std::int64_t i = 0;
  for (; i + w <= n; i += w) {
    if constexpr (Adds) store<T>(add(load<T>(s + i), load<T>(d + i)), d + i);
    else store<T>(load<T>(s + i), d + i);
  }
  if (i == n) return;
  if constexpr (!Adds && copies_rest<T>) return copy_rest(s + i, d + i, n - i);
  tail<T> rest;
  rest.assign(static_cast<int>(n - i));
  if constexpr (Adds) store<T>(add(load<T>(s + i, rest), load<T>(d + i, rest)), d + i, rest);
  else store<T>(load<T>(s + i, rest), d + i, rest);
}

/// A piece that is whole lines goes past the caches.
template <class T> RICCI_INLINE void stream_piece(const T* s, T* d, std::int64_t n) {
#if defined(RICCI_STREAMS)
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  if (n % line == 0 && reinterpret_cast<std::uintptr_t>(d) % 64 == 0) {
    for (std::int64_t i = 0; i < n; i += line) stream_line(reinterpret_cast<const char*>(s + i), reinterpret_cast<char*>(d + i));
    return;
  }
#endif
  copy_piece<false>(s, d, n);
}

/// Rows of one piece each, of so many whole registers.
template <int Vectors, class T> void copy_whole_rows(const pieces_args& g, const T* s, T* d) {
  s += g.pieces[0].from, d += g.pieces[0].to;
  for (std::int64_t r = 0; r < g.rows; ++r) {
    const T* const from = s + g.from_row[r];
    T* const to = d + g.to_row[r];
    if (g.ask_row) __builtin_prefetch(s + g.ask_row[r] + g.ahead);
    RICCI_EACH(i, Vectors) store<T>(load<T>(from + i * width<T>), to + i * width<T>);
  }
}

template <class T> void copy_pieces(const pieces_args& g, const void* from, void* to) {
  const T* const s = static_cast<const T*>(from);
  T* const d = static_cast<T*>(to);
  if (g.count == 1 && !g.adds && !g.streams) {
    switch (g.pieces[0].count) {
      case width<T>: return copy_whole_rows<1>(g, s, d);
      case 2 * width<T>: return copy_whole_rows<2>(g, s, d);
      case 3 * width<T>: return copy_whole_rows<3>(g, s, d);
      default: break;
    }
  }
  const auto all = [&](auto one) {
    for (std::int64_t r = 0; r < g.rows; ++r)
      for (std::int64_t p = 0; p < g.count; ++p) {
        const kernels::piece& x = g.pieces[p];
        if (g.ask_row) __builtin_prefetch(s + g.ask_row[r] + x.from + g.ahead);
        one(s + g.from_row[r] + x.from, d + g.to_row[r] + x.to, x.count);
      }
  };
  if (g.adds) all([](const T* x, T* y, std::int64_t n) RICCI_INLINE_LAMBDA { copy_piece<true>(x, y, n); });
  else if (g.streams) all([](const T* x, T* y, std::int64_t n) RICCI_INLINE_LAMBDA { stream_piece(x, y, n); });
  else all([](const T* x, T* y, std::int64_t n) RICCI_INLINE_LAMBDA { copy_piece<false>(x, y, n); });
}

}  // namespace ricci::kernels::RICCI_ISA
