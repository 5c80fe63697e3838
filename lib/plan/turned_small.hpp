// Which small matrices a written kernel turns while they are packed.
#pragma once

#include <cstdint>

namespace ricci::planning {

/// Bytes of 16 rows or more of a page each are no longer near one another.
inline constexpr std::int64_t most_turned_span = 16 << 10;

/// Rows of `run` neighbours, `rows` of them, `apart` elements of `size` bytes from one to the next: they become columns, registers of
/// `vector` bytes at a time. A few rows or neighbours alone are no work for whole registers of 64 bytes, unless all fit into some.
inline bool is_turned_small(std::int64_t rows, std::int64_t apart, std::int64_t run, std::int64_t size, std::int64_t vector) {
  constexpr std::int64_t most_blocks = 64, short_run = 8;
  if (size < 4 || rows < 2 || run < 2 || apart < run || rows * apart * size > most_turned_span) return false;
  if (vector >= 64 && rows * run * size <= 4 * vector && apart == run) return true;
  const bool few = (rows * size + vector - 1) / vector * ((run + 3) / 4) <= most_blocks;
  return vector < 64 ? few || run <= short_run : few && run >= 4 && 2 * rows * size > vector;
}

/// The same for products of one row: movers put few neighbours together from whole registers of 64 bytes, and are as fast with blocks of
/// eight and with 16 bytes each.
inline bool is_turned_for_one_row(std::int64_t run, std::int64_t size, std::int64_t vector) { return vector < 64 && run < 8 && size < 16; }

}  // namespace ricci::planning
