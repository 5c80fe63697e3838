// Leaf kernels: pointers, sizes, strides. They know no tensor and no plan. The contract is CONTRACT.md.
#pragma once

#include <cstdint>

#include <ricci/core/functions.hpp>
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
  bool ones_a = false;                       // lanes::k: a is a vector of ones, with stride 0 along the lanes
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
  bool streams = false;  // whole lines may go past the caches, in no order: a fence has to follow
};

/// beta points to one element of the compute type of dst; null or 0: dst is never read.
using move_fn = void (*)(const move_args&, const void* src, void* dst, const void* beta);

/// Copies bytes past the caches: for what will not be read soon. Whole lines of dst are written without being read first.
/// src and dst do not overlap; no alignment is needed. The stores are not ordered: a fence has to follow the last call.
using stream_fn = void (*)(const void* src, void* dst, std::int64_t bytes);

inline constexpr int max_pointwise_statements = 32, max_pointwise_terms = 96, max_pointwise_factors = 192,
                     max_pointwise_inputs = 64;

/// A few statements, element by element, over one nest of loops [loops, row, lane]:
///   c = beta c + sum over terms of alpha * f(x) * g(y) * ..., or of the minimum or maximum of factors.
/// Every input has stride 1 or 0 along the lanes (others are slow), every output 1. A factor may be what a statement before gave.
/// Complex types have no functions and no minimum or maximum.
struct pointwise_args {
  struct factor {
    int input = 0;  // -1 - s: the value of statement s
    function apply = function::identity;
    bool conj = false;
  };
  struct term {
    int first = 0, count = 0;  // factors; none: the coefficient alone
    combine how = combine::multiply;
  };
  struct statement {
    int first = 0, count = 0;  // terms
    int output = -1;           // -1: for later statements alone
    bool kept = false;         // read by a later statement
    bool plain = false;        // every term is a product of two factors as they are
  };
  struct stream {
    std::int64_t lane = 1, row = 0, loops[max_loops] = {};  // strides in elements
  };
  std::int64_t lane_extent = 1, row_extent = 1, loops[max_loops] = {};  // extents; loops[0] is the innermost
  int loop_count = 0, input_count = 0, output_count = 0, statement_count = 0;
  stream inputs[max_pointwise_inputs], outputs[max_pointwise_statements];
  statement statements[max_pointwise_statements];
  term terms[max_pointwise_terms];
  factor factors[max_pointwise_factors];
};

/// A pointer for each input and output; alphas: one of the type for each term, betas for each statement. beta == 0: the
/// output is not read. An output may be exactly the elements of an input of its own statement, and overlaps no other.
using pointwise_fn = void (*)(const pointwise_args&, const void* const* inputs, void* const* outputs, const void* alphas,
                              const void* betas);

/// y[loops, q, lane] = beta y + alpha sum_n m[q, n] x[loops, n, lane] for a matrix with m[q, n] = parity m[Q-1-q, N-1-n].
/// Real types; x and y have stride 1 along the lanes. Sums and differences of mirrored x meet two matrices of half size.
struct halves_args {
  std::int64_t lane_extent = 1, loops[max_loops] = {}, x_loops[max_loops] = {}, y_loops[max_loops] = {};
  int loop_count = 0;
  int q = 1, n = 1, parity = 1;                 // n up to max_halves
  std::int64_t x_n = 0, y_q = 0, m_q = 0, m_n = 0;
};
inline constexpr int max_halves = 20;

/// y overlaps neither m nor x.
using halves_fn = void (*)(const halves_args&, const void* m, const void* x, void* y, const void* alpha, const void* beta);

/// Rows of neighbours that a table finds in a tensor, for problems that lie side by side. Offsets in elements, one for each
/// row of each problem: [row][problem]; below 2^31.
struct rows_args {
  std::int64_t rows = 1, row = 1, lanes = 1;  // rows of a problem, elements of a row, problems
};

/// to[(r * row + i) * lanes + l] = from[at[r * lanes + l] + i]. The offsets of the calls to come follow those of this one,
/// up to end: the lines of the nearest are asked for.
using gather_fn = void (*)(const rows_args&, const std::int32_t* at, const std::int32_t* end, const void* from, void* to);

