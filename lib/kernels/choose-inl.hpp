// Which register tile for how many rows and vectors: a table made at compile time from a small cost function.
#pragma once

#include "frame-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

#ifdef RICCI_REGISTERS
inline constexpr int vector_registers = RICCI_REGISTERS;
#else
inline constexpr int vector_registers = 16;
#endif

#ifdef RICCI_SMALL_TILES  // sets that are there to be right rather than fast: a quarter of the code
inline constexpr int max_rows = 4, max_vectors = 2, max_accumulators = 8;
#else
inline constexpr int max_rows = 8, max_vectors = 4, max_accumulators = vector_registers >= 32 ? 24 : 12;
#endif

/// Rows a tile of nv vectors may have: the accumulators, one tile operand and the other's vectors fit the registers. T keeps
/// the element types apart, whose units may be compiled with limits of their own.
template <class T, bool Complex> constexpr int rows_for(int nv) {
  const int sets = Complex ? 2 : 1;
  const int mr = max_accumulators / (sets * nv);
  return mr > max_rows ? max_rows : mr;
}

/// n pieces as `more` tiles of size + 1 and `fewer` tiles of size.
struct split {
  index size, more, fewer;
};

constexpr split balanced(index n, index tile) {
  const index tiles = (n + tile - 1) / tile, size = n / tiles, more = n - size * tiles;
  return {size, more, tiles - more};
}

/// Time of one tile for one step of k, in half cycles of a machine with two multiply-adds and two loads a cycle and
/// a latency of four; the constant part stands for the store, spread over a typical k.
constexpr int tile_cost(int mr, int nv, int sets) {
  const int madds = mr * nv * sets, loads = mr * sets + nv;
  int cost = madds > loads ? madds : loads;
  const int issue = (madds + loads + 4) / 3;
  if (cost < issue) cost = issue;
  if (cost < 6) cost = 6;
  return 4 * cost + madds + 14;
}

constexpr int cost_of(split r, split v, int sets) {
  int total = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      const index many = (i ? r.more : r.fewer) * (j ? v.more : v.fewer);
      const int cost = tile_cost(static_cast<int>(r.size) + i, static_cast<int>(v.size) + j, sets);
      if (many > 0) total += static_cast<int>(many) * cost;
    }
  return total;
}

struct tile_choice {
  std::uint8_t rows = 1, vectors = 1;
};

inline constexpr int table_rows = 24, table_vectors = 12;

template <class T, bool Complex> struct choices {
  tile_choice best[table_rows][table_vectors];
  constexpr choices() : best{} {
    for (int m = 1; m <= table_rows; ++m)
      for (int n = 1; n <= table_vectors; ++n) {
        int lowest = 1 << 30;
        for (int nv = 1; nv <= max_vectors && nv <= n; ++nv)
          for (int mr = 1; mr <= rows_for<T, Complex>(nv) && mr <= m; ++mr) {
            const int cost = cost_of(balanced(m, mr), balanced(n, nv), Complex ? 2 : 1);
            if (cost >= lowest) continue;
            lowest = cost;
            best[m - 1][n - 1] = {static_cast<std::uint8_t>(mr), static_cast<std::uint8_t>(nv)};
          }
      }
  }
};

template <class T, bool Complex> inline constexpr choices<T, Complex> choice_table{};

template <class T, bool Complex> RICCI_INLINE tile_choice choose(index m, index n) {
  return choice_table<T, Complex>.best[(m < table_rows ? m : table_rows) - 1][(n < table_vectors ? n : table_vectors) - 1];
}

}  // namespace ricci::kernels::RICCI_ISA
