// Writes copies that transpose small matrices, one after the other: each without a loop.
#include <algorithm>

#include "codegen/turn_code.hpp"
#include "codegen/turns.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr std::int64_t most_blocks = 64;

class small_turns_code : public turn_code {
 public:
  small_turns_code(const turn_request& r, target t) : turn_code(4096, t, r.size == 4, static_cast<int>(r.size)), r_(r), across_(block()) {
    if (const std::int64_t last = r.x % across_; wide() && (r.x < across_ || pads())) {
      mov(eax, static_cast<std::uint32_t>((std::uint64_t{1} << (last * (r.size == 16 ? 2 : 1))) - 1));
      kmovw(row_mask(), eax);
    }
    if (r.y < rows_at_once()) set_turn_mask(static_cast<int>(r.y));
    in_loops(2);
    vzeroupper();
    ret();
  }

  /// Without masks every row has room for whole registers.
  static bool is_possible(const turn_request& r, target t) {
    const std::int64_t across = (t == target::avx512 ? 64 : 32) / r.size, vectors = (r.x + across - 1) / across;
    const bool rooms = t == target::avx512 || r.x >= across || (r.scratch && r.to_y >= across);
    return rooms && vectors * ((r.y + 3) / 4) <= most_blocks;
  }

 private:
  Xbyak::Reg64 from() const { return rsi; }
  Xbyak::Reg64 to() const { return rdx; }
  Xbyak::Opmask row_mask() const { return Xbyak::Opmask(6); }

  /// Rows of what is written that come out of a block.
  int rows_at_once() const { return element() == 16 ? 1 : turned_at_once(); }

  /// The last columns go to the gap behind them as well, instead of with some before them once more.
  bool pads() const { return r_.x % across_ != 0 && (r_.x < across_ || (r_.scratch && r_.to_y >= (r_.x + across_ - 1) / across_ * across_)); }

  void in_loops(int left) {
    if (left == 0) return matrix();
    const int l = left - 1;
    if (r_.loops[l] == 1) return in_loops(l);
    const Xbyak::Reg64& counter = l == 0 ? r10 : r11;
    const auto move = [&](std::int64_t times) {
      Xbyak::CodeGenerator::add(from(), static_cast<int>(times * r_.from_loops[l] * r_.size));
      Xbyak::CodeGenerator::add(to(), static_cast<int>(times * r_.to_loops[l] * r_.size));
    };
    mov(counter.cvt32(), static_cast<std::uint32_t>(r_.loops[l]));
    Xbyak::Label top;
    align(16);
    L(top);
    in_loops(l);
    move(1);
    dec(counter.cvt32());
    jnz(top, T_NEAR);
    if (left == 1) move(-r_.loops[l]);
  }

  /// Rows that are written in their order, so that each may spill over those behind it.
  void matrix() {
    const std::int64_t rows = rows_at_once();
    for (std::int64_t y = 0; y < r_.y; y += rows) {
      const std::int64_t first = std::max<std::int64_t>(0, std::min(y, r_.y - rows));
      for (std::int64_t x = 0; x < r_.x; x += across_) {
        const bool whole = x + across_ <= r_.x || pads();
        block_at(whole ? x : r_.x - across_, first, std::min(rows, r_.y));
      }
    }
  }

  void block_at(std::int64_t x, std::int64_t y, std::int64_t rows) {
    const int lanes = static_cast<int>(std::min<std::int64_t>(across_, r_.x - x));
    const Xbyak::RegExp source = from() + static_cast<std::size_t>((x * r_.from_x + y) * r_.size);
    if (element() == 16) load_pieces(8, [&](int p) { return ptr[source + static_cast<std::size_t>(std::min(p, lanes - 1) * r_.from_x * 16)]; });
    else turn(source, r_.from_x * r_.size, static_cast<int>(rows), 8, lanes);
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t place = (y + i) * r_.to_y + x;
      const bool spills = lanes == across_ || (r_.scratch && place + across_ <= r_.y * r_.to_y);
      const Xbyak::Address row = ptr[to() + static_cast<int>(place * r_.size)];
      const Xbyak::Address where = spills ? row : row | row_mask();
      single() ? vmovups(where, reg(8 + static_cast<int>(i), full())) : vmovupd(where, reg(8 + static_cast<int>(i), full()));
    }
  }

  const turn_request r_;
  const int across_;  // elements of a register
};

}  // namespace

std::shared_ptr<const kernel> make_small(const turn_request& r, target t) {
  if (!small_turns_code::is_possible(r, t)) return nullptr;
  if (t != target::avx512) return written<kernel, small_turns_code>(r, t);
  // What the blocks of a matrix take: shuffles, and insertions, which two units do.
  const double each = r.size == 16 ? 4 * 1.5 : r.size == 8 ? 8 + 4 / 2 : 8 + 12 / 2;
  const double blocks = static_cast<double>((r.x * r.size + 63) / 64 * ((r.y + 3) / 4));
  if (auto permuted = make_permuted(r, blocks * each)) return permuted;
  return written<kernel, small_turns_code>(r, t);
}

}  // namespace ricci::codegen
