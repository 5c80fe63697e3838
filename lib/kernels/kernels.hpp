// Leaf kernels: pointers, sizes, strides. They know no tensor and no plan. The contract is CONTRACT.md.
#pragma once

#include <cstdint>

#include <ricci/core/types.hpp>

namespace ricci::kernels {

inline constexpr int max_loops = 12;

/// One axis of a kernel's loop nest: extent, and strides in elements of a, b and c.
struct axis {
  std::int64_t extent = 1;
  std::int64_t a = 0, b = 0, c = 0;
  bool operator==(const axis&) const = default;
};

/// Which axis the SIMD lanes run along.
enum class lanes : std::uint8_t {
  n,      // b and c have unit stride along it, a lacks it (its element is broadcast)
  batch,  // a, b and c have unit stride along it: each lane is a problem of its own
  k,      // a and b have unit stride along it and it is summed (dot products)
};
inline constexpr int lanes_count = 3;

/// c[loops, row, col, lane] = beta c + alpha sum_{k_outer, k} a[loops, row, k (, lane)] * b[loops, col, k, lane]
/// For lanes::k the lane axis is summed as well and c lacks it.
struct contract_args {
  std::int64_t lane_extent = 1;
  axis row;                     // in a and c (row.b == 0); extent 1 if there is none
  axis col;                     // in b and c (for lanes::n, col.a == 0; for lanes::batch and k too); extent 1 if none
  axis loops[max_loops];        // around the tile; loops[0] is the innermost; any strides
  int loop_count = 0;
  std::int64_t k = 1, k_a = 0, k_b = 0;      // the inner summed axis
  std::int64_t k_outer = 1;                  // number of entries of the two tables below
  const std::int64_t* k_outer_a = nullptr;   // offsets in elements; null means one entry, zero
  const std::int64_t* k_outer_b = nullptr;
  bool conj_a = false, conj_b = false;       // complex types only
};

/// alpha and beta point to one element of the compute type. beta == 0: c is never read.
/// All extents are >= 1. c overlaps neither a nor b, but for lanes::batch with k == k_outer == 1 c may be exactly
/// a's or b's elements.
using contract_fn = void (*)(const contract_args&, const void* a, const void* b, void* c, const void* alpha,
                             const void* beta);

/// dst[axes] = convert(src[axes]) + beta * dst[axes]; a stride of the destination is in axis::c, of the source in
/// axis::b (axis::a unused). Axes in any order, up to max_loops.
struct move_args {
  axis axes[max_loops];
  int axis_count = 0;
};

/// beta points to one element of the compute type of dst; null or 0: dst is never read.
using move_fn = void (*)(const move_args&, const void* src, void* dst, const void* beta);

/// Copies bytes past the caches: for what will not be read soon. Whole lines of dst are written without being read first.
/// src and dst do not overlap; no alignment is needed. The stores are not ordered: a fence has to follow the last call.
using stream_fn = void (*)(const void* src, void* dst, std::int64_t bytes);

/// Measures the multiply-add peak: runs `rounds` rounds of independent FMAs, returns the flops done.
using peak_fn = double (*)(std::int64_t rounds);

/// All kernels of one instruction set.
struct kernel_set {
  const char* isa;        // "AVX2", "AVX-512", "SSE4", "NEON", "SVE", "VSX", "portable"
  int vector_bytes;
  int vector_registers;
  contract_fn contract[4][lanes_count];     // by compute dtype f32, f64, c64, c128
  move_fn move[dtype_count][dtype_count];   // [source][destination]; null where the pair makes no sense
  peak_fn peak[2];                          // f32, f64
  stream_fn stream;
};

/// The best set this CPU can run, or the one that the environment variable RICCI_ISA names.
const kernel_set& best();

/// Every set compiled in that this CPU can run, best first.
struct kernel_sets { const kernel_set* const* first; int count; };
kernel_sets available();

}  // namespace ricci::kernels
