// Writes copies that transpose small matrices, one after the other: each without a loop.
#include <algorithm>

#include "codegen/turn_code.hpp"
#include "codegen/turns.hpp"

namespace ricci::codegen {
namespace {

using namespace Xbyak::util;

constexpr std::int64_t most_blocks = 64, most_in_line = 8, short_run = 8;

class small_turns_code : public turn_code {
 public:
  small_turns_code(const turn_request& r, target t)
      : turn_code(4096, t, r.size == 4, static_cast<int>(r.size)), r_(r), across_(across(r, t)), alone_(!wide() && is_one_register(r)) {
    if (!wide() && across_ * r.size == 16) use_quarters();
    if (const std::int64_t last = r.x % across_; wide() && (r.x < across_ || pads())) {
      mov(eax, static_cast<std::uint32_t>((std::uint64_t{1} << (last * (r.size == 16 ? 2 : 1))) - 1));
      kmovw(row_mask(), eax);
    }
    if (r.y < rows_at_once()) set_turn_mask(static_cast<int>(r.y));
    if (alone_ && r.size == 4) vmovups(Xbyak::Ymm(order), ptr[rip + order_]);
    repeat(r11, 1, r.loops[1], 1, [&] { rows_of_matrices(); });
    vzeroupper();
    ret();
    if (!alone_ || r.size != 4) return;
    align(32);
    L(order_);
    for (std::int64_t i = 0; i < 8; ++i) dd(static_cast<std::uint32_t>(i % r.x * r.y + i / r.x));
  }

  static bool is_possible(const turn_request& r, target t) {
    const std::int64_t vectors = (r.x + across(r, t) - 1) / across(r, t);
    return vectors * ((r.y + 3) / 4) <= most_blocks || (t != target::avx512 && r.y <= short_run);
  }

 private:
  static constexpr int order = 15;  // the register of an order of lanes

  /// Elements of a register, or of its first 16 bytes if rows fit into them.
  static std::int64_t across(const turn_request& r, target t) { return (t == target::avx512 ? 64 : r.x * r.size <= 16 ? 16 : 32) / r.size; }

  /// A matrix, or two, is no more than that.
  static bool is_one_register(const turn_request& r) {
    const std::int64_t bytes = r.x * r.y * r.size;
    return r.size < 16 && r.x > 1 && r.y > 1 && r.from_x == r.y && r.to_y == r.x && (bytes == 32 || bytes == 16);
  }

  Xbyak::Reg64 from() const { return rsi; }
  Xbyak::Reg64 to() const { return rdx; }
  Xbyak::Opmask row_mask() const { return Xbyak::Opmask(6); }

  /// Rows of what is written that come out of a block.
  int rows_at_once() const { return element() == 16 ? 1 : turned_at_once(); }

  /// The last columns go to the gap behind them as well, instead of with some before them once more.
  bool pads() const { return r_.x % across_ != 0 && (r_.x < across_ || (r_.scratch && r_.to_y >= (r_.x + across_ - 1) / across_ * across_)); }

  /// What lies between the rows of what is written belongs to them, or nothing does.
  bool owns_gaps() const { return r_.scratch || r_.to_y == r_.x; }

  /// Matrices of the inner loop that are written without a jump: a few blocks.
  std::int64_t together() const {
    if (wide()) return 1;
    const std::int64_t blocks = alone_ ? 1 : (r_.x + across_ - 1) / across_ * ((r_.y + rows_at_once() - 1) / rows_at_once());
    return std::clamp<std::int64_t>(8 / blocks, 1, r_.loops[0]);
  }

  void rows_of_matrices() {
    const std::int64_t times = r_.loops[0] / together(), rest = r_.loops[0] % together();
    repeat(r10, 0, times, together(), [&] { matrices(0, together()); });
    matrices(times > 1 ? 0 : together(), rest);
    if (times > 1 && r_.loops[1] > 1) move(0, -times * together());
  }

  /// `times` times, so many steps of loop l forward after each if that is not once.
  template <class F> void repeat(const Xbyak::Reg64& counter, int l, std::int64_t times, std::int64_t steps, const F& body) {
    if (times == 1) return body();
    mov(counter.cvt32(), static_cast<std::uint32_t>(times));
    Xbyak::Label top;
    align(16);
    L(top);
    body();
    move(l, steps);
    dec(counter.cvt32());
    jnz(top, T_NEAR);
  }
  void move(int l, std::int64_t steps) { move_bytes(steps * r_.from_loops[l] * r_.size, steps * r_.to_loops[l] * r_.size); }
  void move_bytes(std::int64_t from_bytes, std::int64_t to_bytes) {
    Xbyak::CodeGenerator::add(from(), static_cast<int>(from_bytes));
    Xbyak::CodeGenerator::add(to(), static_cast<int>(to_bytes));
  }

