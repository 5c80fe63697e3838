// Rows that a table finds in one tensor, copied, scaled or added to rows of another one: row after row, where they lie.
#pragma once

#include "rows-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

template <bool Writes> RICCI_INLINE void ask_for_row(const void* row, index bytes) {
  for (index at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(row) + at, Writes);
}

/// y = f(x, y) for rows of N elements, or of as many as g says (N == 0), in parts without masks: what a mask left out of a store, a load
/// behind it would wait for. Every element has the same operations, however long its row is.
template <class T, int N, class Entry, class F>
void found_rows(const found_args& g, const Entry* at, const T* from, T* to, const F f) {
  const index n = N > 0 ? N : g.row, ahead = g.ahead, table = g.table, from_entry = g.from_entry, to_entry = g.to_entry;
  const index from_row = g.from, to_row = g.to, bytes = n * static_cast<index>(sizeof(T));
  for (index left = g.rows; left > 0; --left, at += table, from += from_row, to += to_row) {
    if (ahead > 0 && left > ahead) {
      const index next = at[ahead * table];
      if (from_entry != 0) ask_for_row<false>(from + next * from_entry + ahead * from_row, bytes);
      else ask_for_row<true>(to + next * to_entry + ahead * to_row, bytes);
    }
    const index entry = *at;
    const T* const x = from + entry * from_entry;
    T* const y = to + entry * to_entry;
    in_parts<T>(n, [=](index i, auto part) RICCI_INLINE_LAMBDA {
      typename part_t<T, part.value>::type u, v;
      __builtin_memcpy(&u, x + i, sizeof u);
      if constexpr (F::reads) __builtin_memcpy(&v, y + i, sizeof v);
      else v = u;
      v = f(u, v);
      __builtin_memcpy(y + i, &v, sizeof v);
    });
  }
}

template <class T> struct row_copy {
  static constexpr bool reads = false;
  template <class V> RICCI_INLINE V operator()(V x, V) const { return x; }
};
template <class T> struct row_assign {
  static constexpr bool reads = false;
  T alpha;
  template <class V> RICCI_INLINE V operator()(V x, V) const { return alpha * x; }
};
template <class T> struct row_add {
  static constexpr bool reads = true;
  T alpha;
  template <class V> RICCI_INLINE V operator()(V x, V y) const { return y + alpha * x; }
};
template <class T> struct row_update {
  static constexpr bool reads = true;
  T alpha, beta;
  template <class V> RICCI_INLINE V operator()(V x, V y) const { return beta * y + alpha * x; }
};

/// Short rows have loops of their own: to find out how many parts there are takes longer than to add them.
template <class T, class Entry, class F> void update_found_rows(const found_args& g, const Entry* at, const T* from, T* to, const F& f) {
  switch (g.row) {
    case 2: return found_rows<T, 2>(g, at, from, to, f);
    case 3: return found_rows<T, 3>(g, at, from, to, f);
    case 4: return found_rows<T, 4>(g, at, from, to, f);
    case 5: return found_rows<T, 5>(g, at, from, to, f);
    case 6: return found_rows<T, 6>(g, at, from, to, f);
    case 7: return found_rows<T, 7>(g, at, from, to, f);
    case 8: return found_rows<T, 8>(g, at, from, to, f);
    case 16: return found_rows<T, 16>(g, at, from, to, f);
    default: return found_rows<T, 0>(g, at, from, to, f);
  }
}

template <class T>
void update_rows(const found_args& g, const void* table, const void* from, void* to, const void* alpha, const void* beta) {
  const T by = *static_cast<const T*>(alpha), of_left = *static_cast<const T*>(beta);
  const auto with = [&](const auto& f) {
    const T* const x = static_cast<const T*>(from);
    T* const y = static_cast<T*>(to);
    if (g.wide) update_found_rows(g, static_cast<const std::int64_t*>(table), x, y, f);
    else update_found_rows(g, static_cast<const std::int32_t*>(table), x, y, f);
  };
  if (of_left == T(1)) with(row_add<T>{by});
  else if (of_left != T(0)) with(row_update<T>{by, of_left});
  else if (by != T(1)) with(row_assign<T>{by});
  else with(row_copy<T>{});
}

}  // namespace ricci::kernels::RICCI_ISA
