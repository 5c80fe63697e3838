// The bound plan: kernels chosen, tiles laid out, scratch assigned. What run() walks over.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "codegen/codegen.hpp"
#include "engine/flat.hpp"
#include "engine/scalars.hpp"
#include "kernels/kernels.hpp"
#include "plan/plan.hpp"

namespace ricci {

/// Of the parts of a complex number.
constexpr dtype part_type(dtype t) { return t == dtype::c64 ? dtype::f32 : dtype::f64; }

/// Where a step finds an operand: a slot of the bindings, the scratch, or the constant one. Offsets in bytes.
struct place {
  operand::kind where = operand::kind::one;
  int slot = 0;
  std::int64_t offset = 0;           // in the scratch of temporaries
  std::vector<std::int64_t> blocks;  // bytes per block of each block label
  std::int64_t slice = 0;            // bytes per slice, of steps that run slice by slice
};

/// A loop of a step outside the kernel; bytes per iteration in each operand.
struct outer_loop {
  std::int64_t count = 1;
  std::int64_t a = 0, b = 0, c = 0;
  int tail_bit = 0;  // 1 << i if the last iteration is shorter, else 0
};

/// A tail bit that no tile has: the last part of a sum.
inline constexpr int last_part = 1 << 30;

/// The arguments for one combination of full and short tiles.
struct tile_args {
  kernels::contract_args contract;
  std::shared_ptr<const codegen::kernel> first, later;  // made for these arguments; later: adds to partial sums
  kernels::move_args pack_a, pack_b, store_c;
  std::shared_ptr<const codegen::kernel> past;  // the first, of a c that stands at a line and goes past the caches; all tiles have it or none
  std::shared_ptr<const codegen::kernel> turn_b;  // what packs b, if that is written
  std::int64_t stream_bytes = 0;  // of c, dense
};

/// Where a tile of a blocked product goes: into c with its beta, onto the sums of blocks before, into a buffer.
enum class sums_into : std::uint8_t { first, later, buffer };

/// The columns of a tile of a blocked product, in c.
struct tile_columns {
  bool neighbours = false;            // one piece of numbers of the kernel's own type
  std::int32_t first = 0, count = 0;  // of its pieces, which are in real numbers
};

/// Offsets in elements of the rows, columns and summed indices of a blocked product, flattened, how it is cut, and the
/// kernels made for it: for whole and last (fewer) rows, columns and sums. Null: the compiled ones do it.
struct blocked_product {
  flat_lists lists;
  cache_blocks cut;
  std::int64_t row_step = 1;  // of c: tiles with other steps go through a buffer, and so do those whose columns are no neighbours
  bool plain = false;         // there are none of these
  bool streams = false;       // all go through a buffer and past the caches
  kernels::turn_fn turn = nullptr;              // for panels
  kernels::pieces_fn pieces = nullptr, spread = nullptr;  // the latter: from the buffer to c, in real numbers
  std::int64_t reals = 1;                       // in an element
  std::vector<std::int64_t> real_rows;          // row_c in real numbers, where an element has two
  std::vector<tile_columns> columns;            // of each tile; none where all go straight to c
  std::vector<kernels::piece> pieces_of_columns;
  std::vector<std::int32_t> order;              // tiles of each block in the order in which they are in c, from the block's first
  std::shared_ptr<const codegen::kernel> tiles[2][2][2][3] = {}, turn_a[2] = {};

  std::shared_ptr<const codegen::kernel>& tile(bool rows, bool cols, bool sums, sums_into kind) {
    return tiles[rows][cols][sums][static_cast<int>(kind)];
  }
  const std::shared_ptr<const codegen::kernel>& tile(bool rows, bool cols, bool sums, sums_into kind) const {
    return tiles[rows][cols][sums][static_cast<int>(kind)];
  }
};

struct other_step;

struct bound_step {
  std::shared_ptr<const other_step> other;  // pointwise, gather, scatter, halves
  method how = method::direct;
  kernels::lanes lanes = kernels::lanes::n;
  dtype type = dtype::f64;  // compute type
  dtype type_a = dtype::f64, type_b = dtype::f64, type_c = dtype::f64;
  bool conj_a = false, conj_b = false;
  bool in_parts = false;  // the kernel sees complex numbers as pairs of real ones
  int vector_bytes = 32;
  kernels::contract_fn contract = nullptr;
  kernels::move_fn move_a = nullptr, move_b = nullptr, move_c = nullptr;
  kernels::stream_fn stream_c = nullptr;                 // c goes past the caches: from its buffer, where it is dense, or the kernel does it
  bool far = false;                                      // what is external comes from beyond the second cache
  bool in_pieces = false;                                // a piece of a sum asks for the next one
  bool fetch_next = false;                               // of the next block, while this one runs
  fetching ask;                                          // for external operands
  place a, b, c;
  place scale;                                           // what the sums are multiplied by, instead of alpha
  bool scaled = false;
  place fetch;                                           // memory that the next block needs, asked for by this step
  std::int64_t fetch_first = 0, fetch_bytes = 0;         // which part of it
  bool keep_a = false, keep_b = false;
  std::int64_t pack_a = -1, pack_b = -1, buffer_c = -1;  // bytes in the thread's scratch, -1: none
  std::vector<outer_loop> free_loops, sum_loops;         // the latter run inside
  std::int64_t free_count = 1, sum_count = 1;
  std::int64_t last_tiles = 0;                           // of the last part of a sum: iterations of the first of sum_loops; parts are a free loop
  int last_tail = 0;                                     // the bit of the last of them, if that is shorter
  std::vector<tile_args> tiles;                          // by tail bits
  std::vector<std::int64_t> offsets;                     // storage of the k_outer tables
  blocked_product blocked;
  coefficient alpha, beta;
  bool parallel = false;
  std::int64_t slices = 1;
  int slice_steps = 0;    // of the first of those that run slice by slice together: how many there are
  /// The kernels themselves write this c past the caches.
  bool writes_past(const char* at) const { return !tiles.empty() && tiles[0].past && reinterpret_cast<std::uintptr_t>(at) % 64 == 0; }
  bool in_place = false;  // one call of one generated kernel, nothing packed or buffered
  double seconds = 0;
};

struct bound_segment {
  std::int64_t block = 1;
  std::vector<bound_step> steps;
};

class single_call;

struct bound_plan {
  bound_plan();
  bound_plan(bound_plan&&) noexcept;
  ~bound_plan();

