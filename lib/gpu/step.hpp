// One step on the GPU: which kernel, its text, its grid. Pure: no driver is called.
#pragma once

#include <string>
#include <vector>

#include "gpu/blas.hpp"
#include "gpu/cache.hpp"
#include "gpu/panel.hpp"
#include "gpu/shape.hpp"
#include "gpu/small.hpp"

namespace ricci::cuda {

enum class kernel_kind { small, panel, tile, permute, general };

/// kernels/tile.cuh
struct tile_config {
  arithmetic compute = arithmetic::threads;
  int rows = 64, cols = 64, depth = 16, stages = 3, block = 256, rm = 4, rn = 4, warps_m = 1, warps_n = 1;
  int blocks = 2;  // on a multiprocessor that the compiler leaves registers for
};

/// kernels/general.cuh; parts > 1: a first pass leaves that many partial sums for each element, a second adds them.
struct general_config {
  int team = 1, block = 256;
  std::int64_t parts = 1;
};

struct step_plan {
  kernel_kind kind = kernel_kind::general;
  step_shape shape;
  small_shape small;
  small_config config;
  tile_config tile;
  panel_config panel;
  general_config general;
  blas_call blas;  // used: the step is the vendor's; if that cannot be found, the kernel of `kind` does it
  double flops = 0, bytes = 0, bound_seconds = 0;
};

step_plan plan_step(const step_shape& s, const gpu_machine& m);

/// The kernel of a step for operands aligned so. `last`: the second pass of a sum in parts.
kernel_request request_of(const step_plan& p, const alignments& at, bool last = false);

/// How pointers are aligned, at most 16 bytes and at least an element.
alignments alignments_of(const step_shape& s, const void* a, const void* b, const void* c);

/// Threads of a block.
int threads_of(const step_plan& p);

/// Bytes of partial sums that the step needs.
std::int64_t partial_bytes(const step_plan& p);

/// The arguments of any kernel, as bytes.
struct packed_args {
  alignas(16) char bytes[512];
  unsigned grid = 1;
};

struct operands {
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;
  double alpha[2] = {1, 0}, beta[2] = {0, 0};
};

/// Fills in the arguments and the grid.
packed_args pack(const step_plan& p, const operands& x, const kernel& k, const gpu_machine& m, bool last = false);

/// Texts of the families other than `small`.
std::string general_text(const step_plan& p, bool last);
std::string permute_text(const step_plan& p);
bool can_permute(const step_shape& s);
std::int64_t permute_squares(const step_shape& s);
std::string tile_text(const step_plan& p, const alignments& at, int& shared_bytes);
tile_config choose_tile(const step_shape& s);
/// The step with the axes of its groups in the order that lets the copies of tiles read neighbours.
step_shape arranged_for_tiles(const step_shape& s, const tile_config& c);

std::string to_string(const step_plan& p);

}  // namespace ricci::cuda
