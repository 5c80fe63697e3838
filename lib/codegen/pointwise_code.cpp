// Writes pointwise statements as straight code: what is read or computed stays in a register as long as there is one.
#include "codegen/pointwise.hpp"

#include <algorithm>

#include "codegen/turn_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;
using kernels::pointwise_args;

constexpr std::int64_t most_pitch = 1 << 22;  // elements: offsets stay small

/// Problems one after the other, where the others lie side by side.
bool is_turned(const pointwise_args::stream& s) { return s.lane != 0 && s.lane != 1; }

class pointwise_code : public turn_code {
 public:
  pointwise_code(const pointwise_request& r, target t, const std::vector<std::int64_t>& steps)
      : turn_code(4096, t, r.type == dtype::f32), r_(r), g_(r.args), steps_(steps), count_(t == target::avx512 ? 32 : 16) {
    for (int i = 0; i < g_.input_count; ++i)
      if (is_turned(g_.inputs[i])) turned_.push_back(i);
    push(rbp);
    mov(rbp, rsp);
    if (!turned_.empty()) push(rbx), push(r12), push(r13);
    const int kept = (g_.statement_count + 1) * full();
    sub(rsp, kept + (turns_in_registers() ? 0 : static_cast<int>(turned_.size()) * block() * full()));
    and_(rsp, -full());
    if (turned_.empty()) write_rows();
    else write_turned_rows();
    if (turned_.empty()) {
      mov(rsp, rbp);
    } else {
      lea(rsp, ptr[rbp - 24]);
      pop(r13), pop(r12), pop(rbx);
    }
    pop(rbp);
    vzeroupper();
    ret();
  }

 private:
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

  void write_statements() {
    count_uses();
    for (int n = 0; n < g_.statement_count; ++n) statement(n);
  }

  void advance(int rows) {
    for (std::size_t s = 0; s < steps_.size(); ++s) add(offset(s), static_cast<int>(rows * steps_[s]));
  }

  std::size_t stack_of(std::size_t turned) const {
    return (static_cast<std::size_t>(g_.statement_count) + 1 + turned * static_cast<std::size_t>(block())) * static_cast<std::size_t>(full());
  }

  /// What a register holds: a stream (its index), the value of a statement (-1 - s), or nothing.
  struct content {
    bool used = false, saved = false, pinned = false;
    int key = 0, last = 0;
  };

  static Xbyak::Reg64 offset(std::size_t s) { return Xbyak::Reg64(9 + static_cast<int>(s)); }  // r9, r10, r11
  Xbyak::Xmm v(int i) const { return reg(i, full()); }

  /// Nothing is held yet, and every factor is to come.
  void count_uses() {
    left_.clear(), stored_.clear();
    for (content& c : held_) c = {};
    for (int n = 0; n < g_.statement_count; ++n)
      for (int t = g_.statements[n].first; t < g_.statements[n].first + g_.statements[n].count; ++t)
        for (int f = g_.terms[t].first; f < g_.terms[t].first + g_.terms[t].count; ++f) ++left_[g_.factors[f].input];
  }

  /// A register whose content may go; a value that is needed again goes to the stack.
  int take() {
    int best = -1;
    for (int i = 0; i < count_; ++i) {
      if (held_[i].pinned) continue;
      if (!held_[i].used) {
        best = i;
        break;
      }
      if (best < 0 || held_[i].last < held_[best].last) best = i;
    }
    content& c = held_[best];
    if (c.used && c.key < 0 && !c.saved && !stored_[-1 - c.key]) {
      vmovups(ptr[rsp + (-1 - c.key) * full()], v(best));
      stored_[-1 - c.key] = true;
    }
    c = {true, false, true, 1 << 20, ++clock_};
    return best;
  }
  void release(int i) { held_[i] = {}; }

