// One step on the GPU: which kernel, its text, its grid. Pure: no driver is called.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "gpu/abreast.hpp"
#include "gpu/blas.hpp"
#include "gpu/cache.hpp"
#include "gpu/panel.hpp"
#include "gpu/shape.hpp"
#include "gpu/small.hpp"
#include "gpu/turn.hpp"

namespace ricci::cuda {

enum class kernel_kind { small, panel, tile, permute, window, abreast, general };

/// kernels/tile.cuh
struct tile_config {
  arithmetic compute = arithmetic::threads;
  int rows = 64, cols = 64, depth = 16, stages = 3, block = 256, rm = 4, rn = 4, warps_m = 1, warps_n = 1;
  int blocks = 2;  // on a multiprocessor that the compiler leaves registers for
  std::int64_t parts = 1;  // of the sum
  bool beside = false;     // the parts are those of blocks beside one another, which add them
  int planes_a = 1, planes_b = 1;  // of bfloat16 whose sum a factor is, for tensor cores (kernels/planes.cuh)
  bool in_planes() const { return planes_a * planes_b > 1; }
};

/// What bits of a thread's number count: elements of a free axis, or terms of a summed one; axis < 0: of all axes that are not named.
struct lane_bits {
  bool sums = false;
  int axis = -1;  // of batch, m and n in this order, or of k
  int bits = 0;
};

/// A thread has `count` neighbours along a free axis.
struct own_elements {
  int axis = 0;
  std::int64_t count = 1;
};

/// A thread has `count` neighbours along an axis at once: elements of a free one, terms of a summed one. Or of a result without
/// gaps, whichever axes they are in.
struct neighbours {
  static constexpr int flat = -1;
  bool sums = false;
  int axis = 0;  // flat: of all the result
  int count = 1;
  bool is_flat() const { return count > 1 && axis == flat; }
};

/// kernels/general.cuh
struct general_config {
  std::vector<lane_bits> lanes = std::vector<lane_bits>(1, lane_bits{false, -1, 8});  // the lowest bits first
  std::vector<own_elements> own;
  neighbours run;
  char order = 'c';        // the operand in whose order axes that are not named are counted
  std::int64_t parts = 1;  // of the sum
};

/// A thread has `each` elements along a free axis of b, and all terms of a sum, whose windows overlap.
struct window_direction {
  int free = -1;  // of batch, m and n in this order; -1: none
  std::int64_t each = 1;
  int sum = -1;  // of k; -1: none
};

/// kernels/window.cuh
struct window_config {
  window_direction rows, cols;
  int own = -1;  // a free axis that b lacks; -1: none
  std::int64_t each_own = 1;
  neighbours run;  // elements along a free axis, or terms, that are neighbours in b
  int block = 128, blocks = 4;  // threads; on a multiprocessor that the compiler leaves registers for
};

struct step_plan {
  kernel_kind kind = kernel_kind::general;
  step_shape shape;
  small_shape small;
  small_config config;
  tile_config tile;
  panel_config panel;
  general_config general;
  window_config window;
  abreast_config abreast;
  turn_config turn;      // a transposition in words; else it is in squares
  blas_call blas;  // used: the step is the vendor's; if that cannot be found, the kernel of `kind` does it
  bool passes_blas = false;  // tiles are faster than the vendor's library, which would be used else
  std::shared_ptr<const step_plan> last;  // adds the parts of a sum: the kernel of this plan leaves them, element by element in the order
                                          // of `shape`, one part after the other; may leave parts itself; else null
  std::shared_ptr<const step_plan> rest;  // terms that are no whole part: one more part, behind the others; else null
  std::int64_t rest_a = 0, rest_b = 0;    // elements that the factors begin further on there
  double flops = 0, bytes = 0, bound_seconds = 0;
};

/// `in_parts`: there is memory for partial sums.
step_plan plan_step(const step_shape& s, const gpu_machine& m, bool in_parts = true);

/// What a step takes about, in seconds, beside its launch: to choose between ways, not to promise.
double estimated_seconds(const step_plan& p, const gpu_machine& m);

/// The kernel of p leaves this many parts of its sums, another adds them.
void cut_sum(step_plan& p, std::int64_t parts, const gpu_machine& m);

/// Long sums of few rows and columns: each part is a small product of its own, and another kernel adds them, if that is estimated to be
/// faster than p with its sum in `parts`. False, and nothing is changed, if not.
bool sum_as_problems(step_plan& p, std::int64_t parts, const gpu_machine& m);

/// Seconds to add the parts.
double adding_seconds(const step_plan& p, const gpu_machine& m);

/// The kernel of a step for operands aligned so.
kernel_request request_of(const step_plan& p, const alignments& at);

/// How pointers are aligned, at most 16 bytes and at least an element.
alignments alignments_of(const step_shape& s, const void* a, const void* b, const void* c);

/// Threads of a block.
int threads_of(const step_plan& p);

/// Bytes of partial sums that the step needs.
std::int64_t partial_bytes(const step_plan& p);

/// One kernel of a step after the other: where it reads and writes partial sums, in bytes of their memory; -1: the operands, the result.
struct step_pass {
  const step_plan* plan = nullptr;
  std::int64_t from = -1, to = -1;
  std::int64_t a = 0, b = 0;  // elements that the factors begin further on
};
struct step_passes {
  static constexpr std::size_t most = 4;
  std::array<step_pass, most> all{};
  std::size_t count = 0;
  const step_pass* begin() const { return all.data(); }
  const step_pass* end() const { return all.data() + count; }
};
step_passes passes_of(const step_plan& p);

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

/// What a pass is given, of a step with these operands.
operands operands_of(const step_pass& pass, const operands& x, void* partial);

/// Fills in the arguments and the grid.
packed_args pack(const step_plan& p, const operands& x, const kernel& k, const gpu_machine& m);

/// Texts of the families other than `small`.
std::string general_text(const step_plan& p, const alignments& at);
general_config choose_general(const step_shape& s, const gpu_machine& m);
/// Seconds that it takes to add up parts of sums: another kernel, and memory for them (measured on an H100).
constexpr double adding_parts = 8e-6;
/// What it takes about, in seconds, beside the launch; in_parts: the sum may be cut.
double general_seconds(const step_shape& s, const general_config& c, const gpu_machine& m, bool in_parts);
/// Many matrices times vectors: threads that share each product read the matrices as they lie, small products by way of shared
/// memory. But not in float where both are very small, nor where a good part of the threads has nothing (measured on an H200).
bool shares_vectors(const step_shape& s, const general_config& c);
/// In how many parts a sum is cut, if there is memory for them.
std::int64_t parts_of(const step_shape& s, const general_config& c, const gpu_machine& m);
int threads_of(const general_config& c);
/// Blocks of elements, times parts; turns that threads take for a sum.
std::int64_t general_blocks(const step_shape& s, const general_config& c);
std::int64_t general_turns(const step_shape& s, const general_config& c);
bool has_whole_turns(const step_shape& s, const general_config& c);
/// Sectors of an operand that 32 threads read at once, each one element.
double sectors_of_warp(const step_shape& s, const general_config& c, char operand, dtype t);
std::string to_string(const general_config& c, const step_shape& s);

/// What runs a transposition that is none in words (can_turn): threads that write in the order of the result; squares that go through
/// shared memory; or, where it is all of a statement, tiles of any axes.
enum class turning { threads, squares, tiles };
turning turning_of(const step_shape& s);
/// Elements of the result between neighbours of an operand that are best read together.
inline constexpr std::int64_t far_apart = 1000;
/// Whether a step runs in squares: also where tiles would be better, but for small sides, which threads write.
bool can_permute(const step_shape& s);
/// Squares, or tiles in words.
std::int64_t permute_count(const step_plan& p);
int permute_threads(const step_plan& p);
kernel_request permute_request(const step_plan& p, const alignments& at);

std::string tile_text(const step_plan& p, const alignments& at, int& shared_bytes);
/// The configurations that are considered for a step, with sums in one part.
std::vector<tile_config> tile_candidates(const step_shape& s, const gpu_machine& m);
/// in_parts: there is memory for partial sums.
tile_config choose_tile(const step_shape& s, const gpu_machine& m, bool in_parts);
/// What tiles take for their arithmetic and copies about, in seconds, beside the launch.
double tile_seconds(const step_shape& s, const tile_config& c, const gpu_machine& m);
/// The step with the axes of its groups in the order that lets the copies of tiles read neighbours.
step_shape arranged_for_tiles(const step_shape& s, const tile_config& c);

std::string to_string(const step_plan& p);

}  // namespace ricci::cuda
