// What a step costs, in cycles of one core: instruction counts of the tiles, bytes moved to pack and to reread.
#pragma once

#include <cstdint>

#include "kernels/kernels.hpp"
#include "machine/machine.hpp"

namespace ricci::planning {

/// A step's inner problem, after fusing: what the kernel will see.
struct shape {
  std::int64_t rows = 1, cols = 1, lane = 1, k = 1, loops = 1;
  kernels::lanes lanes = kernels::lanes::n;
  dtype type = dtype::f64;  // compute type
  bool converts_a = false, converts_b = false;  // lanes::k: loads of 16 bits
  bool lone = false;                            // lanes::k: dot products one by one are written
  std::int64_t neighbours = 0;                  // lanes::k: results one right behind the other, if short dot products of them are written
  bool only_sums = false;                       // a is ones
};

/// Registers that a written dot product has at most: codegen::most_dot_pieces.
inline constexpr std::int64_t most_dot_pieces = 6;
/// The same where they are done one by one: codegen::most_lone_pieces.
inline constexpr std::int64_t most_lone_pieces = 128;
/// Terms that a written sum of numbers that lie apart has at most, and bytes between two of its terms or results: as codegen::most_apart_terms
/// and most_apart_step.
inline constexpr std::int64_t most_apart_terms = 32, most_apart_step = 1 << 24;

/// Cycles of one kernel call.
double kernel_cycles(const shape& s, const machine& m);

/// Cycles to find the pointers of a call and enter the kernel.
double call_cycles(const machine& m);

/// The same for written products in halves, and for pointwise steps, gathers and scatters.
inline constexpr double halves_call_cycles = 10, other_call_cycles = 60;

/// Cycles to pack `count` elements; transposing when the unit strides lie on different axes.
double move_cycles(std::int64_t count, bool same_unit, bool any_unit, bool converts);

/// Cycles of a written copy from problems one after the other to some side by side, or back; how many may be side by side.
double turn_cycles(std::int64_t count, std::size_t size, int register_bytes);
inline constexpr std::int64_t most_side_by_side = 128;

/// Cycles per second of a core: from the peak, which is two multiply-adds a cycle.
double cycles_per_second(const machine& m);

/// Bytes beyond which data counts as out of memory: the last cache, or what of a very large one a program can hope for
/// beside its neighbours.
double last_cache(const machine& m);

/// Bytes per cycle one core streams when `bytes` are in play.
double stream_rate(double bytes, const machine& m);

}  // namespace ricci::planning
