// Steps that are not contractions of two operands: pointwise, gather, scatter, and products with even or odd matrices.
#pragma once

#include "codegen/fibres.hpp"
#include "engine/bound.hpp"
#include "engine/looked_up.hpp"

namespace ricci {

/// A matrix of a product at an end of a pointwise step: which input, and how its halves are made.
struct matrix_end {
  int input;
  kernels::halves_args halves;
};

/// A loop that a kernel has no room for, with the strides of its inputs and outputs in elements.
struct loop_around {
  std::int64_t extent;
  std::vector<std::int64_t> inputs, outputs;
};

/// Pointwise statements over some axes.
struct point_call {
  std::shared_ptr<const kernels::pointwise_args> pointwise;  // kilobytes: null where there is no call
  std::shared_ptr<const kernels::pointwise_args> rest;       // of lanes that fill no vector, behind the others; null: there are none
  std::int64_t rest_at = 0;                   // where they begin: behind the others, or with some of these once more
  std::vector<loop_around> around;            // of both, from the outermost
  kernels::pointwise_fn point = nullptr;
  std::shared_ptr<const codegen::pointwise_kernel> made;  // the same, written for these arguments
  std::shared_ptr<const codegen::pointwise_kernel> rest_made;
  std::shared_ptr<const codegen::pointwise_kernel> past;  // as `made`, past the caches, where the output begins at a register:
  std::uintptr_t register_bytes = 64;
};

/// An input that is packed, and where: bytes in the scratch.
struct packed_input {
  int input;
  std::int64_t at;
  kernels::move_fn move;
  kernels::move_args args;
};

/// The same in one combination of whole and short tiles, and what is moved before and behind.
struct point_tile : point_call {
  std::vector<packed_input> packed;
  kernels::move_args store;                   // of the output from its buffer
};

/// A loop over tiles; bytes per iteration of each input, then of the output.
struct tile_loop {
  std::int64_t count = 1;
  std::vector<std::int64_t> steps;
  int tail_bit = 0;  // 1 << i if the last iteration is shorter, else 0
};

/// What such a step needs beside the places of a, b and c.
struct other_step : point_call {
  std::vector<point_tile> tiles;              // of a pointwise step in tiles, by tail bits; none: one call
  std::vector<tile_loop> tile_loops;          // from the outermost
  kernels::move_fn move_output = nullptr;     // from its buffer
  std::int64_t buffer = -1, tile_bytes = 0;   // of the output in the scratch, -1: none; what all need
  kernels::halves_args halves;
  std::int64_t x_lane = 1, y_lane = 1;        // strides of its lanes
  kernels::halves_fn half = nullptr;          // null: a written kernel or none
  std::shared_ptr<const codegen::kernel> written_half;  // for a matrix that is packed as its two halves
  std::vector<matrix_end> ends;               // of a pointwise step between products
  std::vector<place> inputs, outputs;         // of a pointwise step
  std::vector<coefficient> alphas, betas;     // for each of its terms, of its statements
  std::vector<int> asks_for;                  // slots: what its kernel asks for of the next block
  std::vector<step_axis> loops;       // gather, scatter: outermost first; strides of the table in a
  bool wide = false;                  // entries of 64 bits
  std::int64_t table_stride = 0;
  kernels::gather_fn gather = nullptr;    // by rows, where the tables were read
  kernels::scatter_fn scatter = nullptr;
  std::shared_ptr<const lookup_walk> alone;  // of a plan that is one gather or scatter
};

/// slice_label: of a step that runs slice by slice, or -1.
place place_of(const plan& p, const segment& s, const operand& x, int slice_label);

std::shared_ptr<const other_step> bind_other(const plan& p, const segment& s, const plan_step& step,
                                             const kernels::kernel_set& kernels);

/// An axis of a pointwise step with the strides of all its streams: outputs, then inputs.
struct point_axis {
  std::int64_t extent;
  std::vector<std::int64_t> strides;
};

/// Joins axes whose strides nest in all streams. The first `kept` take others in, and no other takes them.
void fuse(std::vector<point_axis>& axes, std::size_t kept);

/// The statements of a pointwise operation, their terms and factors.
void add_statements(kernels::pointwise_args& g, const pair_op& op, const std::vector<pointwise_output>& statements);

/// The call for axes of which the first has the lanes: arguments, and a kernel written for them where there can be one. The strides are
/// those of the outputs, then of the inputs. streams: also one that writes past the caches. repeats: elements may be computed twice.
void set_pointwise(point_call& out, std::vector<point_axis> axes, const pair_op& op, const std::vector<pointwise_output>& statements, int width, bool streams = false, bool repeats = false);

/// What a call gets; the type's size is that of an element in memory.
struct point_pointers {
  const void* const* inputs;
  void* const* outputs;
  const void *alphas, *betas;
  std::int64_t size;
};
void run_pointwise(const point_call& s, const point_pointers& p);

/// Is it one call of `made`, and one of `rest_made` if there is a rest?
bool is_straight(const point_call& s);

/// Pointwise steps in tiles. Errors: no_memory.
void bind_tiles(other_step& out, const plan_step& step, const kernels::kernel_set& kernels);
void run_tiles(const step_run& r, std::int64_t first, std::int64_t last);

/// Pointwise steps between products. Throws kernel_refused.
bool has_fibres(const plan_step& s);
void bind_fibres(other_step& out, const plan& p, const segment& s, const plan_step& step);
std::int64_t fibres_bytes(const other_step& s, dtype type);  // for the halves of their matrices
void run_fibres(const bound_step& s, const step_run& r, bool packed);
/// The inputs that are matrices become their halves, which are packed.
void set_packed_ends(step_run& r, char* packs);

/// packed: the halves of the matrix are in the scratch already.
void run_other(const step_run& r, bool packed);

/// Kernels of even and odd products for all of a segment, which ask for the memory that its other steps will need next.
void generate_halves(bound_segment& s);

}  // namespace ricci
