// What tiles cost: the processor's numbers, and cycles of every tile that a nest could take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "codegen/nest.hpp"

namespace ricci::codegen {

/// Cycles of a tile beyond those of the busiest unit: fitted to the times of all tiles of some hundred products.
struct tile_times {
  double per_load, per_issued;  // for each value of k: for each load, for each instruction
  double per_sum, per_store;    // at the end of the tile: for each register of sums, for each part of one that goes alone
  double square;                // the latter's square: a burst of stores keeps the next tile from starting
  double per_tile;
  double wait;                  // of a problem whose tiles read c just behind what an earlier one stored
  double tail, per_tail_row;    // of last columns with the sum along the lanes: their instructions' share, each row's
  double packed[2];             // the same share of packed ones, for two and for four steps
  double per_line, per_split;   // where c is stored alone and nothing takes longer: each line, each cut of a row between tiles
  double wide_broadcast = 1;    // of a number to 64 bytes, beside one to 32
};

struct geometry {
  int real, vector, registers;  // bytes of a real and of the widest vector
  int sets;                     // sums kept for each element: two for complex types
  int real_b, real_c;           // bytes of a real in memory
  double wide;                  // cost of an instruction on 64 bytes beside one on 32
  tile_times times;
  bool adds;                    // c += alone
  bool stores;                  // c = alone
  bool batch;                   // a is read in vectors as well

  double weight(int width) const { return width == 64 ? wide : 1; }
};

/// Few sums that each wait for the one before: how many strands of each are added up apart, of `all` products, in `registers`
/// beside the first of `sums`.
inline std::int64_t strands_of(std::int64_t sums, std::int64_t all, std::int64_t registers) {
  constexpr std::int64_t at_once = 8, least = 32;  // multiply-adds that a core has under way; products
  if (all < least) return 1;
  return std::max<std::int64_t>(1, std::min({(at_once + sums - 1) / sums, all / 8, 1 + registers / sums}));
}

/// The broadcast of a's element may be part of the multiply-add.
bool embeds(const request& r, target t);

geometry geometry_of(const request& r, target t);

inline bool partial(const lane_vector& v, const geometry& g) { return v.count * g.real < v.width; }

/// Estimated cycles of a tail, in the measure of tiles.
double tail_cost(const summed_tail& s, std::int64_t rows, const geometry& g);

double packed_cost(const packed_tail& p, std::int64_t rows, const geometry& g);

struct costed_tile {
  double cost;
  int rows, vectors;
};

/// Every tile that fits the registers, the cheapest first.
std::vector<costed_tile> tiles_of(const nest& n, const geometry& g, bool batch, bool embeds);

}  // namespace ricci::codegen
