// One way to run a pairwise product: its tiles, cut for caches, rows and threads, and what it costs.
#pragma once

#include "plan/cost.hpp"
#include "plan/plan.hpp"

namespace ricci::planning {

using kernels::lanes;


/// Rows of a result beyond the second cache that are written at a time, and bytes of a row that is long. Measured.
inline constexpr std::int64_t rows_at_once = 24, long_row = 2048;

/// Cycles of one core in which a product's tensors come and go, from where all of them fit.
double memory_cycles(const pair_op& op, const std::vector<step_axis>& axes, const machine& m);

/// Makes one axis of two wherever nests(outer, inner) says so; an axis then is as long as whoever looks at it sees. Parts of the outer
/// one are parts of both.
template <class Nests> void join_axes(std::vector<step_axis>& axes, const Nests& nests) {
  for (bool joined = true; joined;) {
    joined = false;
    for (std::size_t p = 0; p < axes.size() && !joined; ++p)
      for (std::size_t q = 0; q < axes.size() && !joined; ++q) {
        if (p == q || !nests(std::as_const(axes[p]), std::as_const(axes[q]))) continue;
        step_axis &out = axes[p], &in = axes[q];
        in.around.insert(in.around.begin(), out.label);
        in.around.insert(in.around.begin(), out.around.begin(), out.around.end());
        in.tile = out.tile * in.extent;
        in.part = out.part, in.part_extent = out.part_extent * in.extent;
        in.extent = out.extent * in.extent;
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(p));
        joined = true;
      }
  }
}

struct candidate {
  const machine& m;
  const options& o;
  const std::vector<int>& block_labels;
  const pair_op& op;
  plan_step step;                // without its operation, which is copied when the step is chosen
  bool along_rows_of_b = false;  // see follow_rows_of_b

  std::int64_t tile_size(std::int64_t step_axis::*stride, bool with_lane_only_in_c) const;
  std::int64_t packed_bytes() const;
  /// How many results of dot products lie one right behind the other, if kernels for such are written; else 0: of products
  /// of matrices, whose tiles are compiled.
  bool is_alone() const;    // there is one result
  bool is_one_run() const;  // of a packed and of b, for it
  bool are_lone_dots() const;
  std::int64_t results_in_a_row() const;
  /// Sums of two products each whose factors lie in the order of the results, one conjugated at most.
  bool are_complex_pairs() const;
  /// Sums of one tensor whose numbers lie apart: a written kernel reads them where they lie, though the step packs them.
  bool are_sums_apart() const;
  double result_bytes() const;

  bool has_sums() const;
  /// Whether a kernel reads what is packed in one go: nothing is gained by keeping much of it.
  bool reads_packed_once() const;

  /// Down to what tiles may be halved.
  struct tile_limits {
    std::int64_t width, lanes;  // lanes of a register, of a tile
    bool whole_lines;           // see packed_line
  };
  std::int64_t least_tile(const step_axis& x, const tile_limits& l) const;
  /// Whether what is packed of tensors with this axis is a good part of all: an axis that only a small result has would be cut for little,
  /// and have the factor without it packed again for every piece.
  bool has_much(const step_axis& x) const;
  /// Halves the longest tile above its limit; false if there is none. Sums are halved only where more than `far` bytes are packed.
  bool halve_longest(const tile_limits& l, std::int64_t far);
  /// Halves tiles until what is packed fits: batch labels down to L1, the others to half of L2, rows of memory last. Where nothing
  /// is summed all down to a part of L2.
  void fit_tiles();
  /// A vector times a large matrix goes along its rows, some at a time: the kernel would walk down columns.
  void follow_rows_of_b();
  /// A result beyond the second cache is written along its rows, some at a time: the kernel does the rows of some columns
  /// before it goes to the next ones, and would bring all rows again. b, which every group of rows reads again, stays in the
  /// second cache. Measured.
  void follow_rows_of_c();
  /// Products element by element go along the rows of large tensors: a kernel walks down the columns of its tile.
  void follow_rows();
  /// A factor beyond the second cache whose columns are summed, or rows of which are not its neighbours, is read as it lies: sums outermost,
  /// in pieces that the first caches hold, the results staying in the second one. Where kernels ask for the next piece.
  void cut_to_pieces();
  /// No block reads the same of it as the one before.
  bool moves_with_blocks(const operand& x) const;
  /// Windows that lie over one another find their rows in a cache, so that there a written kernel pays, which lists its registers.
  void limit_lanes();
  /// Cuts an outer axis so that every thread has several pieces. cycles: of the kernels.
  void cut_for_threads(double cycles);
  /// Bytes of factors without this axis, each once more for every piece but the first.
  double bytes_again(const step_axis& x, std::int64_t cuts) const;
  /// The extent of a piece; those of the lanes are whole registers.
  std::int64_t piece_of(const step_axis& x, std::int64_t cuts) const;

  shape inner() const;
  /// n labels whose strides nest with the lane axis will be one axis in the kernel.
  void fuse_lane(shape& s) const;