  std::vector<bound_segment> segments;
  std::vector<single_call> calls;          // all of the steps, if each is one; none: they are walked over
  std::int64_t calls_bytes = 0;            // of scratch that these need
  std::vector<std::int64_t> block_counts;  // iterations of each block label in the first segment
  std::int64_t temporaries_bytes = 0;      // one set: shared without blocks, per thread with them
  std::int64_t packs_bytes = 0;            // per thread
  std::int64_t runs_bytes = 0;             // per thread, with blocks: what it keeps of the steps
  bool has_blocks = false;
  bool scatters = false;                   // blocks may add to the same elements
  int max_threads = 1;

  /// Of one thread, with blocks.
  std::int64_t own_bytes() const { return temporaries_bytes + packs_bytes + runs_bytes; }
};

/// Chooses kernels and lays out tiles and scratch. Errors: no_memory, kernel_refused.
bound_plan bind(const plan& p, const kernels::kernel_set& kernels, const options& o);

/// That a run may use now.
int most_threads(const bound_plan& p);

class executable;
const bound_plan& bound_of(const executable& e);

/// Work below this many estimated seconds stays on the calling thread: starting a team costs some microseconds.
inline constexpr double least_parallel_seconds = 10e-6;

inline constexpr std::size_t most_block_labels = 8;

/// Indices of block i of a segment; the short block (tail) stands behind the full ones of the cut label.
inline void locate(const std::vector<std::int64_t>& counts, bool tail, std::int64_t i, std::int64_t* index) {
  for (std::size_t l = counts.size(); l-- > 0;) {
    const bool cut = tail && l + 1 == counts.size();
    index[l] = cut ? counts[l] : i % counts[l];
    if (!cut) i /= counts[l];
  }
}

/// Runs a plan that has calls.
void run_calls(const bound_plan& p, const bindings& b);

struct read_tables;
/// Runs it. Allocates nothing once this thread's arena is large enough.
void execute(const bound_plan& p, const bindings& b, const read_tables& tables);

/// What is known of a coefficient before the run.
inline codegen::factor known_factor(const coefficient& c) {
  using enum codegen::factor;
  if (c.scalar >= 0 || !c.more.empty()) return any;
  return c.base == 0 ? zero : c.base == 1 ? one : c.base == -1 ? minus_one : any;
}

/// Lets the generator write kernels for the tiles of a step; those that it cannot write stay with the compiled ones.
/// Throws kernel_refused if the compiled ones cannot do the step as it is planned (16-bit numbers in place).
struct kernel_refused {};
void generate_kernels(bound_step& s, const options& o);

/// Runs iterations [first, last) of a step's free loops; `scratch` is this thread's.
struct step_run : step_scalars {
  const bound_step* step;
  const char *a, *b;
  char* c;
  char* scratch;
  std::int64_t cuts = 1;  // pieces wanted of every batch of a blocked step
  const char* scale = nullptr;
  const void* inputs[kernels::max_pointwise_inputs];              // of a pointwise step
  void* outputs[kernels::max_pointwise_statements];
  const char* alpha_or_scale() const { return step->scaled ? scale : alpha; }
  const char* fetch = nullptr;                                    // memory to ask for; null: none
  const struct row_table* table = nullptr;                        // of a gather or scatter by rows; null: entry by entry
  const std::int32_t *rows = nullptr, *rows_end = nullptr;        // of this block and those behind it
};
void set_scalars(step_scalars& to, const bound_step& s, const std::complex<double>* scalars);
/// The step and its coefficients; pointers are the caller's.
void set_scalars(step_run& r, const bound_step& s, const bindings& b);
void run_direct(const step_run& r, std::int64_t first, std::int64_t last, bool packed_a, bool packed_b);
void run_blocked(const step_run& r, std::int64_t first, std::int64_t last);

/// Tasks that a blocked step can be split into, and the bytes of its packed panels.
std::int64_t blocked_scratch(const bound_step& s);
std::int64_t blocked_cuts(const bound_step& s, int threads);  // to be wanted
std::int64_t blocked_tasks(const bound_step& s, std::int64_t cuts);

/// The calling thread's workspace: at least `bytes`, 64-byte aligned, kept for the thread's life.
char* workspace(std::int64_t bytes);

/// The same for tensors between the stages of a plan, beside the workspace.
char* between_stages(std::int64_t bytes);

/// The constant 1 of a compute type, as often as a vector holds it.
const void* one_of(dtype t);
/// One zero.
const void* zero_of(dtype t);

}  // namespace ricci