  Xbyak::Address place(bool output, int index) {
    const pointwise_args::stream& s = output ? g_.outputs[index] : g_.inputs[index];
    if (!output && is_turned(s)) {
      return ptr[rsp + r13 + static_cast<int>(stack_of(turned_at(index)))];
    }
    mov(rax, ptr[(output ? rsi : rdi) + 8 * index]);
    const std::int64_t step = s.row * real();
    const int shift = s.lane == 0 ? 0 : static_cast<int>(shift_);
    for (std::size_t n = 0; n < steps_.size(); ++n)
      if (steps_[n] == step) return ptr[rax + offset(n) + static_cast<int>(shift + row_ * step)];
    return ptr[rax + shift];
  }

  void spread(int i, const Xbyak::Operand& from) {
    if (single()) vbroadcastss(v(i), from);
    else if (wide()) vbroadcastsd(Xbyak::Zmm(i), from);
    else vbroadcastsd(Xbyak::Ymm(i), from);
  }

  std::size_t turned_at(int input) const {
    return static_cast<std::size_t>(std::find(turned_.begin(), turned_.end(), input) - turned_.begin());
  }

  /// The factor in a register, pinned until done() with it.
  int get(int key) {
    if (key >= 0 && is_turned(g_.inputs[key]) && turns_in_registers()) return register_of(turned_at(key)) + row_;
    for (int i = 0; i < count_; ++i)
      if (held_[i].used && held_[i].key == key) {
        held_[i].last = ++clock_, held_[i].pinned = true;
        return i;
      }
    const int i = take();
    held_[i].key = key;
    if (key < 0) vmovups(v(i), ptr[rsp + (-1 - key) * full()]), held_[i].saved = true;
    else if (g_.inputs[key].lane == 0) spread(i, place(false, key));
    else vmovups(v(i), place(false, key));
    return i;
  }
  void done(int i) {
    if (i >= count_) return;  // turned inputs stay where they are
    held_[i].pinned = false;
    if (--left_[held_[i].key] == 0) release(i);
  }

#define RICCI_BY_TYPE(name, ...) (single() ? name##s(__VA_ARGS__) : name##d(__VA_ARGS__))

  /// f(x) in a register of its own.
  int applied(int x, function f) {
    const int y = take();
    switch (f) {
      case function::abs:
        if (single()) vpslld(v(y), v(x), 1), vpsrld(v(y), v(y), 1);
        else vpsllq(v(y), v(x), 1), vpsrlq(v(y), v(y), 1);
        break;
      case function::sqrt: RICCI_BY_TYPE(vsqrtp, v(y), v(x)); break;
      case function::rsqrt: {
        const int one = ones();
        RICCI_BY_TYPE(vsqrtp, v(y), v(x));
        RICCI_BY_TYPE(vdivp, v(y), v(one), v(y));
        release(one);
        break;
      }
      case function::reciprocal: {
        const int one = ones();
        RICCI_BY_TYPE(vdivp, v(y), v(one), v(x));
        release(one);
        break;
      }
      default: vmovups(v(y), v(x));
    }
    return y;
  }

  int ones() {
    const int i = take();
    if (single()) {
      mov(eax, 0x3f800000);
      vmovd(Xbyak::Xmm(i), eax);
    } else {
      mov(rax, std::uint64_t{0x3ff0000000000000});
      vmovq(Xbyak::Xmm(i), rax);
    }
    spread(i, Xbyak::Xmm(i));
    return i;
  }

  /// The term without its coefficient; the register is the caller's to change.
  int term(const pointwise_args::term& t) {
    if (t.count == 0) return ones();
    const pointwise_args::factor* f = g_.factors + t.first;
    const int x = get(f->input);
    const int p = applied(x, f->apply);
    done(x);
    for (int n = 1; n < t.count; ++n) {
      const int y = get(f[n].input);
      const bool divides = f[n].apply == function::reciprocal && t.how == combine::multiply;
      const int z = divides || f[n].apply == function::identity ? y : applied(y, f[n].apply);
      if (divides) RICCI_BY_TYPE(vdivp, v(p), v(p), v(z));
      else if (t.how == combine::multiply) RICCI_BY_TYPE(vmulp, v(p), v(p), v(z));
      else if (t.how == combine::minimum) RICCI_BY_TYPE(vminp, v(p), v(p), v(z));
      else RICCI_BY_TYPE(vmaxp, v(p), v(p), v(z));
      if (z != y) release(z);
      done(y);
    }
    return p;
  }

