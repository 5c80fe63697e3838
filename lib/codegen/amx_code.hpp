// Products of bfloat16 and half matrices by the processor's tile registers (AMX).
#pragma once

#include "codegen/vector_code.hpp"

namespace ricci::codegen {

/// This processor has tile registers that multiply bfloat16, and the system lets this process use them. Asked once.
bool has_tile_registers();

/// Multiply-adds of a problem, and of a call, from which on tile registers are faster: a call takes them into use and
/// gives them back, 100 ns on a Xeon.
inline constexpr std::int64_t least_tile_work = 1000, least_split_work = 30000, least_tile_call = 100000;

/// The request is for tile registers and they can do it.
bool in_tile_registers(const request& r, target t);

/// A few problems at a time: operands are brought into scratch memory, multiplied, and c's sums leave through scratch as
/// well. What has just been stored is slow to load, so each of these steps is done for all of the few before the next.
///
/// bfloat16: a's rows as they are (an odd number of elements is padded), b's rows in pairs.
/// half: each number is the sum of two of bfloat16, of 8 and 3 bits; a's are pairs (high, low), b's are two matrices, of
/// pairs (high, high) and (low, low), so that two products give all four parts. Infinities times a low part of zero are
/// NaNs: where a sum is not finite, `slow` does the problem again. It converts numbers one by one.
class amx_code : public vector_code {
 public:
  amx_code(const request& r, std::shared_ptr<const kernel> slow);

 private:
  void write_places();
  void set_registers();
  void write_loops(std::size_t left, factor beta);
  void write_group(std::int64_t times, factor beta);
  void pair_rows(std::int64_t p);
  void pad_rows(std::int64_t p);
  struct operand;
  operand operand_of(bool a, std::int64_t times) const;
  void use_split_masks(std::int64_t times);
  void split(bool a, std::int64_t times);
  void split_vector(bool a, int count, std::int64_t v, int x);
  void multiply(std::int64_t p);
  void multiply_tile(std::int64_t p, std::int64_t first, std::int64_t depth, bool rest);
  void write_checked(std::int64_t p, factor beta);
  void redo(std::int64_t p);
  void finish(std::int64_t p, factor beta);
  std::int64_t step_a() const { return request_.args.loop_count ? request_.args.loops[0].a * 2 : 0; }
  std::int64_t step_b() const { return request_.args.loop_count ? request_.args.loops[0].b * 2 : 0; }
  std::int64_t step_c() const { return request_.args.loop_count ? request_.args.loops[0].c * size_c() : 0; }
  std::int64_t size_c() const { return request_.type_c == dtype::f32 ? 4 : 2; }
  /// Scratch: sums, b (two of them for half), a; problem p's.
  std::int64_t sums_at(std::int64_t p) const { return p * blocks_ * rows_ * 64; }
  std::int64_t b_at(std::int64_t p, int part) const { return sums_at(group_) + part * ((group_ * size_b_ + 127) / 64 * 64) + p * size_b_; }
  std::int64_t a_at(std::int64_t p) const { return b_at(0, parts_) + p * size_a_; }
  std::int64_t scratch_end() const { return (a_at(group_) + 127) / 64 * 64; }
  std::int64_t padded_a() const { return (pairs_ * 4 + 63) / 64 * 64; }
  lane_vector columns(std::int64_t block) const;

  const request& request_;
  const std::shared_ptr<const kernel> slow_;
  const bool split_;
  std::int64_t rows_, lanes_, pairs_;   // pairs along the summed index: for half, one for each of its values
  bool odd_;                            // the last pair has one number
  int parts_;                           // matrices that b becomes
  std::int64_t blocks_;                 // of 16 columns
  std::int64_t row_tiles_, tile_rows_;  // the last tile of rows may share some with the one before
  std::int64_t whole_, rest_;           // whole tiles along the summed index, pairs in the one behind them
  std::int64_t group_;                  // problems at a time
  std::int64_t row_b_, size_b_, size_a_;  // bytes of scratch: a row of b, all of b, all of a
  Xbyak::Label shapes_, places_;
  const reg64 a_ = rdi, b_ = rsi, c_ = rdx, alpha_at_ = rcx, beta_at_ = r8, stride_ = r9, line_ = r10, stride_b_ = r11;
};

}  // namespace ricci::codegen
