// Tile registers on a processor that has none: the instructions trap, and their effect is computed here.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tile_emulator {

struct tile {
  int rows = 0, bytes = 0;
  unsigned char at[16][64] = {};
};
inline tile tiles[8];
inline long executed = 0;

inline float number(const unsigned char* p) {
  std::uint16_t half;
  std::memcpy(&half, p, 2);
  const std::uint32_t word = std::uint32_t{half} << 16;
  float x;
  std::memcpy(&x, &word, 4);
  return std::fpclassify(x) == FP_SUBNORMAL ? 0.0f : x;
}

inline void multiply(tile& c, const tile& a, const tile& b) {
  for (int m = 0; m < c.rows; ++m)
    for (int n = 0; n < c.bytes / 4; ++n) {
      float even = 0, odd = 0, old;
      for (int k = 0; k < a.bytes / 4; ++k) {
        even = std::fma(number(a.at[m] + 4 * k), number(b.at[k] + 4 * n), even);
        odd = std::fma(number(a.at[m] + 4 * k + 2), number(b.at[k] + 4 * n + 2), odd);
      }
      std::memcpy(&old, c.at[m] + 4 * n, 4);
      old += even + odd;
      std::memcpy(c.at[m] + 4 * n, &old, 4);
    }
}

/// Executes the instruction at rip if it is one of tile registers; its length, or 0.
inline int execute(mcontext_t& m) {
  static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  const auto* const p = reinterpret_cast<const unsigned char*>(m.gregs[REG_RIP]);
  if (p[0] != 0xc4 || (p[1] & 0x1f) != 2) return 0;
  const int r = (p[1] & 0x80 ? 0 : 8), x = (p[1] & 0x40 ? 0 : 8), b = (p[1] & 0x20 ? 0 : 8);
  const int prefix = p[2] & 3, third = ~p[2] >> 3 & 15, opcode = p[3], mod = p[4] >> 6, reg = (p[4] >> 3 & 7) + r, rm = p[4] & 7;
  enum { none, sized, repeated, other };  // 66, F3, F2
  int length = 5;
  std::int64_t base = 0, stride = 0;
  if (mod != 3) {
    std::int64_t offset = 0;
    if (rm == 4) {
      const int sib = p[length++];
      const int index = (sib >> 3 & 7) + x;
      base = m.gregs[order[(sib & 7) + b]];
      if (index != 4) stride = m.gregs[order[index]] << (sib >> 6);
    } else if (mod == 0 && rm == 5) {
      base = 0;
    } else {
      base = m.gregs[order[rm + b]];
    }
    if (mod == 1) offset = static_cast<signed char>(p[length++]);
    if (mod == 2 || (mod == 0 && rm == 5)) {
      std::int32_t wide;
      std::memcpy(&wide, p + length, 4);
      offset = wide, length += 4;
    }
    base += offset;
    if (mod == 0 && rm == 5) base += m.gregs[REG_RIP] + length;
  }
  auto* const memory = reinterpret_cast<unsigned char*>(base);
  if (opcode == 0x49 && prefix == none && mod != 3) {
    for (int i = 0; i < 8; ++i) {
      tiles[i] = {};
      tiles[i].bytes = memory[16 + 2 * i], tiles[i].rows = memory[48 + i];
    }
  } else if (opcode == 0x49 && prefix == none) {
    for (tile& t : tiles) t = {};
  } else if (opcode == 0x49 && prefix == other) {
    std::memset(tiles[reg].at, 0, sizeof tiles[reg].at);
  } else if (opcode == 0x4b && (prefix == other || prefix == repeated)) {
    for (int i = 0; i < tiles[reg].rows; ++i) {
      unsigned char* const row = memory + i * stride;
      if (prefix == other) std::memcpy(tiles[reg].at[i], row, static_cast<std::size_t>(tiles[reg].bytes));
      else std::memcpy(row, tiles[reg].at[i], static_cast<std::size_t>(tiles[reg].bytes));
    }
  } else if (opcode == 0x5c && prefix == repeated) {
    const tile &a = tiles[rm], &c = tiles[third];
    if (a.bytes / 4 != c.rows || tiles[reg].rows != a.rows || tiles[reg].bytes != c.bytes || a.rows == 0) return 0;
    multiply(tiles[reg], a, c);
  } else {
    return 0;
  }
  ++executed;
  return length;
}

inline void trapped(int, siginfo_t*, void* context) {
  mcontext_t& m = static_cast<ucontext_t*>(context)->uc_mcontext;
  const int length = execute(m);
  if (length == 0) signal(SIGILL, SIG_DFL);
  m.gregs[REG_RIP] += length;
}

inline void install() {
  struct sigaction act = {};
  act.sa_sigaction = trapped;
  act.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &act, nullptr);
}

}  // namespace tile_emulator