  void statement(int n) {
    const pointwise_args::statement& s = g_.statements[n];
    const int sum = take();
    bool fresh = true;
    if (const factor beta = r_.betas[n]; beta != factor::zero) {
      const Xbyak::Address old = place(true, s.output);
      vmovups(v(sum), old);
      if (beta == factor::minus_one || beta == factor::any) scale(sum, rcx, n, beta);
      fresh = false;
    }
    for (int t = s.first; t < s.first + s.count; ++t) add_term(sum, t, fresh), fresh = false;
    if (fresh) zero(sum);
    if (s.output >= 0) vmovups(place(true, s.output), v(sum));
    release(sum);
    if (s.kept) held_[sum] = {true, false, false, -1 - n, ++clock_};
  }

  void zero(int i) {
    if (wide()) vpxorq(v(i), v(i), v(i));
    else vxorps(v(i), v(i), v(i));
  }

  void scale(int i, const Xbyak::Reg64& from, int index, factor known) {
    if (known == factor::one) return;
    const int a = take();
    if (known == factor::minus_one) {
      zero(a);
      RICCI_BY_TYPE(vsubp, v(i), v(a), v(i));
    } else {
      spread(a, ptr[from + index * real()]);
      RICCI_BY_TYPE(vmulp, v(i), v(i), v(a));
    }
    release(a);
  }

  void add_term(int sum, int t, bool fresh) {
    const pointwise_args::term& x = g_.terms[t];
    const factor alpha = r_.alphas[static_cast<std::size_t>(t)];
    const pointwise_args::factor* f = g_.factors + x.first;
    const bool pair = x.count == 2 && x.how == combine::multiply && f[0].apply == function::identity &&
                      f[1].apply == function::identity && alpha != factor::any;
    if (!pair) {
      const int p = term(x);
      scale(p, rdx, t, alpha);
      if (fresh) vmovups(v(sum), v(p));
      else RICCI_BY_TYPE(vaddp, v(sum), v(sum), v(p));
      return release(p);
    }
    const int a = get(f[0].input), b = get(f[1].input);
    if (fresh && alpha == factor::minus_one) zero(sum);
    if (alpha == factor::minus_one) RICCI_BY_TYPE(vfnmadd231p, v(sum), v(a), v(b));
    else if (fresh) RICCI_BY_TYPE(vmulp, v(sum), v(a), v(b));
    else RICCI_BY_TYPE(vfmadd231p, v(sum), v(a), v(b));
    done(a);
    if (a != b) return done(b);
    if (b < count_ && --left_[f[1].input] == 0) release(b);
  }

#undef RICCI_BY_TYPE

  const pointwise_request& r_;
  const pointwise_args& g_;
  const std::vector<std::int64_t> steps_;
  int count_;                    // registers that may be taken
  int row_ = 0;                  // of those that are turned at once
  std::vector<int> turned_;      // inputs
  std::int64_t shift_ = 0;       // bytes along the lanes
  std::map<int, int> left_;      // how often a stream or value will be read
  std::map<int, bool> stored_;   // values on the stack
  content held_[32];
  int clock_ = 0;
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
  try {
    auto code = std::make_shared<pointwise_code>(r, t, steps);
    code->readyRE();
    const auto entry = code->getCode<pointwise_kernel::function>();
    return std::make_shared<const pointwise_kernel>(entry, std::move(code));
  } catch (const Xbyak::Error&) {
    return nullptr;
  }
}

}  // namespace ricci::codegen
