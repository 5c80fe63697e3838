// Writes tiny problems one behind the other, a register of neighbouring results at a time. AVX-512.
#pragma once

#include <deque>
#include <map>
#include <tuple>

#include "codegen/spread_shape.hpp"
#include "codegen/vector_code.hpp"

namespace ricci::codegen {

/// Factors are multiplied where they lie, if lanes have them in a row, or are permuted from one or two loads, which several terms share.
class spread_code : public vector_code {
 public:
  spread_code(const request& r, const spread& s, target t);

 private:
  void set_masks();
  void set_constants();
  void write_periods(factor beta);
  void write_results(const spread_results& x, factor beta);
  void write_term(const spread_results& x, std::size_t i);
  void multiply(std::size_t i, int y, const Xbyak::Operand& z);
  void scale(int x, int by);
  void take(const spread_source& x);
  void add_term(const spread_source& x, bool whole);
  void ask_ahead();
  void finish(const spread_results& x, factor beta);

  /// Whether a lane's factor can be part of another instruction: all of a register's, in a row or in one place.
  bool is_operand(const spread_source& x) const { return x.how == spread_source::way::same || (x.how == spread_source::way::run && x.first == s_.lanes); }
  address operand(int factor, const spread_source& x);
  /// The lanes' factors in a register, `spare` or one that keeps them.
  int in_register(int factor, const spread_source& x, int spare);
  /// `count` elements from there, in a register that keeps them for other terms.
  int loaded(int factor, std::int64_t from, int count);
  void permute(int to, const spread_source& x, int low, int high);
  void load_lanes(int to, const address& from, int count);
  Xbyak::Opmask mask_of(int count) const { return Xbyak::Opmask(masks_.at(count)); }
  static Xbyak::Zmm v(int i) { return Xbyak::Zmm(i); }

  const request& request_;
  const spread& s_;
  const reg64 pointers_[2] = {Xbyak::util::rdi, Xbyak::util::rsi}, c_ = Xbyak::util::rdx;
  std::map<int, int> masks_;  // of so many lanes
  struct constant {
    int number = -1;  // the register that keeps it; -1: none
    Xbyak::Label label;
  };
  std::map<std::vector<int>, constant> constants_;
  std::map<std::tuple<int, std::int64_t, int>, int> loads_;  // factor, place, count: the register
  std::deque<std::tuple<int, std::int64_t, int>> order_;     // of the loads, the oldest first
};

}  // namespace ricci::codegen
