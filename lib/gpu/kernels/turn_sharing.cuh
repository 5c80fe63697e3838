// Which words of a tile are a thread's, for kernels/turn.cuh.
#pragma once
#include "element.cuh"

/// Which word of which row is a thread's: those of several rows at a time, if they are a block's, or one after the other.
template <int Words, int Rows, int Block>
struct sharing {
  static constexpr int together = Block / Words;
  static constexpr bool by_rows = together * Words * 8 >= Block * 7;
  static constexpr int rounds = by_rows ? divide_up(Rows, together > 0 ? together : 1) : divide_up(Rows * Words, Block);
  static constexpr bool is_exact = by_rows ? Rows % together == 0 : Rows * Words % Block == 0;
  /// Whether a thread has words; whether also in the last round.
  static __device__ bool has_any(u32 thread) { return !by_rows || together * Words == Block || thread < together * Words; }
  static __device__ bool has_last(u32 thread) {
    int row, word;
    return is_exact || place(thread, rounds - 1, row, word);
  }
  static __device__ bool place(u32 thread, int round, int& row, int& word) {
    if constexpr (by_rows) {
      row = static_cast<int>(thread / Words) + round * together, word = static_cast<int>(thread % Words);
      return thread < together * Words && row < Rows;
    } else {
      const u32 at = thread + static_cast<u32>(round * Block);
      row = static_cast<int>(at / Words), word = static_cast<int>(at % Words);
      return row < Rows;
    }
  }
};
