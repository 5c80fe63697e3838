// The plan: how a program runs on a machine, as a plain value with a text form. Pure: no clock, no hardware call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ricci/engine/engine.hpp>
#include <ricci/program/program.hpp>

#include "kernels/kernels.hpp"
#include "machine/machine.hpp"
#include "plan/integers.hpp"
#include "plan/operand.hpp"

namespace ricci {

/// What an operation of the work is.
enum class action : std::uint8_t {
  contract,   // c[...] = beta c + alpha sum a[...] b[...]; labels missing in c are summed
  pointwise,  // c[...] = beta c + sum of terms over inputs, element by element
  gather,     // c[...] = b[table_stride * a[...] + ...]; a is the table, whose type is one of as many bytes
  scatter     // c[table_stride * a[...] + ...] += b[...], in a fixed order
};

/// alpha times the product (or minimum, maximum) of functions of inputs.
struct pointwise_term {
  coefficient alpha{};
  combine how = combine::multiply;
  std::vector<std::pair<int, function>> factors;  // index into pair_op::inputs; -1 - n: what output n of the group holds
  bool operator==(const pointwise_term&) const = default;
};

/// How many terms and factors one pointwise statement has before it is cut.
inline constexpr std::size_t most_statement_terms = 16, most_statement_factors = 48;

/// One of several pointwise statements that run together; its terms follow those of the one before.
struct pointwise_output {
  operand c;
  coefficient beta{0, -1, {}};
  int terms = 0;
  bool stored = true;  // false: only later statements of the group read it
  bool operator==(const pointwise_output&) const = default;
};

/// A product with an even or odd matrix at one end of a pointwise operation: what it gives, or reads, is an input or an
/// output of the operation that is in no memory.
struct fibre_product {
  operand matrix, tensor;
  int at = -1;              // which input, or which output; -1: there is no product
  int row = -1, own = -1;   // labels of the matrix: that of the operation, and that of the tensor
  int along = -1;           // the operation's label that the first one stands for
  coefficient beta{0, -1, {}};
  bool operator==(const fibre_product&) const = default;
};

/// One operation: a contraction of two operands unless `what` says otherwise.
struct pair_op {
  operand a, b, c;
  coefficient alpha{};
  coefficient beta{0, -1, {}};
  int statement = 0;
  action what = action::contract;
  std::vector<operand> inputs{};        // pointwise
  std::vector<pointwise_term> terms{};
  std::vector<pointwise_output> outputs{};  // of a group; empty: c alone
  std::int64_t table_stride = 0;        // gather, scatter: elements for each step of the index
  fibre_product before{}, after{};      // pointwise
  operand scale{};                      // contract: the sums are multiplied by it, which lies as c does; mostly the 1
  int cut_label = -1, parts_label = -1; // contract: sums over cut_label run in parts, each to its own index of parts_label in c
  std::int64_t part = 0;                // values of cut_label in a part
  std::int64_t piece = 0;               // terms of a part that are added at once; 0: all of them
  int turned = -1;                      // product with an even or odd matrix: a label whose values lie side by side in the one tensor
                                        // and one after the other in the other one; the kernel turns them
  bool operator==(const pair_op&) const = default;
};

/// What a label does in a step.
enum class group : std::uint8_t { batch, m, n, k };

/// How a step runs.
enum class method : std::uint8_t {
  direct,  // strided kernels in place, operands that lack the stride are packed tile by tile
  blocked, // packed panels of A and B in cache blocks, for products with many flops per element
  move,    // a copy: permutation, diagonal, conversion
  pointwise,
  gather,
  scatter,
  halves   // product with an even or odd matrix, half the multiplications
};

/// One label of a step, or several that nest: strides in the whole operands and the extent of the tile that one kernel call gets.
struct step_axis {
  int label = 0;
  std::int64_t extent = 1, tile = 1;
  std::int64_t a = 0, b = 0, c = 0;
  group role = group::m;
  std::int64_t part = 0;  // k: the sums of some tiles stay apart, so far from those of the tiles before in c
  std::int64_t part_extent = 0;  // of so many values, which are whole tiles
  std::vector<int> around{};  // labels in which this one nests in all operands, and which are a part of this axis, the outermost first
  bool operator==(const step_axis&) const = default;
};

/// How a blocked product is cut: register tiles, and blocks of rows, columns and summed indices for the caches.
struct cache_blocks {
  static constexpr std::int64_t most_tile = 64;  // rows or columns of a tile: lists of them have this room
  std::int64_t tile_rows = 0, tile_cols = 0, rows = 0, cols = 0, sums = 0;
  bool operator==(const cache_blocks&) const = default;
};

/// How a step may run, as far as a reader is told.
struct way {
  method how = method::direct;
  kernels::lanes lanes = kernels::lanes::n;
  int lane_label = -1;
  bool pack_a = false, pack_b = false, buffer_c = false, keep_a = false, keep_b = false;
  bool operator==(const way&) const = default;
};

struct rejected_way {
  way what;
  double seconds = 0;
  bool operator==(const rejected_way&) const = default;
};

/// Operands that a kernel asks for while it computes what lies before them.
struct fetching {
  int ahead = 0;                         // bytes; 0: it does not ask
  std::int64_t factors = 0, result = 0;  // bytes of an iteration up to which they are asked for
  bool operator==(const fetching&) const = default;
};

struct plan_step {
  pair_op op;
  method how = method::direct;
  kernels::lanes lanes = kernels::lanes::n;
  int lane_label = -1;                   // -1: a product of scalars
  bool pack_a = false, pack_b = false, buffer_c = false;
  bool stream_c = false;                 // c goes past the caches: through a buffer of its own layout, or the kernel does it
  bool far = false;                      // what is external comes from beyond the second cache
  bool fetch_next = false;               // external operands of the next block are asked for while this one runs
  std::vector<int> asks_for;             // slots of such, by a pointwise step between products
  fetching ask;                          // for external operands
  bool keep_a = false, keep_b = false;   // packed once for the whole run: the block labels do not move it
  bool in_pieces = false;                // sums are added piece by piece, and a piece asks for the next one
  bool apart = false;                    // sums of one tensor by a written kernel that reads number by number what would be packed
  bool in_tiles = false;                 // a pointwise step that is a whole plan: its axes are cut as those of products are
  std::vector<int> packed, turned;       // of its inputs: copied tile by tile; turned in registers by a written kernel
  bool repeats = false;                  // elements may be computed twice: nothing that is read is written
  std::vector<step_axis> axes;           // outer loops run in this order; summed labels last
  cache_blocks cut;                      // blocked
  int slice_label = -1;                  // the step runs for each value of it, with its neighbours; its axis is not among the axes
  std::int64_t slices = 1;
  int slice_steps = 0;                   // of the first of such steps: how many there are
  double flops = 0, seconds = 0;
  double memory_seconds = 0;             // a product's tensors take to come and go on one core, whatever it computes
  std::vector<rejected_way> rejected;    // the other ways considered, with their estimated times
  bool operator==(const plan_step&) const = default;
};

struct temporary {
  enum class origin : std::uint8_t { computed, local, copy };  // local: of the program; copy: of a tensor, its elements in another order
  dtype type = dtype::f64;
  std::vector<int> labels;
  std::int64_t size = 0;       // in elements, for one block
  std::int64_t offset = 0;     // in bytes, in the scratch
  int born = 0, dies = 0;      // first and last step
  origin from = origin::computed;
  bool operator==(const temporary&) const = default;
};

/// The steps for one size of block; a plan without blocks has one segment that runs once.
struct segment {
  std::int64_t block = 1;              // extent of the block label in this segment
  std::vector<plan_step> steps;
  std::vector<temporary> temporaries;
  std::int64_t scratch_bytes = 0;      // temporaries of one block
  bool operator==(const segment&) const = default;
};

/// With stages, a plan has no blocks and segments of its own: its stages run one after the other, each with its own
/// blocks, and tensors between them lie in memory of the run. Slots behind the program's are these tensors.
struct plan {
  program source;                // normalised: no label of extent 1
  std::vector<int> block_labels; // outermost loops around all steps; the last is cut into blocks
  std::vector<segment> segments; // the full blocks, then the rest if it does not divide
  double flops = 0;              // as run
  double written_flops = 0;      // all labels of each term nested, as written
  double bytes = 0;              // every tensor once
  double seconds = 0;            // estimated
  double bound_seconds = 0;      // the larger of flops over peak and bytes over memory bandwidth
  std::vector<std::string> notes;
  std::vector<plan> stages;
  std::vector<std::int64_t> between;  // bytes of each tensor between stages
  bool operator==(const plan&) const = default;
};

/// What the cost model shall not decide: a stage of small factors alone has no blocks, and tests look at blocks of any size.
struct hints {
  std::int64_t block = -1;  // extent of a block of the common label; 0: no blocks; -1: the cost model decides
  bool interleave = false;
  bool apart = false;       // problems side by side are copied so that each lies by itself, wherever they can be
};

/// Decides everything. Errors: as compile().
plan make_plan(const program& p, const machine& m, const options& o = {}, const hints& h = {});

/// rejected: with the ways that every step was not run, and their estimated times.
std::string to_string(const plan& p, const machine& m, bool rejected = false);

/// The same elements under the same labels: one reference, or two of the same memory.
inline bool same_elements(const operand& x, operand y) {
  if (x.where == operand::kind::external && x.memory >= 0 && x.memory == y.memory) y.id = x.id, y.name = x.name;
  return x == y;
}

/// Calls f with every operand of an operation but the constant one.
template <class Op, class F>
void for_each_operand(Op& op, F&& f) {
  for (auto* x : {&op.a, &op.b, &op.c, &op.scale, &op.before.matrix, &op.before.tensor, &op.after.matrix, &op.after.tensor})
    if (x->where != operand::kind::one) f(*x);
  for (auto& x : op.inputs)
    if (x.where != operand::kind::one) f(x);
  for (auto& x : op.outputs)
    if (x.stored) f(x.c);
}

namespace planning {

/// The program as a sequence of pairwise products with temporaries.
struct work {
  program source;
  std::vector<pair_op> ops;
  std::vector<temporary> temporaries;
  bool shares = true;         // nothing that is read is written
  bool may_overlap = false;   // a left side may share memory with something read: no blocks
  std::vector<int> turned;    // no blocks over these labels: other values of them are read than the ones just made
  std::size_t once = 0;       // of the first operations: they multiply small factors with one another, in a stage of their own
  std::vector<std::string> notes;
};

/// Drops labels of extent 1 and everything that is empty; folds C into beta; orders the contractions. Orders of equal
/// cost are many; `variant` picks another of them (0 .. variant_count - 1; as many again turn the order of all statements
/// but the first round, so that products that follow each other run along one axis).
/// on_cpu: locals that only name a tensor are read from its memory, and statements without a sum are one pointwise operation,
/// however many terms and factors they have. multiplies: small factors meet each other before they meet a large tensor, where
/// that may pay (work::once).
inline constexpr int variant_count = 6;
struct multiplied_limits;
work make_work(const program& p, const options& o, int variant = 0, bool on_cpu = false, const multiplied_limits* multiplies = nullptr);

/// Replaces locals that only name a tensor in memory by it, where nothing that is read is written; true: a statement
/// that is not needed any more.
std::vector<bool> forward_aliases(program& p);

/// Labels that every result has, and that sit on the same axis of a temporary wherever it is used: what blocks run over.
std::vector<int> common_labels(const work& w);

/// A work as runs of operations with a long label in common, where none runs through all; what goes from one run to
/// another becomes a tensor in memory. Empty if there is nothing to cut.
struct staged {
  std::vector<work> works;
  std::vector<std::int64_t> between;  // bytes; their slots follow the program's
};
staged stages_of(const work& w);

/// Long sums with few results run in parts, which threads share and whose sums are added in order: new labels in the
/// work's source. Not for works that run in blocks.
void cut_sums(work& w, const machine& m);

/// First and last step of every temporary, then places in the scratch, the largest first: where one ends that the next may
/// replace, or the first gap that is free all its life.
void place_temporaries(segment& s);

/// Orders the axes of every temporary. lane >= 0: that label becomes the innermost axis of each.
void choose_layouts(work& w, int lane);

/// Orders them anew, by estimates of the products that make and read them. For works without blocks.
void order_products(work& w, const machine& m, const options& o);

/// Copies what a pointwise operation cannot read or write along its lanes; one copy serves all. Written kernels read problems
/// that lie one after the other where `lane` runs across problems. block: the labels that blocks run over.
void straighten(work& w, int lane, const machine& m, const std::vector<int>& block);

/// Makes one operation of pointwise ones over the same labels, where those between them allow it.
void group_pointwise(work& w);

/// Makes one operation of a pointwise one and products with even or odd matrices before and behind it, along one axis,
/// where a written kernel keeps what they exchange in registers. lane: as for choose_layouts().
void join_fibres(work& w, int lane, const machine& m);
/// Whether there may be such products; whether there are some at both ends.
bool joins_fibres(const program& p, const machine& m);
bool has_joined(const plan& p);

/// Lets products with even or odd matrices copy what they read or write between problems that lie one after the other and
/// problems side by side. lane: as for choose_layouts().
void fold_turns(work& w, int lane, const machine& m);

/// Neighbouring operations that may run slice by slice along a label, with those that they do not need moved before them.
struct slice_run {
  std::size_t first = 0, count = 0;
  int label = -1;
};
/// Where what they read and write does not stay in the first cache. lane, block: as for straighten().
std::vector<slice_run> find_slices(work& w, const std::vector<int>& block, int lane, const machine& m);
/// Appends the steps of a run, whose own temporaries become slices. False, and nothing is changed, if kernels cannot.
bool lower_slices(work& w, const slice_run& run, std::vector<std::int64_t> extents, const std::vector<int>& block, const machine& m, const options& o,
                  std::vector<plan_step>& steps);

/// A pointwise operation, a gather or a scatter as a step.
plan_step lower_other(const pair_op& op, const std::vector<std::int64_t>& extents, const machine& m);

/// What a pointwise operation does for an element, and the cycles of that for a vector.
double pointwise_flops(const pair_op& op);
double pointwise_cycles(const pair_op& op);

/// Has it quotients or reciprocal roots, which must not see lanes without an element?
bool divides(const pair_op& op);

/// Flops of a step: none of a copy or a fill.
double arithmetic_of(const plan_step& s);

/// A product without a sum, or a scaled copy, becomes a pointwise operation.
void make_pointwise(pair_op& op);

/// A pointwise operation over tensors in memory that is all there is: it runs in tiles of its own.
bool is_elementwise(const work& w);
/// One step, or two: the first copies a tensor to the order of the result.
segment lower_elementwise(const work& w, const std::vector<std::int64_t>& extents, const machine& m, const options& o);

/// The same for a small permutation that is all there is; none if the work is another.
std::optional<plan_step> lower_small_turn(const work& w, const std::vector<std::int64_t>& extents, const machine& m, const options& o);

/// Offers a product with an even or odd matrix in halves, if it is one and may be; true if it beats `best`.
bool try_halves(const pair_op& op, const std::vector<std::int64_t>& extents, const machine& m, plan_step& best);

/// The best way to run one operation; `block` labels are fixed outside (their extent here is the block's).
plan_step lower(const pair_op& op, const std::vector<std::int64_t>& extents, const std::vector<int>& block_labels,
                const machine& m, const options& o);

/// first computes t, second multiplies it by a tensor, element by element: one operation that does both, if written
/// kernels can. The step is to be checked with runs_scaled().
std::optional<pair_op> scaled(const pair_op& first, const pair_op& second, const work& w, const machine& m);
bool runs_scaled(const plan_step& s);

/// Estimated seconds of a segment: the instructions of every step and part of its memory time. External tensors come
/// from where `footprint` bytes fit, temporaries from where the scratch fits.
/// as_stored: no label is made the innermost of the temporaries, or is it in memory.
/// block: the labels that a block holds a part of.
double seconds_of(const segment& s, const std::vector<int>& block, double footprint, bool as_stored, const machine& m);

/// Of products one after the other, each in one piece, whose temporaries leave the second cache: each is as one alone.
double seconds_of_network(const segment& s, double footprint, const machine& m);

/// Of a block of problems that are copied so that each lies by itself: copies wait for memory, the product finds them in a cache.
double seconds_of_apart(const segment& s, double footprint, const machine& m);

/// Bytes that a block reads and writes outside the scratch; what all blocks share stays in a cache and does not count.
struct traffic {
  double in = 0, out = 0;
};
traffic traffic_of(const segment& g, const std::vector<int>& block);

/// Streaming stores read their lines first on this machine.
bool streams_read(const machine& m);

/// Out of memory: what the next block reads is asked for while this one runs.
bool asks_early(const segment& g, const traffic& t, const machine& m);

/// Out of memory: the step as it leaves its result past the caches, if it can and should. apart: all steps of the segment run one
/// after the other, each in one piece.
std::optional<plan_step> streamed(const segment& g, const traffic& t, const plan_step& s, const machine& m, bool apart = false);

/// Marks what comes from memory, and lets large results leave past the caches.
void stream_results(plan& p, const machine& m);

}  // namespace planning
}  // namespace ricci
