// Many short dot products whose results are neighbours.
#pragma once

#include "codegen/dots_registers.hpp"

namespace ricci::codegen {

/// A register gets as many dot products as it has segments for; the lanes are added up for a register of results at once, by a
/// tree of exchanges, at whose end each result stands where c wants it. Triples need no segments: three registers of products become one
/// of first, one of second and one of third products.
class dots_code : public dots_registers {
 public:
  dots_code(const request& r, const dots& d, target t);

 private:
  struct slots {
    std::vector<std::int64_t> results;  // of each segment; -1: none
  };

  void write_results(factor beta);
  void write_triples(std::int64_t first, std::int64_t count);
  void write_group(std::int64_t first, std::int64_t count, factor beta);
  void write_product(const slots& s, std::int64_t first, int to);
  void ask_ahead(std::int64_t first, std::int64_t count);
  bool write_tree(const std::vector<slots>& all, std::size_t begin, std::size_t end, std::int64_t first, int to);
  std::vector<slots> order(std::int64_t count) const;

  std::vector<std::int64_t> offsets(const slots& s, std::int64_t first, std::int64_t dots::axis::*stride) const;
  std::int64_t offset_of(std::int64_t result, std::int64_t dots::axis::*stride) const;

  const reg64 a_ = Xbyak::util::rdi, b_ = Xbyak::util::rsi, c_ = Xbyak::util::rdx;
  bool keeps_a_ = false;            // the registers keep a factor that several results share: a, or b
  std::vector<std::int64_t> kept_;  // from where
};

}  // namespace ricci::codegen
