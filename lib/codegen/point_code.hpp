// Pointwise statements as straight code for one vector: what is read or computed stays in a register as long as there is
// one. Where streams lie in memory, and which values are in registers anyway, is for the class that writes the loops.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "codegen/pointwise.hpp"
#include "codegen/turn_code.hpp"

namespace ricci::codegen {

using kernels::pointwise_args;

/// Problems one after the other, where the others lie side by side.
inline bool is_turned(const pointwise_args::stream& s) { return s.lane != 0 && s.lane != 1; }

/// Bytes of an element.
inline int element_of(const pointwise_request& r) { return static_cast<int>(size_of(r.type)) * (r.pairs ? 2 : 1); }

/// rdx and rcx point to the coefficients of terms and statements, where any of these are only known at the run; [rsp] has a
/// place for each statement; rax is spoilt.
class point_code : public turn_code {
 protected:
  point_code(const pointwise_request& r, target t)
      : turn_code(4096, t, r.type == dtype::f32, element_of(r)), r_(r), g_(r.args), count_(t == target::avx512 ? 32 : 16) {
    for (int i = 0; i < g_.input_count; ++i)
      if (is_turned_here(i)) turned_.push_back(i);
    now_.count = full() / real(), now_.width = full();
  }

  /// Saves what the caller wants back, rbp and rbx and r12 to r15, and takes bytes of the stack, aligned for vectors.
  void open_frame(int bytes) {
    push(Xbyak::util::rbp);
    mov(Xbyak::util::rbp, rsp);
    for (const Xbyak::Reg64& x : saved_) push(x);
    sub(rsp, bytes);
    and_(rsp, -full());
  }
  void close_frame() {
    lea(rsp, ptr[Xbyak::util::rbp - static_cast<int>(8 * std::size(saved_))]);
    for (std::size_t i = std::size(saved_); i-- > 0;) pop(saved_[i]);
    pop(Xbyak::util::rbp);
    vzeroupper();
    ret();
  }

  /// Where the vector is that an input or output has now.
  virtual Xbyak::Address place(bool output, int index) = 0;
  /// The register, one behind those that may be taken, in which an input is all the time; -1: it is in memory.
  virtual int resident(int) const { return -1; }
  /// The register, one behind those that may be taken, for the result of a statement that nothing stores and no other
  /// statement reads; -1: none.
  virtual int left_in(int) const { return -1; }

  /// Elements of 16 bytes need not be turned: registers are put together from them.
  bool is_in_pieces(int input) const { return is_turned(g_.inputs[input]) && element() == 16; }
  bool is_turned_here(int input) const { return is_turned(g_.inputs[input]) && element() < 16; }

  /// All statements for one vector.
  void write_statements() {
    count_uses();
    for (int n = 0; n < g_.statement_count; ++n) statement(n);
    for (const auto& [from, to] : results_) vmovaps(v(to), v(from));
    results_.clear();
    for (const auto& [from, output] : late_) write(place(true, output), from);
    late_.clear();
  }

  Xbyak::Xmm v(int i) const { return reg(i, full()); }

  /// Whether rdx and rcx are needed.
  bool reads_alphas() const { return std::count(r_.alphas.begin(), r_.alphas.end(), factor::any) > 0; }
  bool reads_betas() const { return std::count(r_.betas.begin(), r_.betas.end(), factor::any) > 0; }

  /// AVX2: what a partial vector needs beside those that may be taken.
  static constexpr int spare_register = 14, partial_mask = 15;

  const pointwise_request& r_;
  const pointwise_args& g_;
  int count_;                    // registers that may be taken
  lane_vector now_;              // the vector that statements are for; of a partial one use_masks() knows
  std::vector<int> turned_;      // inputs

 private:
  const Xbyak::Reg64 saved_[5] = {Xbyak::util::rbx, Xbyak::util::r12, Xbyak::util::r13, Xbyak::util::r14, Xbyak::util::r15};

  /// What a register holds: a stream (its index), the value of a statement (-1 - s), or nothing.
  struct content {
    bool used = false, saved = false, pinned = false;
    int key = 0, last = 0;
  };

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

  void spread(int i, const Xbyak::Operand& from) {
    if (single()) vbroadcastss(v(i), from);
    else if (wide()) vbroadcastsd(Xbyak::Zmm(i), from);
    else vbroadcastsd(Xbyak::Ymm(i), from);
  }

  void spread_pair(int i, const Xbyak::Address& from) {
    if (single() && wide()) vbroadcastsd(Xbyak::Zmm(i), from);
    else if (single()) vbroadcastsd(Xbyak::Ymm(i), from);
    else if (wide()) vbroadcastf32x4(Xbyak::Zmm(i), from);
    else vbroadcastf128(Xbyak::Ymm(i), from);
  }