  /// Estimated cycles of the whole step on one core.
  double cycles();
  /// Of packing b, if that is small matrices that a written kernel turns; else 0.
  double turned_cycles() const;
  double pack_cycles(const operand& x, std::int64_t step_axis::*stride, bool lane_extra, std::int64_t calls) const;
  /// The share of its usual cost at which an operand is packed whose neighbours are summed: short rows, and planes of two summed
  /// labels, are turned in registers. Measured.
  double turning(const operand& x, std::int64_t step_axis::*stride) const;
  /// Neighbours in a row where whole axes follow one another, with lanes that fill a register of 32 bytes, in the blocks of a
  /// chain; 0: not so. Movers turn such rows in blocks, wherever their elements go. Measured on one core of Zen 3.
  std::int64_t neighbours_of(const operand& x, std::int64_t step_axis::*stride, const step_axis& run, const step_axis& lane) const;
  /// The same where the lanes are rows of a few neighbours, one right behind the other: columns are put together from whole registers.
  double collecting(const operand& x, std::int64_t step_axis::*stride, const step_axis& run, const step_axis& lane) const;
  /// A result of several axes that is brought from a buffer to where it belongs goes there in short pieces, beyond the second
  /// cache a line or less each; a factor that is packed across its neighbours comes from there in such pieces. Measured.
  double scattering(const operand& x, std::int64_t step_axis::*stride, bool same) const;
  /// The axis of the rows of a kernel's tile, as the engine chooses it; null if none is long enough.
  const step_axis* row_axis() const;
  /// Cycles that the lines of a result wait for one another where the rows of a kernel's tile lie pages apart, in the same sets
  /// of the caches. Measured.
  double waits_for_c() const;
  /// A panel of b beyond the caches whose rows lie far apart costs misses of cache and address translation. Written
  /// kernels, which wait for nothing else, bear it from the second cache (64 x 64 x 7 panel, rows 36 KiB apart: 92 % of
  /// the speed of a packed one).
  double strided_penalty(double panel) const;
  /// One tile of rows has them all, or a second finds b in the first cache: a copy would be read as often as b. Measured on
  /// Intel, 2 to 12 rows times 100 x 4000 and 300 x 1000.
  bool reads_b_once() const;
  std::int64_t rows_of_tile() const;
  /// Few tiles of rows, whose rows of a and columns of b the second cache keeps: b comes from where it lies once.
  bool few_groups() const;
  /// What b in place costs a product beside a packed one: rows that begin anywhere in a line, that share sets of the first cache, lines that
  /// a, c and b push out of the second. Fitted to 1,500 random products on Intel (docs/decisions/0044-panels-beside-places.md).
  double among_others() const;
  std::int64_t problems() const;
  /// Of 64 bytes, as where that was fitted.
  bool has_wide_registers() const { return m.writes_kernels && m.vector_bytes >= 64 && !m.fetches_blocks; }
  /// What part of a tile of b are elements that differ: windows of a convolution lie over one another.
  double share_of_b() const;
  /// Of all rows of a and the columns that a kernel does at once.
  double strip_bytes(const shape& s) const;
  /// Bytes of the rows of a that come again for other columns, and share the second cache with the panel of b that they wait for. Measured
  /// on a Zen 3 with AVX2.
  double rows_beside(const shape& s) const;
  /// Every row of b lies in pages of its own, hundreds of them, at one place of the first cache's ways, and tiles of rows read
  /// them again. Measured on Intel: packed, the paper's statement of 64 x 64 x 9 x 8 is 1.3 times as fast, 500 x 500 times 24
  /// of 512 columns 1.6 times, of 600 columns 0.96; with 64 to 200 pages nothing is gained.
  bool rows_turn_pages() const;
  /// Rows of b are short and a page or more apart, as those of one problem in a batch that lies between its rows. Measured on Intel: packed
  /// 1.3 times as fast in double (13 products, docs/performance/matrices.md).
  bool short_rows_apart() const;
  /// What rows of b cost that are a multiple of 4096 or 2048 bytes apart, so that they share sets of the caches, and are read again for
  /// other rows of a: 1 if nothing. Measured on one core of Zen 3 with AVX2, where 20 rows are enough to pay for a packed copy.
  double sharing_of_sets() const;
  /// Any of these three, for which b in place is read anew again and again.
  bool rows_come_anew() const;
  /// Whether b pays that penalty for every row, so that a packed copy is worth a thought.
  bool rows_far_apart() const;
  double bytes_in_play() const;
  /// A panel of b that takes a good part of the second cache shares it with all that streams past. Measured on Intel, where rows
  /// of 2 MiB and less of it go to neighbours too; AMD's caches bear it unless rows come again for other panels or from memory.
  double crowding(double panel) const;
  /// Cycles that a tile of rows waits for a, which is broadcast, where a comes from beyond the second cache. Along the sums it is
  /// followed by the hardware, but read anew for every piece of the columns; across them every step is a line on its own, which
  /// the next rows find again if all that the sums walk across stays in the second cache. Measured.
  /// all_cycles: of the kernels.
  double waits_for_a(const shape& s, std::int64_t calls_of_lane, double all_cycles) const;
  /// Cycles that b waits, beyond the second cache, where its rows are short and lie pages apart: every one is a page of its own.
  /// Measured.
  double waits_for_b() const;
  /// Cycles that a waits where the axis around the rows of c jumps pages in it: what the hardware would fetch is not what comes next.
  /// Rows of whole lines do not mind. Measured.
  double jumps_in_a() const;
  /// Cycles that a waits where its neighbours are problems: each of them takes one number of every line, and before the next the
  /// lines have left the second cache. Measured.
  double skips_in_a() const;
  /// Cycles that problems side by side wait for caches: the matrices of a register of them are lines as far apart as there are problems, in
  /// few sets if that is a power of two, and tiles of rows read those of the columns again. Fitted to 187 products on one core of Zen 3.
  double waits_side_by_side() const;
  /// Cycles in which a packed operand of all caches' size is only read, and its result only written.
  double waits_for_memory() const;
  /// All rows of a and the columns that a kernel does at once stay in the first cache until it goes to the next columns.
  bool stays(const shape& s) const;
};

}  // namespace ricci::planning
