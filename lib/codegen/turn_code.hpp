// Blocks of memory transposed in registers: rows of problems that lie one after the other become vectors across problems.
#pragma once

#include "codegen/vector_code.hpp"

namespace ricci::codegen {

/// Rows that are written are asked for so many bytes early: a store across two lines that are not in the first cache waits
/// for one after the other, and all stores behind it wait as well.
inline constexpr std::int64_t own_ahead = 128;

class turn_code : public vector_code {
 protected:
  /// element: bytes of what is turned, 4 or 8.
  turn_code(std::size_t bytes, target t, bool single, int element) : vector_code(bytes, t, single), element_(element) {}
  turn_code(std::size_t bytes, target t, bool single) : turn_code(bytes, t, single, 8) {}

  int element() const { return element_; }

  /// Elements in a register: as many problems, and as many elements of each at once.
  int block() const { return full() / element_; }

  /// Elements of a row that are turned at once.
  int turned_at_once() const { return wide() || element_ == 4 ? 4 : 2; }

  /// Registers to, to + 1, ...: element j < count <= turned_at_once() of each row; rows lie `pitch` bytes apart, and behind the first
  /// `lanes` of them are none. Spoils registers 0 to 7.
  void turn(const Xbyak::RegExp& from, std::int64_t pitch, int count, int to, int lanes) {
    const auto row = [&](int lane) { return from + static_cast<std::size_t>((lane < lanes ? lane : lanes - 1) * pitch); };
    if (element_ == 4) turn_singles(row, count, to);
    else if (wide()) turn_four(row, count, to);
    else turn_two(row, count, to);
  }

  void turn(const Xbyak::RegExp& from, std::int64_t pitch, int count, int to) { turn(from, pitch, count, to, block()); }

  /// A register's worth of elements to memory: at[j * full() + lane * element()].
  void turn_block(const Xbyak::RegExp& from, std::int64_t pitch, int count, const Xbyak::RegExp& at) { turn_block(from, pitch, count, at, block()); }
  void turn_block(const Xbyak::RegExp& from, std::int64_t pitch, int count, const Xbyak::RegExp& at, int lanes) {
    for (int j = 0; j < count; j += turned_at_once()) {
      const int here = count - j < turned_at_once() ? count - j : turned_at_once();
      turn(from + static_cast<std::size_t>(element_ * j), pitch, here, 8, lanes);
      for (int i = 0; i < here; ++i) vmovups(ptr[at + static_cast<std::size_t>((j + i) * full())], reg(8 + i, full()));
    }
  }

  /// Before rows of which a turn takes but 1 to 3 elements at its end.
  void set_turn_mask(int count) {
    if (!wide() || element_ == 4) return;
    mov(eax, (1 << count) - 1);
    kmovw(turn_mask(), eax);
  }

  /// From the first of the rows of the next turns, which lie `pitch` apart, so many elements may be read, in the rows or between them.
  void read_beyond(std::int64_t elements, std::int64_t pitch) {
    whole_rows_ = elements < 4 ? 0 : static_cast<int>((elements - 4) / pitch) + 1;
  }

 private:
  static Xbyak::Opmask turn_mask() { return Xbyak::Opmask(7); }

