// Dot products and sums one by one: a single one of real numbers, or any of complex ones.
#pragma once

#include "codegen/vector_code.hpp"

namespace ricci::codegen {

/// Bytes.
struct lone_dots {
  struct axis {
    std::int64_t extent, a, b, c;
  };
  std::vector<axis> loops;  // over the results, the innermost first
  /// What is multiplied at once: so many reals from here on, in a register of so many bytes.
  struct piece {
    std::int64_t a, b;
    lane_vector lanes;
  };
  std::vector<piece> pieces;
  /// A long sum of one result: so many times the pieces, bytes further on in either factor each time, and then the rest.
  std::int64_t times = 1, step_a = 0, step_b = 0;
  std::vector<piece> rest;
};

/// Nothing if this is no request for such: rows that meet several columns, several summed axes, long sums of several results or axes,
/// 16 bits, a beta of complex numbers that only the run knows.
std::vector<lone_dots> lone_dots_of(const request& r, target t);

/// All that is read of a result goes to a few registers in turn, whose lanes are added up at the end. Complex factors are multiplied by
/// parts: one set of sums has re re and im im, the other one re im and im re.
class lone_dots_code : public vector_code {
 public:
  lone_dots_code(const request& r, const lone_dots& d, target t);

 private:
  void write_loops(std::size_t left);
  void write_result();
  void write_long_result();
  void multiply(const lone_dots::piece& p, int to, bool first);
  void add_up();
  void join_parts();
  void finish();
  void reduce(int i);
  void step(const reg64& p, std::int64_t bytes);

  bool has_sets() const { return complex_ && !r_.args.ones_a; }

  const request& r_;
  const lone_dots& d_;
  const bool complex_;
  const int strands_;  // registers that the pieces go to in turn, in each set
  const int width_;    // bytes of them that are used
  const reg64 a_ = Xbyak::util::rdi, b_ = Xbyak::util::rsi, c_ = Xbyak::util::rdx, alpha_ = Xbyak::util::rcx, beta_ = Xbyak::util::r8;
};

}  // namespace ricci::codegen
