// Vector instructions for registers of any width, whole or partial, on AVX2 and AVX-512.
#pragma once

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <bit>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>

#include "codegen/nest.hpp"

namespace ricci::codegen {

class vector_code : public Xbyak::CodeGenerator {
 public:
  vector_code(std::size_t bytes, target t, bool single)
      : Xbyak::CodeGenerator(bytes, Xbyak::AutoGrow), wide_(t == target::avx512), single_(single), full_(wide_ ? 64 : 32) {}

 protected:
  using address = Xbyak::Address;
  using reg64 = Xbyak::Reg64;

  bool wide() const { return wide_; }
  bool single() const { return single_; }
  int real() const { return single_ ? 4 : 8; }
  int full() const { return full_; }  // bytes of a register

  /// From now on a register is its first 16 bytes.
  void use_quarters() { full_ = 16; }

  /// Register i as one of `bytes` bytes.
  static Xbyak::Xmm reg(int i, int bytes) {
    if (bytes == 64) return Xbyak::Zmm(i);
    if (bytes == 32) return Xbyak::Ymm(i);
    return Xbyak::Xmm(i);
  }

  /// An offset that no instruction holds is a kernel that is not written: the compiled ones do it.
  address at(const reg64& base, std::int64_t offset) {
    if (offset != static_cast<std::int32_t>(offset)) throw Xbyak::Error(Xbyak::ERR_OFFSET_IS_TOO_BIG);
    return ptr[base + static_cast<int>(offset)];
  }

  bool partial(const lane_vector& v) const { return v.count * real() < v.width; }

  /// Prepares the masks of all partial vectors: k registers, or constants behind the code.
  void use_masks(const std::vector<lane_vector>& vectors) {
    for (const lane_vector& v : vectors) {
      if (!partial(v) || masks_.count(v.count)) continue;
      const int next = static_cast<int>(masks_.size()) + 1;
      masks_[v.count] = next;
      if (!wide_) continue;
      mov(eax, (1 << v.count) - 1);
      kmovw(Xbyak::Opmask(next), eax);
    }
  }

  /// The same masks again, after a call.
  void restore_masks() {
    for (const auto& [count, i] : masks_) mov(eax, (1 << count) - 1), kmovw(Xbyak::Opmask(i), eax);
  }

  /// AVX2: the register that keeps the mask of the one partial vector, where an instruction needs one.
  void keep_mask(int i) { mask_register_ = i; }
  void load_mask(const lane_vector& v) {
    if (wide_ || !needs_mask(v)) return;
    vmovups(reg(mask_register_, v.width), ptr[rip + mask_constants_[v.count]]);
  }
  bool needs_mask(const lane_vector& v) const {
    if (!partial(v)) return false;
    return !(v.count == 1 || (single_ && v.count == 2));
  }

  /// The lanes of v from 16-bit numbers. AVX-512.
  void load_narrow(int i, const lane_vector& v, const address& from, dtype stored) {
    auto to = reg(i, v.width);
    if (partial(v)) to = to | mask(v) | Xbyak::util::T_z;
    if (stored == dtype::f16) return vcvtph2ps(to, from);
    vpmovzxwd(to, from);
    vpslld(reg(i, v.width), reg(i, v.width), 16);
  }

  /// Rounds the lanes of v to 16 bits, to nearest and ties to even, and stores them; both registers are spoilt.
  /// exact: as store().
  void store_narrow(int i, const lane_vector& v, const address& to, int spare, dtype stored, bool exact) {
    const address where = partial(v) ? to | mask(v) : to;
    exact = exact && partial(v);
    const auto x = reg(i, v.width), y = reg(spare, v.width);
    const auto half = v.width == 64 ? static_cast<Xbyak::Xmm>(Xbyak::Ymm(spare)) : Xbyak::Xmm(spare);
    if (stored == dtype::f16) {
      vcvtps2ph(half, x, 0);  // the form that stores is slower
    } else if (rounds_bfloat16()) {
      vcvtneps2bf16(half, x, Xbyak::EvexEncoding);
    } else {
      round_to_bfloat16(x, y);
      if (!partial(v)) return vpmovdw(to, y);
      vpmovdw(half, y);
    }
    if (exact) return store_pieces(spare, v.count, to);
    if (partial(v)) return vmovdqu16(where, half);
    v.width == 16 ? vmovq(to, half) : vmovups(to, half);
  }

