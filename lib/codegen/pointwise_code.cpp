// Writes pointwise statements in a loop over rows.
#include <algorithm>

#include "codegen/point_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr std::int64_t most_pitch = 1 << 22;  // elements: offsets stay small

class pointwise_code : public point_code {
 public:
  pointwise_code(const pointwise_request& r, target t, const std::vector<std::int64_t>& steps)
      : point_code(r, t), steps_(steps) {
    const int kept = (g_.statement_count + 1) * full();
    open_frame(kept + (turns_in_registers() ? 0 : static_cast<int>(turned_.size()) * block() * full()));
    keep_pointers();
    if (turned_.empty()) write_rows();
    else write_turned_rows();
    close_frame();
  }

 private:
  /// Pointers of streams that are read row by row stay in registers, as far as there are any: a load of a pointer for every
  /// load of a vector would take longer than all else.
  void keep_pointers() {
    std::vector<Xbyak::Reg64> free{r14, r15};
    if (turned_.empty()) free.insert(free.end(), {rbx, r12, r13});
    for (std::size_t s = steps_.size(); s < 3; ++s) free.push_back(offset(s));
    if (!reads_alphas()) free.push_back(rdx);
    if (!reads_betas()) free.push_back(rcx);
    const auto keep = [&](bool output, int index) {
      if (free.empty()) return;
      mov(free.back(), ptr[(output ? rsi : rdi) + 8 * index]);
      pointers_[{output, index}] = free.back();
      free.pop_back();
    };
    for (int i = 0; i < g_.output_count; ++i) keep(true, i);
    for (int i = 0; i < g_.input_count; ++i)
      if (!is_turned(g_.inputs[i])) keep(false, i);
  }
  Xbyak::Reg64 pointer(bool output, int index) {
    if (const auto kept = pointers_.find({output, index}); kept != pointers_.end()) return kept->second;
    mov(rax, ptr[(output ? rsi : rdi) + 8 * index]);
    return rax;
  }

  /// Rows one by one, all their lanes.
  void write_rows() {
    for (std::size_t s = 0; s < steps_.size(); ++s) xor_(offset(s), offset(s));
    mov(r8, g_.row_extent);
    Xbyak::Label next;
    L(next);
    for (shift_ = 0; shift_ < g_.lane_extent * real(); shift_ += full()) write_statements();
    advance(1);
    dec(r8);
    jnz(next, T_NEAR);
  }

  /// One register of lanes after the other. A few rows of the problems that lie one after the other are turned to lanes
  /// side by side, in registers if there are enough of them, else on the stack; then these rows are computed.
  void write_turned_rows() {
    const int at_once = turns_in_registers() ? turned_at_once() : block();
    for (shift_ = 0; shift_ < g_.lane_extent * real(); shift_ += full()) {
      for (std::size_t s = 0; s < steps_.size(); ++s) xor_(offset(s), offset(s));
      xor_(r12, r12);
      if (const std::int64_t groups = g_.row_extent / at_once; groups > 0) {
        mov(r8, groups);
        Xbyak::Label next;
        L(next);
        write_group(at_once);
        Xbyak::CodeGenerator::add(r12, 8 * at_once);
        dec(r8);
        jnz(next, T_NEAR);
      }
      if (const int rest = static_cast<int>(g_.row_extent % at_once); rest > 0) write_group(rest);
    }
  }

  void write_group(int rows) {
    if (wide() && rows % 4) set_turn_mask(rows % 4);
    for (std::size_t n = 0; n < turned_.size(); ++n) {
      const std::int64_t pitch = g_.inputs[turned_[n]].lane * 8;
      mov(rax, ptr[rdi + 8 * turned_[n]]);
      if (shift_) Xbyak::CodeGenerator::add(rax, static_cast<int>(shift_ / 8 * pitch));
      if (turns_in_registers()) turn(rax + r12, pitch, rows, register_of(n));
      else turn_block(rax + r12, pitch, rows, rsp + stack_of(n));
    }
    if (!turns_in_registers()) return write_stacked(rows);
    count_ = first_turned();
    for (row_ = 0; row_ < rows; ++row_) write_statements();
    row_ = 0;
    count_ = wide() ? 32 : 16;
    advance(rows);
  }