  /// Register i: `count` doubles of `low`, and of `high` in the upper half.
  template <class Row> void load_pair(int i, const Row& row, int low, int high, int count) {
    if (wide()) {
      if (count == 4) {
        vmovupd(Xbyak::Ymm(i), ptr[row(low)]);
        vinsertf64x4(Xbyak::Zmm(i), Xbyak::Zmm(i), ptr[row(high)], 1);
      } else {
        vmovupd(Xbyak::Ymm(i) | turn_mask() | Xbyak::util::T_z, ptr[row(low)]);
        vmovupd(Xbyak::Ymm(i + 4) | turn_mask() | Xbyak::util::T_z, ptr[row(high)]);
        vinsertf64x4(Xbyak::Zmm(i), Xbyak::Zmm(i), Xbyak::Ymm(i + 4), 1);
      }
    } else if (full() == 16) {
      count == 2 ? vmovupd(Xbyak::Xmm(i), ptr[row(low)]) : vmovsd(Xbyak::Xmm(i), ptr[row(low)]);
    } else if (count == 2) {
      vmovupd(Xbyak::Xmm(i), ptr[row(low)]);
      vinsertf128(Xbyak::Ymm(i), Xbyak::Ymm(i), ptr[row(high)], 1);
    } else {
      vmovsd(Xbyak::Xmm(i), ptr[row(low)]);
      vmovsd(Xbyak::Xmm(i + 4), ptr[row(high)]);
      vinsertf128(Xbyak::Ymm(i), Xbyak::Ymm(i), Xbyak::Xmm(i + 4), 1);
    }
  }

  /// Four columns of eight rows.
  template <class Row> void turn_four(const Row& row, int count, int to) {
    for (int i = 0; i < 4; ++i) load_pair(i, row, i % 2 + i / 2 * 4, i % 2 + i / 2 * 4 + 2, count);
    using Xbyak::Zmm;
    vunpcklpd(Zmm(4), Zmm(0), Zmm(1));
    vunpckhpd(Zmm(5), Zmm(0), Zmm(1));
    vunpcklpd(Zmm(0), Zmm(2), Zmm(3));
    vunpckhpd(Zmm(1), Zmm(2), Zmm(3));
    for (int i = 0; i < count; ++i) vshuff64x2(Zmm(to + i), Zmm(4 + i % 2), Zmm(i % 2), i < 2 ? 0x88 : 0xdd);
  }

  /// Two columns of four rows, or of two.
  template <class Row> void turn_two(const Row& row, int count, int to) {
    load_pair(0, row, 0, 2, count);
    load_pair(1, row, 1, 3, count);
    vunpcklpd(reg(to, full()), reg(0, full()), reg(1, full()));
    if (count > 1) vunpckhpd(reg(to + 1, full()), reg(0, full()), reg(1, full()));
  }

  /// Four columns of as many rows as a register has floats.
  template <class Row> void turn_singles(const Row& row, int count, int to) {
    for (int i = 0; i < 4; ++i) {
      if (count == 4) load_pieces(i, [&](int p) { return ptr[row(4 * p + i)]; });
      else load_short_pieces(i, [&](int p) { return row(4 * p + i); }, [&](int p) { return 4 * p + i < whole_rows_; }, count);
    }
    turn_pieces(0, to, count);
  }

  /// Register i, as load_pieces(), from pieces of 1 to 3 floats, or of four where that is_whole(); spoils register i + 4.
  template <class Piece, class Whole> void load_short_pieces(int i, const Piece& piece, const Whole& is_whole, int count) {
    for (int p = 0; p < full() / 16; ++p) {
      const Xbyak::Xmm x(p == 0 ? i : i + 4);
      if (is_whole(p) && p == 1) {
        vinsertf128(Xbyak::Ymm(i), Xbyak::Ymm(i), ptr[piece(p)], 1);
        continue;
      }
      if (is_whole(p) && p == 0) {
        vmovups(x, ptr[piece(p)]);
        continue;
      }
      if (count == 1) vmovss(x, ptr[piece(p)]);
      else vmovsd(x, ptr[piece(p)]);
      if (count == 3) vinsertps(x, x, ptr[piece(p) + 8], 0x20);
      if (p == 1) vinsertf128(Xbyak::Ymm(i), Xbyak::Ymm(i), x, 1);
      else if (p > 1) vinsertf32x4(Xbyak::Zmm(i), Xbyak::Zmm(i), x, static_cast<std::uint8_t>(p));
    }
  }

  const int element_;
  int whole_rows_ = 0;  // of which four elements may be read
};

}  // namespace ricci::codegen
