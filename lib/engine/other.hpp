// Steps that are not contractions of two operands: pointwise, gather, scatter, and products with even or odd matrices.
#pragma once

#include "codegen/halves.hpp"
#include "codegen/pointwise.hpp"
#include "engine/bound.hpp"

namespace ricci {

/// What such a step needs beside the places of a, b and c.
struct other_step {
  kernels::pointwise_args pointwise;
  kernels::pointwise_args rest;               // of lanes that fill no vector, behind the rows; none if its extent is 0
  kernels::pointwise_fn point = nullptr;
  std::shared_ptr<const codegen::pointwise_kernel> made;  // the same, written for these arguments
  kernels::halves_args halves;
  kernels::halves_fn half = nullptr;
  std::shared_ptr<const codegen::kernel> written_half;  // for a matrix that is packed as its two halves
  std::vector<place> inputs, outputs;         // of a pointwise step
  std::vector<coefficient> alphas, betas;     // for each of its terms, of its statements
  std::vector<step_axis> loops;       // gather, scatter: outermost first; strides of the table in a
  bool wide = false;                  // entries of 64 bits
  std::int64_t table_stride = 0;
  kernels::gather_fn gather = nullptr;    // by rows, where the tables were read
  kernels::scatter_fn scatter = nullptr;
};

place place_of(const plan& p, const segment& s, const operand& x);

std::shared_ptr<const other_step> bind_other(const plan& p, const segment& s, const plan_step& step,
                                             const kernels::kernel_set& kernels);

/// packed: the halves of the matrix are in the scratch already.
void run_other(const step_run& r, bool packed);

/// Kernels of even and odd products for all of a segment, which ask for the memory that its other steps will need next.
void generate_halves(bound_segment& s);

}  // namespace ricci