  void write_stacked(int rows) {
    mov(ebx, rows);
    xor_(r13, r13);
    Xbyak::Label row;
    L(row);
    write_statements();
    advance(1);
    Xbyak::CodeGenerator::add(r13, full());
    dec(ebx);
    jnz(row, T_NEAR);
  }

  /// Enough registers beside the turned inputs for statements.
  bool turns_in_registers() const { return first_turned() >= 8; }
  int first_turned() const { return (wide() ? 32 : 16) - static_cast<int>(turned_.size()) * turned_at_once(); }
  int register_of(std::size_t turned) const { return first_turned() + static_cast<int>(turned) * turned_at_once(); }

  void advance(int rows) {
    for (std::size_t s = 0; s < steps_.size(); ++s) add(offset(s), static_cast<int>(rows * steps_[s]));
  }

  std::size_t stack_of(std::size_t turned) const {
    return (static_cast<std::size_t>(g_.statement_count) + 1 + turned * static_cast<std::size_t>(block())) * static_cast<std::size_t>(full());
  }

  static Xbyak::Reg64 offset(std::size_t s) { return Xbyak::Reg64(9 + static_cast<int>(s)); }  // r9, r10, r11

  Xbyak::Address place(bool output, int index) override {
    const pointwise_args::stream& s = output ? g_.outputs[index] : g_.inputs[index];
    if (!output && is_turned(s)) {
      return ptr[rsp + r13 + static_cast<int>(stack_of(turned_at(index)))];
    }
    const Xbyak::Reg64 base = pointer(output, index);
    const std::int64_t step = s.row * real();
    const int shift = s.lane == 0 ? 0 : static_cast<int>(shift_);
    for (std::size_t n = 0; n < steps_.size(); ++n)
      if (steps_[n] == step) return ptr[base + offset(n) + static_cast<int>(shift + row_ * step)];
    return ptr[base + shift];
  }

  std::size_t turned_at(int input) const {
    return static_cast<std::size_t>(std::find(turned_.begin(), turned_.end(), input) - turned_.begin());
  }

  int resident(int input) const override {
    return is_turned(g_.inputs[input]) && turns_in_registers() ? register_of(turned_at(input)) + row_ : -1;
  }

  const std::vector<std::int64_t> steps_;
  int row_ = 0;                  // of those that are turned at once
  std::map<std::pair<bool, int>, Xbyak::Reg64> pointers_;  // of outputs (true) and inputs, that are in registers
  std::int64_t shift_ = 0;       // bytes along the lanes
};

}  // namespace

std::shared_ptr<const pointwise_kernel> make(const pointwise_request& r, target t) {
  const pointwise_args& g = r.args;
  const std::int64_t width = (t == target::avx512 ? 64 : 32) / static_cast<std::int64_t>(size_of(r.type));
  if (t == target::none || g.lane_extent % width != 0 || g.lane_extent > 8 * width || g.loop_count > 0) return nullptr;
  for (int n = 0; n < g.statement_count; ++n)
    for (int i = g.statements[n].first; i < g.statements[n].first + g.statements[n].count; ++i)
      for (int f = g.terms[i].first; f < g.terms[i].first + g.terms[i].count; ++f)
        if (g.factors[f].apply == function::exp) return nullptr;
  for (int i = 0; i < g.input_count; ++i) {
    const pointwise_args::stream& s = g.inputs[i];
    if (is_turned(s) && (r.type != dtype::f64 || s.row != 1 || std::abs(s.lane) > most_pitch)) return nullptr;
  }
  std::vector<std::int64_t> steps;
  const auto step_of = [&](const pointwise_args::stream& s) {
    if (is_turned(s)) return;
    const std::int64_t step = s.row * static_cast<std::int64_t>(size_of(r.type));
    if (step != 0 && std::find(steps.begin(), steps.end(), step) == steps.end()) steps.push_back(step);
  };
  for (int i = 0; i < g.input_count; ++i) step_of(g.inputs[i]);
  for (int i = 0; i < g.output_count; ++i) step_of(g.outputs[i]);
  if (steps.size() > 3 || std::any_of(steps.begin(), steps.end(), [](std::int64_t s) { return s != static_cast<int>(s); }))
    return nullptr;
  return written<pointwise_kernel, pointwise_code>(r, t, steps);
}

}  // namespace ricci::codegen
