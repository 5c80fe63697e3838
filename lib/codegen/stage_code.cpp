// 16-bit operands turned into float before the tiles of an iteration, in scratch on the stack.
#include <algorithm>

#include "codegen/contract_code.hpp"

namespace ricci::codegen {

using namespace Xbyak::util;

namespace {

constexpr std::int64_t stack_page = 4096, group = 8;  // vectors that are converted between two jumps

}  // namespace

/// The stack below the saved registers: counters that found no register, and for staged operands their pointers, the
/// caller's rsp and the scratch, on whole lines.
void contract_code::open_frame(std::size_t spilled) {
  std::int64_t scratch = 0;
  for (const nest& n : nests_)
    for (const auto* b : {&n.stage_a, &n.stage_b})
      if (*b) scratch = std::max(scratch, (*b)->at + ((*b)->bytes() * n.chunk + 127) / 64 * 64);
  frame_ = static_cast<std::int64_t>(8 * spilled);
  if (scratch == 0) {
    if (frame_) sub(rsp, static_cast<int>(frame_));
    return;
  }
  slots_ = static_cast<int>(frame_) + 8;
  scratch_ = (slots_ + 24 + 63) / 64 * 64;
  frame_ = scratch_ + scratch;
  for (std::int64_t at = stack_page; at < frame_ + stack_page; at += stack_page)  // the stack grows page by page
    test(ptr[rsp - static_cast<int>(at)], eax);
  mov(rax, rsp);
  sub(rsp, static_cast<int>(frame_));
  and_(rsp, -64);
  mov(qword[rsp + slots_ + 16], rax);
  mov(qword[rsp + slots_], a_);
  mov(qword[rsp + slots_ + 8], b_);
}

void contract_code::close_frame() {
  if (scratch_) mov(rsp, qword[rsp + slots_ + 16]);
  else if (frame_) Xbyak::CodeGenerator::add(rsp, static_cast<int>(frame_));
}

void contract_code::move_pointer(const reg64& p, std::int64_t bytes) {
  const int slot = slot_of(p);
  if (bytes == 0) return;
  if (slot) Xbyak::CodeGenerator::add(qword[rsp + slot], static_cast<int>(bytes));
  else if (bytes > 0) Xbyak::CodeGenerator::add(p, static_cast<int>(bytes));
  else sub(p, static_cast<int>(-bytes));
}

void contract_code::use_stage_masks(const nest& n) {
  for (const auto* b : {&n.stage_a, &n.stage_b}) {
    if (!*b) continue;
    const std::int64_t last = n.chunk > 1 ? n.loops[0].count % n.chunk : 0;
    for (const std::int64_t times : {n.chunk, last})
      if (const int rest = static_cast<int>((*b)->width * times % 16)) use_masks({{0, 0, rest, 64}});
  }
}

/// `chunk` iterations at a time of the innermost loop: their operands are staged, then the tiles run.
void contract_code::write_chunks(const nest& n) {
  const code_loop& l = n.loops[0];
  const std::int64_t whole = l.count / n.chunk, rest = l.count % n.chunk;
  const loops each{{n.chunk, 4 * n.stage_a->width, n.stage_b ? 4 * n.stage_b->width : l.b, l.c}};
  const auto some = [&](std::int64_t times) {
    stage_operands(n, times);
    outside_ = false;
    loops inner = each;
    inner[0].count = times;
    in_loops(inner, times > 1 ? 1 : 0, [&] { write_tiles(n); });
    outside_ = true;
  };
  const loops chunks{{whole, n.chunk * l.a, n.chunk * l.b, n.chunk * l.c}};
  in_loops(chunks, whole > 1 ? 1 : 0, [&] { some(n.chunk); });
  if (rest == 0) return;
  const auto move = [&](std::int64_t times) {
    move_pointer(a_, times * l.a), move_pointer(b_, times * l.b), move_pointer(c_, times * l.c);
  };
  move(whole * n.chunk);
  some(rest);
  move(-whole * n.chunk);
}

void contract_code::stage_operands(const nest& n, std::int64_t times) {
  if (n.stage_a) {
    stage(*n.stage_a, times, request_.type_a, slots_);
    lea(a_, ptr[rsp + scratch_ + static_cast<int>(n.stage_a->at)]);
  }
  if (n.stage_b) {
    stage(*n.stage_b, times, request_.type_b, slots_ + 8);
    lea(b_, ptr[rsp + scratch_ + static_cast<int>(n.stage_b->at)]);
  }
}

void contract_code::stage(const staged_block& one, std::int64_t times, dtype type, int slot) {
  staged_block b = one;
  b.width *= times;
  const reg64 from = rax, to = r11, left = r10;
  const std::int64_t vectors = (b.width + 15) / 16;
  mov(from, qword[rsp + slot]);
  lea(to, ptr[rsp + scratch_ + static_cast<int>(b.at)]);
  const auto convert = [&](std::int64_t first, std::int64_t last, std::int64_t shift) {  // vectors of a row
    for (std::int64_t v = first; v < last; ++v) {
      const int i = static_cast<int>(v % group);
      const int count = static_cast<int>(std::min<std::int64_t>(16, b.width - (shift + v) * 16));
      load_narrow(i, {0, 0, count, 64}, at(from, 32 * v), type);
      vmovups(at(to, 64 * v), Xbyak::Zmm(i));
    }
  };
  const auto loop = [&](std::int64_t count, std::int64_t step_from, std::int64_t step_to, auto&& body) {
    Xbyak::Label top;
    if (count > 1) mov(left.cvt32(), static_cast<std::uint32_t>(count)), L(top);
    body();
    if (step_from) Xbyak::CodeGenerator::add(from, static_cast<int>(step_from));
    Xbyak::CodeGenerator::add(to, static_cast<int>(step_to));
    if (count > 1) dec(left.cvt32()), jnz(top, T_NEAR);
  };
  if (b.rows > 1) return loop(b.rows, b.from, b.to, [&] { convert(0, vectors, 0); });
  const std::int64_t whole = b.width / 16 / group > 2 ? b.width / 16 / group : 0;
  if (whole) loop(whole, 32 * group, 64 * group, [&] { convert(0, group, 0); });
  convert(0, vectors - whole * group, whole * group);
}

}  // namespace ricci::codegen