  /// Behind the last lane there is none, and it is read again.
  void read_pieces(int i, const Xbyak::RegExp& first, std::int64_t lane) {
    load_pieces(i, [&](int p) { return ptr[first + static_cast<std::size_t>(std::min(p, now_.count / 2 - 1) * lane * 16)]; });
  }

  void write(const address& to, int i) {
    if (!partial(now_)) vmovups(to, v(i));
    else if (!wide()) store(i, now_, to.getRegExp(), spare_register, true);
    else if (single()) vmovups(to | mask(now_), v(i));
    else vmovupd(to | mask(now_), v(i));
  }

  /// The factor in a register, pinned until done() with it.
  int get(int key) {
    if (const int x = key < 0 ? -1 : resident(key); x >= 0) return x;
    for (int i = 0; i < count_; ++i)
      if (held_[i].used && held_[i].key == key) {
        held_[i].last = ++clock_, held_[i].pinned = true;
        return i;
      }
    const int i = take();
    held_[i].key = key;
    if (key < 0) vmovups(v(i), ptr[rsp + (-1 - key) * full()]), held_[i].saved = true;
    else if (g_.inputs[key].lane == 0 && r_.pairs) spread_pair(i, place(false, key));
    else if (g_.inputs[key].lane == 0) spread(i, place(false, key));
    else if (is_in_pieces(key)) read_pieces(i, place(false, key).getRegExp(), g_.inputs[key].lane);
    else load(i, now_, place(false, key));
    return i;
  }
  void done(int i) {
    if (i >= count_) return;  // residents stay where they are
    held_[i].pinned = false;
    if (--left_[held_[i].key] == 0) release(i);
  }

#define RICCI_BY_TYPE(name, ...) (single() ? name##s(__VA_ARGS__) : name##d(__VA_ARGS__))

