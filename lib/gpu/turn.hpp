// Copies between tensors that lie in different orders: tiles of any axes, elements of 16 bits in words of two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/shape.hpp"

namespace ricci::cuda {

/// A tile has `piece` elements along an axis, and reads `more` before them; in shared memory they are `room` elements apart.
struct turned_axis {
  std::int64_t extent = 1, b = 0, c = 0, piece = 1, more = 0, room = 0;
  std::int64_t read() const { return piece + more; }
};

/// kernels/turn.cuh
struct turn_config {
  int size = 2;                 // bytes of an element
  std::vector<turned_axis> axes;  // the nearest of c first; none: this is no such copy
  std::vector<int> run_b, rows_b, run_c, rows_c;  // axes whose elements in a tile follow one another in memory, and the others; the nearest first
  int block = 256, blocks = 1;  // threads; on a multiprocessor that the compiler leaves registers for
  bool stays = false;           // blocks take one tile after the other
  std::int64_t room = 0;        // elements in shared memory
  int line = 0;                 // elements of a line, if rows of c begin anywhere in one and are written line by line
  /// Elements of a word.
  int each() const { return size == 2 ? 2 : 1; }
  bool used() const { return !axes.empty(); }
};

/// Whether the step is a copy between tensors whose neighbours are far apart in the other, or whose long rows begin anywhere, with work
/// for all of the GPU.
bool can_turn(const step_shape& s, const gpu_machine& m);

/// Nothing if it is not.
turn_config choose_turn(const step_shape& s, const gpu_machine& m);

/// Along an axis.
std::int64_t turn_pieces(const turn_config& c, const turned_axis& x);
std::int64_t turn_tiles(const turn_config& c);
std::int64_t turn_elements(const turn_config& c);
std::int64_t turn_count(const turn_config& c, const std::vector<int>& axes);
/// With what is read before them.
std::int64_t turn_read(const turn_config& c, const std::vector<int>& axes);
/// Whether the last piece of an axis may begin so early that it is whole: it moves little again.
bool is_moved_again(std::int64_t extent, std::int64_t piece);

/// Of a row of c, so many threads: one for each word, or for whole lines.
std::int64_t turn_words_c(const turn_config& c, bool shifts);
int turn_shared_bytes(const turn_config& c);
/// Whether offsets within a tile need 64 bits.
bool is_long(const turn_config& c);

/// at_b, at_c: how the pointers are aligned, in bytes.
std::string turn_text(const step_shape& s, const turn_config& c, int at_b, int at_c);

std::string to_string(const turn_config& c);

}  // namespace ricci::cuda