/// to[at[r * lanes + l] + i] += alpha * from[(r * row + i) * lanes + l]. Rows may share elements: what is added to one is
/// added in an order that the arguments alone decide.
using scatter_fn = void (*)(const rows_args&, const std::int32_t* at, const std::int32_t* end, const void* from, void* to,
                            const void* alpha);

/// Rows that a table finds in one of two tensors, beside rows of the other, none of which is looked up: elements of neighbours, real.
struct found_args {
  std::int64_t rows = 1, row = 1;               // rows, elements of a row
  bool wide = false;                            // entries of the table have 64 bits, else 32
  std::int64_t table = 1;                       // entries from one row's to the next one's
  std::int64_t from_entry = 0, to_entry = 0;    // elements for each step of an entry; one of them is 0
  std::int64_t from = 0, to = 0;                // elements from one row to the next
  std::int64_t ahead = 0;                       // so many rows ahead, what is looked up is asked for; 0: it is not
};

/// With x = from + r * from + at[r * table] * from_entry, y = to + r * to + at[r * table] * to_entry: y[i] = beta y[i] + alpha x[i],
/// row after row; rows of y may be the same ones. beta == 0: y is not read.
using found_fn = void (*)(const found_args&, const void* table, const void* from, void* to, const void* alpha, const void* beta);

/// Lines of neighbours, at any distance from each other, come to lie across: to[j * pitch + i] = from[line[i] + j].
struct turn_args {
  const std::int64_t* line = nullptr;  // offsets in elements
  std::int64_t lines = 1, length = 1;
  std::int64_t pitch = 0;
  std::int64_t ask = 0;  // if not 0: from[line[i] + ask + j] is asked for, whether it exists or not
};

/// from and to do not overlap.
using turn_fn = void (*)(const turn_args&, const void* from, void* to);

/// Rows of pieces: to[to_row[r] + p.to + i] = from[from_row[r] + p.from + i] for i < p.count, or += .
struct piece {
  std::int64_t from = 0, to = 0, count = 1;
};
struct pieces_args {
  const std::int64_t *from_row = nullptr, *to_row = nullptr;
  std::int64_t rows = 1;
  const piece* pieces = nullptr;
  std::int64_t count = 1;
  bool adds = false;
  bool streams = false;    // whole lines go past the caches, in no order: a fence has to follow
  const std::int64_t* ask_row = nullptr;  // if not null: from[ask_row[r] + p.from + ahead] is asked for
  std::int64_t ahead = 0;
};

/// from and to do not overlap.
using pieces_fn = void (*)(const pieces_args&, const void* from, void* to);

/// Measures the multiply-add peak: runs `rounds` rounds of independent FMAs, returns the flops done.
using peak_fn = double (*)(std::int64_t rounds);

/// All kernels of one instruction set.
struct kernel_set {
  const char* isa;        // "AVX2", "AVX-512", "SSE4", "NEON", "SVE", "VSX", "portable"
  int vector_bytes;
  int vector_registers;
  contract_fn contract[4][lanes_count];     // by compute dtype f32, f64, c64, c128
  contract_fn narrow_dots[2][2];            // as contract[f32][lanes::k]: b in f16, bf16; a in f32, in the type of b
  move_fn move[dtype_count][dtype_count];   // [source][destination]; null where the pair makes no sense
  pointwise_fn pointwise[4];                // by compute dtype f32, f64, c64, c128
  halves_fn halves[2];                      // f32, f64
  gather_fn gather[2];                      // f32, f64
  scatter_fn scatter[2];                    // f32, f64
  found_fn found[2];                        // f32, f64
  turn_fn turn[2];                          // elements of 4 and 8 bytes
  pieces_fn pieces[2];                      // f32, f64
  peak_fn peak[2];                          // f32, f64
  stream_fn stream;
};

/// The best set this CPU can run, or the one that the environment variable RICCI_ISA names.
const kernel_set& best();

/// Every set compiled in that this CPU can run, best first.
struct kernel_sets { const kernel_set* const* first; int count; };
kernel_sets available();

}  // namespace ricci::kernels