  /// The upper halves of x's lanes, rounded, in the lower halves of y's; NaNs become quiet.
  void round_to_bfloat16(const Xbyak::Xmm& x, const Xbyak::Xmm& y) {
    const Xbyak::Opmask nan(7);
    vpsrld(y, x, 16);
    vpandd(y, y, ptr[rip + words(1)]);
    vpaddd(y, y, ptr[rip + words(0x7fff)]);
    vcmpps(nan, x, x, 3);
    vpaddd(y, y, x);
    vpsrld(y, y, 16);
    vpsrld(x, x, 16);
    vpord(y | nan, x, ptr[rip + words(0x40)]);
  }

  /// The first `count` 16-bit numbers of a register of 32 bytes, none behind them touched.
  void store_pieces(int i, int count, const address& to) {
    const Xbyak::Xmm x(i);
    int at = 0;
    const auto place = [&] { return ptr[to.getRegExp() + at]; };
    if (count & 8) vmovups(place(), x), vextracti32x4(x, Xbyak::Ymm(i), 1), at += 16;
    if (count & 4) vmovlps(place(), x), vpsrldq(x, x, 8), at += 8;
    if (count & 2) vmovd(place(), x), vpsrldq(x, x, 4), at += 4;
    if (count & 1) vpextrw(place(), x, 0);
  }

  /// Whether the processor rounds to bfloat16 itself: as below, but subnormal numbers become zero.
  static bool rounds_bfloat16() {
    static const bool found = __builtin_cpu_supports("avx512bf16");
    return found;
  }

  /// The lanes of v; the others of the register become zero.
  void load(int i, const lane_vector& v, const address& from) {
    if (!partial(v)) return vmovups(reg(i, v.width), from);
    if (v.count == 1) return single_ ? vmovss(Xbyak::Xmm(i), from) : vmovsd(Xbyak::Xmm(i), from);
    if (single_ && v.count == 2) return vmovsd(Xbyak::Xmm(i), from);
    if (wide_) return move(reg(i, v.width) | mask(v) | Xbyak::util::T_z, from);
    if (single_) vmaskmovps(reg(i, v.width), reg(mask_register_, v.width), from);
    else vmaskmovpd(reg(i, v.width), reg(mask_register_, v.width), from);
  }

  /// Stores the lanes of v. In pieces, with the help of `spare`, for AVX2, whose masked store is slow on many machines,
  /// and where `exact`: a load that touches the idle lanes of a masked store has to wait until it is in the cache.
  void store(int i, const lane_vector& v, const reg64& base, std::int64_t offset, int spare, bool exact) {
    store(i, v, base + static_cast<int>(offset), spare, exact);
  }
  void store(int i, const lane_vector& v, const Xbyak::RegExp& to, int spare, bool exact) {
    const auto place = [&](std::int64_t bytes) { return ptr[to + static_cast<std::size_t>(bytes)]; };
    if (!partial(v)) return vmovups(place(0), reg(i, v.width));
    if (wide_ && !exact && needs_mask(v)) return move(place(0) | mask(v), reg(i, v.width));
    int from = i, rest = v.count, width = v.width;
    std::int64_t offset = 0;
    for (int half = width / 2 / real(); width > 16; half /= 2) {
      width /= 2;
      if (rest < half) continue;
      vmovups(place(offset), reg(from, width));
      rest -= half, offset += width;
      if (rest == 0) return;
      if (width == 32) vextractf64x4(Xbyak::Ymm(spare), Xbyak::Zmm(from), 1);
      else if (from >= 16 || spare >= 16) vextractf32x4(Xbyak::Xmm(spare), Xbyak::Ymm(from), 1);
      else vextractf128(Xbyak::Xmm(spare), Xbyak::Ymm(from), 1);
      from = spare;
    }
    if (!single_) return vmovsd(place(offset), Xbyak::Xmm(from));
    if (rest >= 2) vmovlps(place(offset), Xbyak::Xmm(from));
    if (rest == 3) vextractps(place(offset + 8), Xbyak::Xmm(from), 2);
    if (rest == 1) vmovss(place(offset), Xbyak::Xmm(from));
  }