  /// to = x / y. Lanes behind the last element do not divide 0 by 0: programs may trap invalid operations.
  void divide(int to, int x, int y) {
    const Xbyak::Xmm lanes = partial(now_) ? v(to) | mask(now_) | Xbyak::util::T_z : v(to);
    RICCI_BY_TYPE(vdivp, lanes, v(x), v(y));
  }

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
        divide(y, one, y);
        release(one);
        break;
      }
      case function::reciprocal: {
        const int one = ones();
        divide(y, one, x);
        release(one);
        break;
      }
      default: vmovups(v(y), v(x));
    }
    return y;
  }

  /// to = (re, im) for re and im of every pair in turn.
  void swap_parts(int to, int from) {
    if (single()) vpermilps(v(to), v(from), 0xb1);
    else vpermilpd(v(to), v(from), 0x55);
  }

  void conjugate(int to, int from) {
    const address signs = ptr[rip + pairs(0.0, -0.0)];
    if (wide()) vpxorq(v(to), v(from), signs);
    else vxorps(v(to), v(from), signs);
  }

  /// p = p * z, complex.
  void multiply_pairs(int p, int z) {
    const int im = take(), crossed = take();
    swap_parts(crossed, z);
    if (single()) vmovshdup(v(im), v(p)), vmovsldup(v(p), v(p));
    else vpermilpd(v(im), v(p), 0xff), vmovddup(v(p), v(p));
    RICCI_BY_TYPE(vmulp, v(crossed), v(crossed), v(im));
    RICCI_BY_TYPE(vfmaddsub213p, v(p), v(z), v(crossed));
    release(im), release(crossed);
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
    if (f->conj) conjugate(p, p);
    done(x);
    for (int n = 1; n < t.count; ++n) {
      const int y = get(f[n].input);
      const bool divides = f[n].apply == function::reciprocal && t.how == combine::multiply;
      const bool as_it_is = (divides || f[n].apply == function::identity) && !f[n].conj;
      const int z = as_it_is ? y : applied(y, f[n].apply);
      if (f[n].conj) conjugate(z, z);
      if (r_.pairs) multiply_pairs(p, z);
      else if (divides) divide(p, p, z);
      else if (t.how == combine::multiply) RICCI_BY_TYPE(vmulp, v(p), v(p), v(z));
      else if (t.how == combine::minimum) RICCI_BY_TYPE(vminp, v(p), v(z), v(p));  // of NaN and a number the last one
      else RICCI_BY_TYPE(vmaxp, v(p), v(z), v(p));
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
      load(sum, now_, place(true, s.output));
      if (beta == factor::minus_one || beta == factor::any) scale(sum, rcx, n, beta);
      fresh = false;
    }
    for (int t = s.first; t < s.first + s.count; ++t) add_term(sum, t, fresh), fresh = false;
    if (fresh) zero(sum);
    if (const int to = left_in(n); to >= 0) {
      results_.push_back({sum, to});  // a resident may still be read: moved behind all statements
      held_[sum] = {true, true, true, -1 - n, ++clock_};
      return;
    }
    if (std::count(r_.late.begin(), r_.late.end(), n) > 0) {
      late_.push_back({sum, s.output});
      held_[sum] = {true, true, true, -1 - n, ++clock_};
      return;
    }
    if (s.output >= 0 && r_.streams) vmovntps(place(true, s.output), v(sum));
    else if (s.output >= 0) write(place(true, s.output), sum);
    release(sum);
    if (s.kept) held_[sum] = {true, false, false, -1 - n, ++clock_};
  }

  void zero(int i) {
    if (wide()) vpxorq(v(i), v(i), v(i));
    else vxorps(v(i), v(i), v(i));
  }
  /// From this what is subtracted keeps the sign of its zeros: 0 - 0 is 0, not -0.
  void minus_zero(int i) {
    if (wide()) vpternlogd(v(i), v(i), v(i), 0xff);
    else vpcmpeqd(v(i), v(i), v(i));
    if (single()) vpslld(v(i), v(i), 31);
    else vpsllq(v(i), v(i), 63);
  }

  void scale(int i, const Xbyak::Reg64& from, int index, factor known) {
    if (known == factor::one) return;
    const int a = take();
    if (known == factor::minus_one) {
      minus_zero(a);
      RICCI_BY_TYPE(vsubp, v(i), v(a), v(i));
    } else if (r_.pairs) {
      const int crossed = take();
      swap_parts(crossed, i);
      spread(a, ptr[from + (2 * index + 1) * real()]);
      RICCI_BY_TYPE(vmulp, v(crossed), v(crossed), v(a));
      spread(a, ptr[from + 2 * index * real()]);
      RICCI_BY_TYPE(vfmaddsub213p, v(i), v(a), v(crossed));
      release(crossed);
    } else {
      spread(a, ptr[from + index * real()]);
      RICCI_BY_TYPE(vmulp, v(i), v(i), v(a));
    }
    release(a);
  }

  /// A term of one factor as it is.
  void add_stream(int sum, int t, int input, bool fresh) {
    const factor alpha = r_.alphas[static_cast<std::size_t>(t)];
    const int x = get(input);
    if (alpha != factor::one && alpha != factor::minus_one) {
      const int a = take();
      spread(a, ptr[Xbyak::util::rdx + t * real()]);
      if (fresh) RICCI_BY_TYPE(vmulp, v(sum), v(x), v(a));
      else RICCI_BY_TYPE(vfmadd231p, v(sum), v(x), v(a));
      release(a);
    } else if (fresh) {
      vmovups(v(sum), v(x));
    } else if (alpha == factor::one) {
      RICCI_BY_TYPE(vaddp, v(sum), v(sum), v(x));
    } else {
      RICCI_BY_TYPE(vsubp, v(sum), v(sum), v(x));
    }
    done(x);
  }

  void add_term(int sum, int t, bool fresh) {
    const pointwise_args::term& x = g_.terms[t];
    const factor alpha = r_.alphas[static_cast<std::size_t>(t)];
    const pointwise_args::factor* f = g_.factors + x.first;
    const bool known = alpha == factor::one || alpha == factor::minus_one;
    const bool stream = x.count == 1 && f->apply == function::identity && !f->conj && (known || !r_.pairs) && !(fresh && alpha == factor::minus_one);
    if (stream) return add_stream(sum, t, f->input, fresh);
    const bool pair = !r_.pairs && x.count == 2 && x.how == combine::multiply && f[0].apply == function::identity &&
                      f[1].apply == function::identity && known;
    if (!pair) {
      const int p = term(x);
      scale(p, rdx, t, alpha);
      if (fresh) vmovups(v(sum), v(p));
      else RICCI_BY_TYPE(vaddp, v(sum), v(sum), v(p));
      return release(p);
    }
    const int a = get(f[0].input), b = get(f[1].input);
    if (fresh && alpha == factor::minus_one) minus_zero(sum);
    if (alpha == factor::minus_one) RICCI_BY_TYPE(vfnmadd231p, v(sum), v(a), v(b));
    else if (fresh) RICCI_BY_TYPE(vmulp, v(sum), v(a), v(b));
    else RICCI_BY_TYPE(vfmadd231p, v(sum), v(a), v(b));
    done(a);
    if (a != b) return done(b);
    if (b < count_ && --left_[f[1].input] == 0) release(b);
  }

#undef RICCI_BY_TYPE

  std::map<int, int> left_;      // how often a stream or value will be read
  std::map<int, bool> stored_;   // values on the stack
  std::vector<std::pair<int, int>> results_;  // registers, and where their values go
  std::vector<std::pair<int, int>> late_;     // the same, to outputs
  content held_[32];
  int clock_ = 0;
};

}  // namespace ricci::codegen
