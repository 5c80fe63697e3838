// Half numbers for tile registers: each is the sum of two of bfloat16.
#include <algorithm>

#include "codegen/amx_code.hpp"

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

constexpr std::int64_t lanes = 16, together = 4;  // numbers of a vector, vectors between two jumps

}  // namespace

/// Rows of an operand that are split one after the other. Bytes; `from` is between rows of what is read.
struct amx_code::operand {
  std::int64_t problems, rows, width;
  std::int64_t from, next;  // to the next row and to the next problem
};

/// Rows that follow each other are one, and so are problems.
amx_code::operand amx_code::operand_of(bool a, std::int64_t times) const {
  const kernels::contract_args& x = request_.args;
  operand b = a ? operand{times, rows_, pairs_, 2 * x.row.a, step_a()} : operand{times, pairs_, lanes_, 2 * x.k_b, step_b()};
  if (b.rows == 1 || b.from == 2 * b.width) b.width *= b.rows, b.rows = 1;
  if (b.rows == 1 && b.next == 2 * b.width) b.width *= b.problems, b.problems = 1;
  return b;
}

void amx_code::use_split_masks(std::int64_t times) {
  for (const bool a : {true, false})
    if (const int rest = times ? static_cast<int>(operand_of(a, times).width % lanes) : 0) use_masks({{0, 0, rest, 64}});
}

/// Vector v behind the pointers, of `count` numbers, from half to its two parts; registers x to x + 2.
void amx_code::split_vector(bool a, int count, std::int64_t v, int x) {
  const Xbyak::Zmm high(x), low(x + 1), other(x + 2);
  const address from = ptr[stride_ + static_cast<int>(32 * v)];
  const auto to = [&](int part) { return ptr[line_ + static_cast<int>(64 * v + b_at(0, part) - b_at(0, 0))]; };
  if (count == lanes) vcvtph2ps(low, from);
  else vcvtph2ps(low | mask({0, 0, count, 64}) | T_z, from);
  vpandd(high, low, zmm31);
  vsubps(low, low, high);  // exact
  vpsrld(other, high, 16);
  if (a) {
    vpternlogd(other, low, zmm31, 0xf8);  // other | (low & upper words)
    return vmovups(ptr[line_ + static_cast<int>(64 * v)], other);
  }
  vpord(other, other, high);
  vmovups(to(0), other);
  vpsrld(other, low, 16);
  vpord(other, other, low);
  vmovups(to(1), other);
}

/// a or b of `times` problems into scratch memory; what a vector writes behind its numbers is written over by the next.
void amx_code::split(bool a, std::int64_t times) {
  const operand b = operand_of(a, times);
  const reg64 from = stride_, to = line_, left = rax;
  const auto vectors = [&](std::int64_t width) {
    for (std::int64_t v = 0; v * lanes < width; ++v)
      split_vector(a, static_cast<int>(std::min(lanes, width - v * lanes)), v, static_cast<int>(v % together * 3));
  };
  const auto loop = [&](std::int64_t count, std::int64_t step_from, std::int64_t step_to, std::int64_t width) {
    Xbyak::Label top;
    if (count == 0) return;
    if (count > 1) mov(left.cvt32(), static_cast<std::uint32_t>(count)), L(top);
    vectors(width);
    Xbyak::CodeGenerator::add(from, static_cast<int>(step_from));
    Xbyak::CodeGenerator::add(to, static_cast<int>(step_to));
    if (count > 1) dec(left.cvt32()), jnz(top, T_NEAR);
  };
  for (std::int64_t p = 0; p < b.problems; ++p) {
    lea(from, ptr[(a ? a_ : b_) + static_cast<int>(p * b.next)]);
    lea(to, ptr[rsp + static_cast<int>(a ? a_at(p) : b_at(p, 0))]);
    if (b.rows > 1) {
      loop(b.rows, b.from, 4 * b.width, b.width);
      continue;
    }
    const std::int64_t whole = b.width / (lanes * together);
    loop(whole, 32 * together, 64 * together, lanes * together);
    vectors(b.width - whole * lanes * together);
  }
}

/// c's update, unless a sum is not finite: then there were infinities or NaNs, and the problem is done number by number.
void amx_code::write_checked(std::int64_t p, factor beta) {
  constexpr int sums = 16, several = 4;
  Xbyak::Label good, done;
  for (int i = 0; i < several; ++i) vmovaps(Xbyak::Zmm(sums + i), zmm28);
  int next = 0;
  for (std::int64_t r = 0; r < rows_; ++r)
    for (std::int64_t j = 0; j < blocks_; ++j) {
      const lane_vector v = columns(j);
      const Xbyak::Zmm sum(sums + next++ % several);
      const address x = ptr[rsp + static_cast<int>(sums_at(p) + (j * rows_ + r) * 64)];
      partial(v) ? vfmadd231ps(sum | mask(v), zmm28, x) : vfmadd231ps(sum, zmm28, x);
    }
  for (int i = 1; i < several; ++i) vaddps(Xbyak::Zmm(sums), Xbyak::Zmm(sums), Xbyak::Zmm(sums + i));
  kmovw(eax, k7);  // may be the mask of a last vector
  vcmpps(k7, Xbyak::Zmm(sums), Xbyak::Zmm(sums), 3);
  kortestw(k7, k7);
  kmovw(k7, eax);
  jz(good, T_NEAR);
  redo(p);
  jmp(done, T_NEAR);
  L(good);
  finish(p, beta);
  L(done);
}

void amx_code::redo(std::int64_t p) {
  const reg64 kept[] = {a_, b_, c_, alpha_at_, beta_at_};
  const auto slot = [&](int i) { return qword[rsp + static_cast<int>(scratch_end() + 8 * (i + 1))]; };
  for (int i = 0; i < 5; ++i) mov(slot(i), kept[i]);
  const std::pair<reg64, std::int64_t> moves[] = {{a_, step_a()}, {b_, step_b()}, {c_, step_c()}};
  for (const auto& [x, step] : moves)
    if (p != 0 && step != 0) Xbyak::CodeGenerator::add(x, static_cast<int>(p * step));
  mov(rax, reinterpret_cast<std::uint64_t>(slow_->entry()));
  call(rax);
  for (int i = 0; i < 5; ++i) mov(kept[i], slot(i));
  set_registers();
}

}  // namespace ricci::codegen