  void matrices(std::int64_t first, std::int64_t count) {
    const bool follow = alone_ && r_.x * r_.y == r_.from_loops[0] && r_.x * r_.y == r_.to_loops[0] && r_.x * r_.y * r_.size == 16;
    for (std::int64_t g = first; g < first + count; ++g) {
      const bool two = follow && g + 1 < first + count;
      from_at_ = g * r_.from_loops[0], to_at_ = g * r_.to_loops[0];
      if (alone_) permute(two || r_.x * r_.y * r_.size == 32 ? 32 : 16);
      else matrix();
      g += two;
    }
  }

  void permute(int bytes) {
    const Xbyak::Address source = ptr[from() + static_cast<int>(from_at_ * r_.size)], place = ptr[to() + static_cast<int>(to_at_ * r_.size)];
    const Xbyak::Ymm y(0);
    if (bytes == 16) return vpermilps(Xbyak::Xmm(0), source, 0xd8), vmovups(place, Xbyak::Xmm(0));
    if (r_.size == 8) vpermpd(y, source, 0xd8);
    else if (r_.x * r_.y == 4) vpermilps(y, source, 0xd8);
    else vpermps(y, Xbyak::Ymm(order), source);
    vmovups(place, y);
  }

  void matrix() {
    const std::int64_t vectors = r_.x / across_, steps = vectors * across_;
    if (wide() || vectors * ((r_.y + 3) / 4) <= most_in_line) return columns(0, r_.x);
    mov(r8d, static_cast<std::uint32_t>(vectors));
    Xbyak::Label top;
    align(16);
    L(top);
    last_x_ = steps - across_;
    columns(0, across_);
    last_x_ = 0;
    move_bytes(across_ * r_.from_x * r_.size, across_ * r_.size);
    dec(r8d);
    jnz(top, T_NEAR);
    move_bytes(-steps * r_.from_x * r_.size, -steps * r_.size);
    columns(steps, r_.x);
  }

  /// Some columns of what is written, in the order of its rows, so that each may spill over those behind it.
  void columns(std::int64_t x0, std::int64_t end) {
    const std::int64_t rows = rows_at_once();
    for (std::int64_t y = 0; y < r_.y; y += rows) {
      const std::int64_t first = std::max<std::int64_t>(0, std::min(y, r_.y - rows));
      for (std::int64_t x = x0; x < end; x += across_) {
        const bool whole = x + across_ <= r_.x || pads();
        block_at(whole ? x : r_.x - across_, first, std::min(rows, r_.y));
      }
    }
  }

  void block_at(std::int64_t x, std::int64_t y, std::int64_t rows) {
    const int lanes = static_cast<int>(std::min<std::int64_t>(across_, r_.x - x));
    const Xbyak::RegExp source = from() + static_cast<std::size_t>((from_at_ + x * r_.from_x + y) * r_.size);
    read_beyond((r_.x - 1 - std::max(x, last_x_)) * r_.from_x + r_.y - y, r_.from_x);
    if (element() == 16) load_pieces(8, [&](int p) { return ptr[source + static_cast<std::size_t>(std::min(p, lanes - 1) * r_.from_x * 16)]; });
    else turn(source, r_.from_x * r_.size, static_cast<int>(rows), 8, lanes);
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t place = (y + i) * r_.to_y + x;
      const bool spills = lanes == across_ || (owns_gaps() && place + across_ <= r_.y * r_.to_y);
      const int row = 8 + static_cast<int>(i);
      const Xbyak::RegExp at = to() + static_cast<std::size_t>((to_at_ + place) * r_.size);
      if (!spills && !wide()) store_bytes(row, static_cast<int>(lanes * r_.size), at);
      else if (single()) vmovups(spills ? ptr[at] : ptr[at] | row_mask(), reg(row, full()));
      else vmovupd(spills ? ptr[at] : ptr[at] | row_mask(), reg(row, full()));
    }
  }

  /// The first bytes of register i, fewer than 32, and none behind them.
  void store_bytes(int i, int bytes, const Xbyak::RegExp& to) {
    const Xbyak::Xmm x(i);
    std::size_t at = 0;
    if (bytes & 16) {
      vmovups(ptr[to], x);
      if (bytes == 16) return;
      vextractf128(x, Xbyak::Ymm(i), 1);
      at = 16;
    }
    if (bytes & 8) {
      vmovlps(ptr[to + at], x);
      if (bytes & 4) vpsrldq(x, x, 8);
      at += 8;
    }
    if (bytes & 4) vmovss(ptr[to + at], x);
  }

  const turn_request r_;
  const std::int64_t across_;  // elements of a register
  const bool alone_;           // matrices of a register are permuted
  std::int64_t from_at_ = 0, to_at_ = 0;  // elements, of the matrix at hand
  std::int64_t last_x_ = 0;    // where the last of the columns begin that the block at hand is written for
  Xbyak::Label order_;
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
