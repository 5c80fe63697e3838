// Products of bfloat16 matrices by the processor's tile registers (AMX).
#pragma once

#include "codegen/vector_code.hpp"

namespace ricci::codegen {

/// This processor has tile registers that multiply bfloat16, and the system lets this process use them. Asked once.
bool has_tile_registers();

/// Multiply-adds of a problem, and of a call, from which on tile registers are faster: a call takes them into use and
/// gives them back, 100 ns on a Xeon.
inline constexpr std::int64_t least_tile_work = 2700, least_tile_call = 100000;

/// The request is for tile registers and they can do it.
bool in_tile_registers(const request& r, target t);

/// One problem at a time: b's rows become pairs in scratch memory, tiles of 16 columns; c's sums go through scratch as well.
class amx_code : public vector_code {
 public:
  explicit amx_code(const request& r);

 private:
  void write_loops(std::size_t left, factor beta);
  void write_problem(factor beta);
  void pair_rows();
  void pad_rows();
  void multiply();
  void finish(factor beta);
  std::int64_t scratch_c() const { return 0; }
  std::int64_t scratch_b() const { return blocks_ * rows_ * 64; }
  std::int64_t scratch_a() const { return scratch_b() + blocks_ * pairs_ * 64; }
  std::int64_t scratch_end() const { return scratch_a() + (odd_ ? rows_ * padded_a() : 0); }
  std::int64_t padded_a() const { return (pairs_ * 4 + 63) / 64 * 64; }
  lane_vector columns(std::int64_t block) const;

  const request& request_;
  std::int64_t rows_, lanes_, pairs_;
  bool odd_;                    // the last pair has one number
  std::int64_t blocks_;         // of 16 columns
  std::int64_t row_tiles_, tile_rows_;  // the last tile of rows may share some with the one before
  std::int64_t depth_[2];       // pairs in the first and the second tile along the summed index
  Xbyak::Label shapes_, places_;
  const reg64 a_ = rdi, b_ = rsi, c_ = rdx, alpha_at_ = rcx, beta_at_ = r8, stride_ = r9, line_ = r10;
};

}  // namespace ricci::codegen
