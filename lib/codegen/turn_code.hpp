// Blocks of memory transposed in registers: rows of problems that lie one after the other become vectors across problems.
#pragma once

#include "codegen/vector_code.hpp"

namespace ricci::codegen {

/// Rows that are written are asked for so many bytes early: a store across two lines that are not in the first cache waits
/// for one after the other, and all stores behind it wait as well.
inline constexpr std::int64_t own_ahead = 128;

class turn_code : public vector_code {
 protected:
  using vector_code::vector_code;

  /// Doubles in a register: as many problems, and as many elements of each at once.
  int block() const { return full() / 8; }

  /// Elements of a row that are turned at once.
  int turned_at_once() const { return wide() ? 4 : 2; }

  /// Registers to, to + 1, ...: element j < count <= turned_at_once() of each row; rows lie `pitch` bytes apart.
  /// Spoils registers 0 to 7.
  void turn(const Xbyak::RegExp& from, std::int64_t pitch, int count, int to) {
    const auto row = [&](int lane) { return from + static_cast<std::size_t>(lane * pitch); };
    if (wide()) turn_four(row, count, to);
    else turn_two(row, count, to);
  }

  /// A register's worth of elements to memory: at[j * full() + lane * 8].
  void turn_block(const Xbyak::RegExp& from, std::int64_t pitch, int count, const Xbyak::RegExp& at) {
    for (int j = 0; j < count; j += turned_at_once()) {
      const int here = count - j < turned_at_once() ? count - j : turned_at_once();
      turn(from + static_cast<std::size_t>(8 * j), pitch, here, 8);
      for (int i = 0; i < here; ++i) vmovups(ptr[at + static_cast<std::size_t>((j + i) * full())], reg(8 + i, full()));
    }
  }

  /// A mask for reads of 1 to 3 doubles.
  void set_turn_mask(int count) {
    mov(eax, (1 << count) - 1);
    kmovw(Xbyak::Opmask(1), eax);
  }

 private:
  /// Register i: `count` doubles of `low`, and of `high` in the upper half.
  template <class Row> void load_pair(int i, const Row& row, int low, int high, int count) {
    if (wide()) {
      if (count == 4) {
        vmovupd(Xbyak::Ymm(i), ptr[row(low)]);
        vinsertf64x4(Xbyak::Zmm(i), Xbyak::Zmm(i), ptr[row(high)], 1);
      } else {
        vmovupd(Xbyak::Ymm(i) | Xbyak::Opmask(1) | Xbyak::util::T_z, ptr[row(low)]);
        vmovupd(Xbyak::Ymm(i + 4) | Xbyak::Opmask(1) | Xbyak::util::T_z, ptr[row(high)]);
        vinsertf64x4(Xbyak::Zmm(i), Xbyak::Zmm(i), Xbyak::Ymm(i + 4), 1);
      }
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

  /// Two columns of four rows.
  template <class Row> void turn_two(const Row& row, int count, int to) {
    load_pair(0, row, 0, 2, count);
    load_pair(1, row, 1, 3, count);
    vunpcklpd(Xbyak::Ymm(to), Xbyak::Ymm(0), Xbyak::Ymm(1));
    if (count > 1) vunpckhpd(Xbyak::Ymm(to + 1), Xbyak::Ymm(0), Xbyak::Ymm(1));
  }
};

}  // namespace ricci::codegen
