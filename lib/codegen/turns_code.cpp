// Writes copies that transpose. A register is put together from pieces of 16 bytes of its rows, a load and an insertion
// each, so that what is left to transpose lies within pieces.
#include "codegen/turns.hpp"

#include <algorithm>

#include "codegen/turn_code.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr std::int64_t most_turn_offset = std::int64_t{1} << 28;  // bytes

class turns_code : public vector_code {
 public:
  turns_code(const turn_request& r, target t)
      : vector_code(4096, t, r.size == 4), r_(r), across_(full() / real()), piece_(16 / real()) {
    in_loops(2);
    vzeroupper();
    ret();
  }

 private:
  Xbyak::Reg64 from() const { return rsi; }
  Xbyak::Reg64 to() const { return rdx; }

  void in_loops(int left) {
    if (left == 0) return columns();
    const int l = left - 1;
    repeat(l == 0 ? r10 : r11, r_.loops[l], r_.from_loops[l] * real(), r_.to_loops[l] * real(), [&] { in_loops(l); });
  }

  /// Registers of x, the last of which may begin before the one before ends: it writes the same again.
  void columns() {
    const std::int64_t whole = r_.x / across_, rest = r_.x % across_;
    repeat(r8, whole, across_ * r_.from_x * real(), across_ * real(), [&] { rows(); });
    if (rest == 0) return;
    const std::int64_t at = r_.x - across_;
    move(at * r_.from_x * real(), at * real());
    rows();
    move(-at * r_.from_x * real(), -at * real());
  }

  /// All of y, a line of what is read at a time.
  void rows() {
    const std::int64_t line = 64 / real(), whole = r_.y / line, rest = r_.y % line;
    repeat(r9, whole, 64, line * r_.to_y * real(), [&] { some(0, line); });
    if (rest > 0) some(whole * line, rest);
  }

  /// Rows [first, first + count) of what is written, where fewer than a piece are left with some before them again.
  void some(std::int64_t first, std::int64_t count) {
    for (std::int64_t done = 0; done < count; done += piece_) block(std::min(first + done, first + count - piece_));
  }

  void block(std::int64_t first) {
    const int base = next_;
    next_ = next_ == 0 ? 8 : 0;
    for (int i = 0; i < piece_; ++i) load_pieces(base + i, [&](int p) { return at(from(), ((p * piece_ + i) * r_.from_x + first) * real()); });
    const auto v = [&](int i) { return reg(base + i, full()); };
    const auto store = [&](int row, int i) {
      const std::int64_t place = (first + row) * r_.to_y * real();
      if (r_.x > across_) prefetchw(at(to(), place + own_ahead));
      vmovups(at(to(), place), v(i));
    };
    if (!single()) {
      vunpcklpd(v(2), v(0), v(1)), store(0, 2);
      vunpckhpd(v(3), v(0), v(1)), store(1, 3);
      return;
    }
    turn_pieces(base, base);
    for (int i = 0; i < piece_; ++i) store(i, i);
  }

  void move(std::int64_t from_bytes, std::int64_t to_bytes) {
    if (from_bytes) Xbyak::CodeGenerator::add(from(), static_cast<int>(from_bytes));
    if (to_bytes) Xbyak::CodeGenerator::add(to(), static_cast<int>(to_bytes));
  }

  /// The pointers are where they were when it ends.
  template <class F> void repeat(const Xbyak::Reg64& counter, std::int64_t times, std::int64_t from_step, std::int64_t to_step, const F& body) {
    if (times == 0) return;
    if (times == 1) return body();
    mov(counter.cvt32(), static_cast<std::uint32_t>(times));
    Xbyak::Label top;
    align(16);
    L(top);
    body();
    move(from_step, to_step);
    dec(counter.cvt32());
    jnz(top, T_NEAR);
    move(-times * from_step, -times * to_step);
  }

  const turn_request r_;
  const int across_, piece_;  // elements of a register, and of 16 bytes
  int next_ = 0;              // blocks take turns with registers
};

bool is_near(std::int64_t elements, std::int64_t size) { return std::abs(elements) < most_turn_offset / size; }

}  // namespace

std::shared_ptr<const kernel> make(const turn_request& r, target t) {
  if (t == target::none || (r.size != 4 && r.size != 8 && r.size != 16)) return nullptr;
  const bool reaches = is_near(r.x, r.size) && is_near(r.y, r.size) && is_near(r.x * r.from_x, r.size) && is_near(r.y * r.to_y, r.size);
  for (int l = 0; l < 2; ++l)
    if (!reaches || !is_near(r.loops[l], 1) || !is_near(r.loops[l] * r.from_loops[l], r.size) || !is_near(r.loops[l] * r.to_loops[l], r.size)) return nullptr;
  if (auto small = make_small(r, t)) return small;
  if (r.size == 16) return nullptr;
  const std::int64_t across = (t == target::avx512 ? 64 : 32) / r.size;
  if (r.x < across && t == target::avx512) return make(r, target::avx2);  // the narrower registers
  if (r.x < across || r.y < 16 / r.size) return nullptr;
  return written<kernel, turns_code>(r, t);
}

}  // namespace ricci::codegen
