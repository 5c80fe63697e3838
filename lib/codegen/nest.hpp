// What the generator writes, decided: vectors of different widths, register tiles, loops. Plain values, no code.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/codegen.hpp"

namespace ricci::codegen {

/// Sums of fewer products than this begin with c, where the update is c += or c -= alone.
inline constexpr std::int64_t begins_below = 12;

/// Some neighbouring lanes that one register holds; offsets in bytes.
struct lane_vector {
  std::int64_t b = 0, c = 0;
  int count = 0;  // reals in use
  int width = 0;  // bytes of the register: 16, 32 or 64
  bool operator==(const lane_vector&) const = default;
};

/// A loop around the tiles; strides in bytes.
struct code_loop {
  std::int64_t count = 1, a = 0, b = 0, c = 0;
};

/// Tiles of `size` rows (or vectors), `count` of them, from `first` on.
struct tile_run {
  std::int64_t first = 0, size = 0, count = 0;
};

/// The last columns of c with the summed index along the lanes: `group` columns beside each other (a power of two), each
/// register of b's holds them for width / real / group values of k. Offsets in bytes.
struct summed_tail {
  int columns = 0, group = 1, width = 0;
  std::int64_t b = 0, c = 0;
  std::int64_t blocks = 0, rest = 0;  // k = blocks * lanes + rest
  std::int64_t rows_at_once(int real) const { return width / real / group; }
};

/// The last columns of c, `steps` values of the summed index at a time: lane j * steps + s of a register of 64 bytes is
/// that of b[k + s, column j]. There are `group` columns in it (a power of two); those beyond the last `columns` are
/// columns before them, computed and left. A complex number is one lane here. Offsets in bytes.
struct packed_tail {
  int columns = 0, group = 1, steps = 1;
  std::int64_t b = 0, c = 0;            // of the first of the last columns
  std::int64_t chunks = 0, rest = 0;    // k = chunks * steps + rest
  bool alone = false;                   // they are all columns, in rows of b one right behind the other
  bool operator==(const packed_tail&) const = default;
};

/// Rows whose sums of a packed tail are in registers together; complex ones have two sums.
inline constexpr std::int64_t most_packed_rows = 26, most_complex_rows = 12;

/// 16-bit numbers that become floats in scratch memory before the tiles of an iteration run. Strides in bytes.
struct staged_block {
  std::int64_t rows = 1, width = 1;  // elements of a row
  std::int64_t from = 0, to = 0;     // between rows
  std::int64_t at = 0;               // in the scratch
  std::int64_t bytes() const { return rows * to; }
};

/// c[row, vector] = beta c + alpha sum_k a[row, k] b[vector, k] inside loops.
struct nest {
  std::int64_t rows = 1, row_a = 0, row_c = 0;
  std::vector<lane_vector> vectors;
  bool even_vectors = false;  // equally spaced and, but for the last, all alike: they may run in a loop
  std::vector<code_loop> loops;                              // innermost first
  std::int64_t k = 1, k_a = 0, k_b = 0;
  bool ragged = false;                                       // rows of c end within a vector
  bool dense_b = false;                                      // b's rows follow each other without a gap
  bool pairs = false, odd = false;                           // of bfloat16: k counts pairs, and one number may follow them
  std::vector<std::pair<std::int64_t, std::int64_t>> outer;  // offsets of the outer summed index
  std::optional<summed_tail> tail;                           // columns behind the vectors
  std::optional<packed_tail> packed;                         // or those in the other way
  std::optional<staged_block> stage_a, stage_b;              // row_a, k_a, k_b and the vectors' b are then the scratch's
  std::int64_t chunk = 1;                                    // iterations of loops[0] staged together, where they follow each other
  std::int64_t start = 0;                                    // offset of a, b and c (the tail of lanes::batch)

  int tile_rows = 1, tile_vectors = 1;
  bool unrolled = false;   // all tiles one after the other, no loops over them
  bool whole_sums = true;  // the sum is written out, no loop over k
};

/// Both factors are bfloat16, multiplied in pairs along the summed index.
bool in_pairs(const request& r, target t);

/// The nests that make up a request (lanes::batch may need a second one for its last lanes); empty: not possible.
std::vector<nest> shape(const request& r, target t);

/// Stages b too where that pays, and lays out what is staged.
void settle_staging(nest& n, const request& r);

/// Every line of c, which stands at a multiple of 64 bytes, is written whole and by stores that follow each other.
bool writes_whole_lines(const request& r, const std::vector<nest>& nests);

/// n things in tiles of at most `tile`, as equal as can be.
std::vector<tile_run> runs_of(std::int64_t n, std::int64_t tile);

}  // namespace ricci::codegen