  /// Register i put together from 16 bytes at piece(0), piece(1), ...
  template <class Piece> void load_pieces(int i, const Piece& piece) {
    vmovups(Xbyak::Xmm(i), piece(0));
    if (full() == 16) return;
    if (i < 16) vinsertf128(Xbyak::Ymm(i), Xbyak::Ymm(i), piece(1), 1);
    else vinsertf32x4(Xbyak::Ymm(i), Xbyak::Ymm(i), piece(1), 1);
    for (int p = 2; p < full() / 16; ++p) vinsertf32x4(Xbyak::Zmm(i), Xbyak::Zmm(i), piece(p), static_cast<std::uint8_t>(p));
  }

  /// Transposes four floats of four registers within each 16 bytes: registers from, from + 1, .. to, to + 1, .. (the first `count`), which
  /// may be the same; spoils the four behind `from`.
  void turn_pieces(int from, int to, int count = 4) {
    const auto v = [&](int i) { return reg(i, full()); };
    vunpcklps(v(from + 4), v(from), v(from + 1)), vunpcklps(v(from + 5), v(from + 2), v(from + 3));
    if (count > 2) vunpckhps(v(from + 6), v(from), v(from + 1)), vunpckhps(v(from + 7), v(from + 2), v(from + 3));
    for (int i = 0; i < count; ++i) {
      if (i % 2 == 0) vunpcklpd(v(to + i), v(from + 4 + i), v(from + 5 + i));
      else vunpckhpd(v(to + i), v(from + 3 + i), v(from + 4 + i));
    }
  }

  /// Goes to `zero` if the number that `at` points to is zero: all of its one or two parts.
  void jump_if_zero(const reg64& at, int parts, Xbyak::Label& zero) {
    using namespace Xbyak::util;
    const Xbyak::Reg bits = single() ? static_cast<const Xbyak::Reg&>(eax) : static_cast<const Xbyak::Reg&>(rax);
    mov(bits, ptr[at]);
    if (parts == 2) or_(bits, ptr[at + real()]);
    Xbyak::CodeGenerator::add(bits, bits);  // without the sign
    jz(zero, T_NEAR);
  }

  /// What `write` writes for a known beta; for any other twice: zero, as r8 points to it, has code of its own, and the rest has it in register i,
  /// or the first of its two parts.
  template <class Write> void write_for(factor beta, int i, const Write& write, int parts = 1) {
    if (beta != factor::any) return write(beta);
    using namespace Xbyak::util;
    Xbyak::Label zero, done;
    broadcast(i, full(), ptr[r8]);
    jump_if_zero(r8, parts, zero);
    write(factor::any);
    jmp(done, T_NEAR);
    L(zero);
    write(factor::zero);
    L(done);
  }

  void step(const reg64& p, std::int64_t bytes) {
    if (bytes != 0) Xbyak::CodeGenerator::add(p, static_cast<int>(bytes));
  }

  /// `inside`, in the first `left` of up to four loops, the last outermost, which move rdi, rsi and rdx by a, b and c of their axes and back.
  template <class Axes, class Inside> void write_loops(const Axes& axes, std::size_t left, const Inside& inside) {
    if (left == 0) return inside();
    using namespace Xbyak::util;
    const reg64 counters[] = {r9, r11, r8, rcx}, counter = counters[left - 1];
    const auto& x = axes[left - 1];
    Xbyak::Label next;
    mov(counter, x.extent);
    L(next);
    write_loops(axes, left - 1, inside);
    step(rdi, x.a), step(rsi, x.b), step(rdx, x.c);
    dec(counter);
    jnz(next, T_NEAR);
    step(rdi, -x.a * x.extent), step(rsi, -x.b * x.extent), step(rdx, -x.c * x.extent);
  }

  void broadcast(int i, int width, const address& from) {
    if (single_) return vbroadcastss(reg(i, width), from);
    if (width == 16) return vmovddup(Xbyak::Xmm(i), from);
    vbroadcastsd(width == 64 ? static_cast<Xbyak::Ymm>(Xbyak::Zmm(i)) : Xbyak::Ymm(i), from);
  }

  void clear(int i, int width) {
    if (width == 64) vpxord(Xbyak::Zmm(i), Xbyak::Zmm(i), Xbyak::Zmm(i));
    else if (i >= 16) vpxord(reg(i, width), reg(i, width), reg(i, width));
    else vxorps(reg(i, width), reg(i, width), reg(i, width));
  }

