// Many short dot products whose results are neighbours.
#pragma once

#include "codegen/vector_code.hpp"

namespace ricci::codegen {

inline constexpr int most_dot_loops = 4;

/// Results in the order in which c has them. Bytes.
struct dots {
  struct axis {
    std::int64_t extent, a, b, c;
  };
  std::vector<axis> dense;  // c has them one right behind the other, the first fastest; elements without an axis: none
  std::vector<axis> loops;  // around those, the last outermost
  /// What a dot product takes at once: so many numbers from here on.
  struct piece {
    std::int64_t a, b, count;
  };
  std::vector<piece> pieces;
  int real = 8, lanes = 8;  // bytes of a number; numbers of a register, which is how many results are done at once
  int segment = 8;          // lanes of one dot product; fewer than a register only if it is one piece
  std::int64_t inner = 1, count = 1;  // results before the last dense axis moves on, and all
  std::int64_t period = 1;            // results after which places repeat
  bool triples = false;               // of three numbers each, which lie one behind the other in a or b or both

  int segments() const { return lanes / segment; }
  /// Whether neighbouring results have neighbouring segments of a factor, or the same one.
  bool is_even(std::int64_t axis::*stride) const;
};

/// Nothing if this is no request for many short dot products, or too much code: another lane axis, complex or 16-bit numbers, several
/// summed axes, rows that meet several columns, results that are not neighbours.
std::vector<dots> dots_of(const request& r, target t);

/// A register gets as many dot products as it has segments for; the lanes are added up for a register of results at once, by a
/// tree of exchanges, at whose end each result stands where c wants it. Triples need no segments: three registers of products become one
/// of first, one of second and one of third products. AVX-512.
class dots_code : public vector_code {
 public:
  dots_code(const request& r, const dots& d);

 private:
  struct slots {
    std::vector<std::int64_t> results;  // of each segment; -1: none
  };

  void write_loops(std::size_t left, factor beta);
  void write_results(factor beta);
  void use_triples();
  void spread_triple();
  void write_triples(std::int64_t first, std::int64_t count);
  void write_group(std::int64_t first, std::int64_t count, factor beta);
  void write_product(const slots& s, std::int64_t first, int to);
  void ask_ahead(std::int64_t first, std::int64_t count);
  void join(int to, int x, int y, std::size_t registers);
  void finish(int sums, std::int64_t first, std::int64_t count, factor beta);
  bool write_tree(const std::vector<slots>& all, std::size_t begin, std::size_t end, std::int64_t first, int to);
  std::vector<int> lanes_of_slots() const;
  std::vector<slots> order(std::int64_t count) const;

  std::vector<std::int64_t> offsets(const slots& s, std::int64_t first, std::int64_t dots::axis::*stride) const;
  std::int64_t offset_of(std::int64_t result, std::int64_t dots::axis::*stride) const;
  void load_piece(int to, const reg64& base, const std::vector<std::int64_t>& offsets, std::int64_t more, std::int64_t count);
  void load_segments(int to, const reg64& base, const std::vector<std::int64_t>& offsets);
  bool is_one_load(const std::vector<std::int64_t>& offsets) const;
  void write_places();
  void set_mask(const Xbyak::Opmask& m, std::uint64_t lanes);
  void step(const reg64& p, std::int64_t bytes);

  const request& request_;
  const dots& d_;
  const reg64 a_ = Xbyak::util::rdi, b_ = Xbyak::util::rsi, c_ = Xbyak::util::rdx;
  bool natural_ = false;      // results in the order of the segments; a permutation follows
  bool keeps_a_ = false;      // the registers keep a factor that several results share: a, or b
  std::vector<std::int64_t> kept_;  // from where
  Xbyak::Label places_, triple_places_[6], spread_places_[3];
};

}  // namespace ricci::codegen
