// Registers of segments, each of which has its place in a row: loaded, multiplied, added up, stored, with AVX2 and AVX-512.
#pragma once

#include "codegen/dots_shape.hpp"
#include "codegen/vector_code.hpp"

namespace ricci::codegen {

class dots_registers : public vector_code {
 protected:
  /// Prepares what stays in registers: masks, factors, places.
  dots_registers(const request& r, const dots& d, target t);

  /// Registers by their use; sums from 0 on, one more for each level of the tree.
  struct numbers {
    int spare, crossed, kept, kept_count, alpha, beta, places, triple;
  };

  Xbyak::Xmm v(int i) const { return reg(i, full()); }

  /// The first lanes of a register; zeros behind them.
  void load_some(int to, std::int64_t count, const address& from);
  /// `to` += x * what is at `from`, or its first value, in the lanes of a piece.
  void multiply_piece(int to, int x, const address& from, std::int64_t count, bool first);
  void add_piece(int to, const address& from, std::int64_t count);
  /// What the segments take from the offsets: one load, or one for each.
  void load_piece(int to, const reg64& base, const std::vector<std::int64_t>& offsets, std::int64_t more, std::int64_t count);
  void load_segments(int to, const reg64& base, const std::vector<std::int64_t>& offsets);
  /// Whether the segments are one load, which may be part of another instruction.
  bool is_one_load(const std::vector<std::int64_t>& offsets) const;

  /// A triple that all results share, again and again in three registers.
  void spread_triple(const address& from);
  /// Registers 0, 1 and 2 have triples one behind the other: their sums in register 0.
  void collect_triples();

  /// Half as many lanes for each result of x and y; they come from so many registers.
  void join(int to, int x, int y, std::size_t registers);
  /// c from the sums of `count` results.
  void finish(int sums, const reg64& base, std::int64_t offset, std::int64_t count, factor beta);
  /// Where the sum of a slot stands when its lanes have been added up. Slots: the segments of all registers in turn.
  std::vector<int> lanes_of_slots() const;
  /// Constants behind the code.
  void write_places();

  static constexpr std::int64_t unused = std::int64_t{1} << 62;  // an offset that is none

  const request& request_;
  const dots& d_;
  const numbers n_;
  const bool natural_;  // results in the order of the segments; a permutation follows

 private:
  bool is_partial(std::int64_t count) const { return d_.segments() == 1 && count < d_.lanes; }
  static bool is_natural(const request& r, const dots& d);
  static constexpr int own_mask = 15;  // AVX2: of the last piece

  void set_masks();
  void set_mask(const Xbyak::Opmask& m, std::uint64_t lanes);
  void move(const Xbyak::Xmm& to, const Xbyak::Operand& from) { single() ? vmovups(to, from) : vmovupd(to, from); }
  void load_halves(int to, const reg64& base, const std::vector<std::int64_t>& offsets);
  void load_half(int to, const reg64& base, const std::int64_t* offsets);
  void collect_halves();
  void permute(int to, int places, int from);

  Xbyak::Label places_, triple_places_[6], spread_places_[3];
};

}  // namespace ricci::codegen