  void mul(const Xbyak::Xmm& d, const Xbyak::Xmm& x, const Xbyak::Operand& y) {
    if (single_) vmulps(d, x, y);
    else vmulpd(d, x, y);
  }
  void add(const Xbyak::Xmm& d, const Xbyak::Xmm& x, const Xbyak::Operand& y) {
    if (single_) vaddps(d, x, y);
    else vaddpd(d, x, y);
  }
  using Xbyak::CodeGenerator::add;
  using Xbyak::CodeGenerator::mul;
  /// d += x y, or d -= x y.
  void fma(const Xbyak::Xmm& d, const Xbyak::Xmm& x, const Xbyak::Operand& y, bool minus = false) {
    if (minus) return single_ ? vfnmadd231ps(d, x, y) : vfnmadd231pd(d, x, y);
    return single_ ? vfmadd231ps(d, x, y) : vfmadd231pd(d, x, y);
  }
  /// (re, im) -> (im, re) in each pair.
  void swap_pairs(const Xbyak::Xmm& d, const Xbyak::Xmm& x) {
    if (single_) vpermilps(d, x, 0xb1);
    else vpermilpd(d, x, 0x55);
  }
  /// (re, re), and (im, im).
  void both_even(const Xbyak::Xmm& d, const Xbyak::Xmm& x) {
    if (single_) vmovsldup(d, x);
    else vmovddup(d, x);
  }
  void both_odd(const Xbyak::Xmm& d, const Xbyak::Xmm& x) {
    if (single_) vmovshdup(d, x);
    else vpermilpd(d, x, 0xff);
  }

  Xbyak::Opmask mask(const lane_vector& v) const { return Xbyak::Opmask(masks_.at(v.count)); }

  /// Constants behind the code: every pair of reals in a vector is (x, y).
  const Xbyak::Label& pairs(double x, double y) { return pair_constants_[{bits_of(x), bits_of(y)}]; }

  /// Constants behind the code: 32-bit integers.
  const Xbyak::Label& words(std::uint32_t x) { return word_constants_[x]; }

  void write_constants() {
    for (auto& [x, label] : word_constants_) {
      align(64);
      L(label);
      for (int i = 0; i < 16; ++i) dd(x);
    }
    for (auto& [key, label] : pair_constants_) {
      align(64);
      L(label);
      for (int i = 0; i < 64 / real(); ++i) write_real(__builtin_bit_cast(double, i % 2 ? key.second : key.first));
    }
    for (auto& [count, label] : mask_constants_) {
      align(32);
      L(label);
      for (int i = 0; i < 32 / real(); ++i)
        for (int k = 0; k < real(); ++k) db(i < count ? 0xff : 0);
    }
  }

 private:
  static std::uint64_t bits_of(double x) { return __builtin_bit_cast(std::uint64_t, x); }

  template <class D> void move(const D& to, const Xbyak::Operand& from) {
    if (single_) vmovups(to, from);
    else vmovupd(to, from);
  }
  void move(const address& to, const Xbyak::Xmm& from) {
    if (single_) vmovups(to, from);
    else vmovupd(to, from);
  }

  void write_real(double x) {
    if (single_) {
      dd(__builtin_bit_cast(std::uint32_t, static_cast<float>(x)));
    } else {
      dq(__builtin_bit_cast(std::uint64_t, x));
    }
  }

  bool wide_, single_;
  int full_;
  int mask_register_ = -1;
  std::map<int, int> masks_;                 // count -> k register
  std::map<int, Xbyak::Label> mask_constants_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Xbyak::Label> pair_constants_;  // by bits: -0 is not 0
  std::map<std::uint32_t, Xbyak::Label> word_constants_;
};

/// Counts memory that holds code: what grows doubles, so that is the next power of two.
void count_written(std::size_t bytes);

/// The kernel whose code a Code made of `arguments` is. Null where there is no memory that may be executed, or an offset
/// is too far.
template <class Kernel, class Code, class... Arguments>
std::shared_ptr<const Kernel> written(const Arguments&... arguments) {
  try {
    auto code = std::make_shared<Code>(arguments...);
    code->readyRE();
    const auto entry = code->template getCode<typename Kernel::function>();
    const std::size_t bytes = code->getSize();
    count_written(std::bit_ceil(bytes));
    if constexpr (std::is_same_v<Kernel, kernel>) {
      return std::make_shared<const Kernel>(entry, std::move(code), bytes);
    } else {
      return std::make_shared<const Kernel>(entry, std::move(code));
    }
  } catch (const Xbyak::Error&) {
    return nullptr;
  }
}

}  // namespace ricci::codegen
