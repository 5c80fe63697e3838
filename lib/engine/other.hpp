// Steps that are not contractions of two operands: pointwise, gather, scatter, and products with even or odd matrices.
#pragma once

#include "codegen/fibres.hpp"
#include "engine/bound.hpp"

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

/// What such a step needs beside the places of a, b and c.
struct other_step {
  kernels::pointwise_args pointwise;
  kernels::pointwise_args rest;               // of lanes that fill no vector, behind the rows; none if its extent is 0
  std::vector<loop_around> around;            // of both, from the outermost
  kernels::pointwise_fn point = nullptr;
  std::shared_ptr<const codegen::pointwise_kernel> made;  // the same, written for these arguments
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
