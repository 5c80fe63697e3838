// Many small products: which kernel of kernels/small.cuh, and its text.
#pragma once

#include <string>
#include <vector>

#include "gpu/device.hpp"
#include "gpu/shape.hpp"

namespace ricci::cuda {

/// How the products of a tile are made.
enum class arithmetic : int { threads, mma_f64, mma_16, mma_c128, wgmma_16 };
const char* name_of(arithmetic a);  // as it is written in C++
std::string to_string(arithmetic a);  // for people

/// The choices that do not change the result (but for rounding).
struct small_config {
  int problems = 1;  // of a tile
  int group = 128;   // threads that share a tile
  int block = 128;
  int stages = 2;
  arithmetic compute = arithmetic::threads;
  int rm = 2, rn = 2;                   // register tile, in elements or in tiles of the tensor cores
  int pad_a = 0, pad_b = 0, pad_c = 0;  // elements left free after each row of an image
  int unroll = 8;
  int blocks = 1;                       // on a multiprocessor that the compiler leaves registers for
  bool vectors = false;                 // neighbours in shared memory are read at once where they are aligned
  bool lined = false;                   // copies of a run are cut where lines of 128 bytes begin
  bool spread = false;                  // 16-bit tensor cores: neighbouring threads sum terms far apart (rows of odd length)
  bool over = false;                    // results take the place of the factors in shared memory (no beta, one tile a thread)
  int bulk = 0;                         // copies by the hardware: 1 of what is loaded, 2 of what is stored too
  int together = 0;                     // a thread's rows (1), columns (2) or both (3) are neighbours; 16-bit tensor cores: columns only
  bool operator==(const small_config&) const = default;
};

/// A step of small products: the inner loop over neighbouring problems, then the others.
struct small_shape {
  step_shape step;           // m, n, k: one problem; batch is empty
  axis inner;                // the problems of a tile
  std::vector<axis> outer;   // outermost first
  int beside_a = 0, beside_b = 0, beside_c = 0;  // so many problems lie side by side, block after block; 0: one after the other
  bool pointers = false;     // operands are arrays of pointers, one for each problem
  std::int64_t rows = 1;     // of a side without end that are one problem beside a factor that all share
};

inline bool is_beside(const small_shape& s) { return s.beside_a > 0 || s.beside_b > 0 || s.beside_c > 0; }

/// Whether all problems have an operand in common, by its strides.
bool is_common(const small_shape& s, std::int64_t axis::*stride);

/// Blocks copy what problems have in common once, not for every tile.
inline bool keeps_factor(const small_shape& s, const small_config& c) { return c.bulk == 0 && (is_common(s, &axis::a) || is_common(s, &axis::b)); }

/// Tiles of a block without stages: as few as pay for copying what they have in common, for new blocks find memory less busy.
std::int64_t tiles_of_block(const small_shape& s, const small_config& c, const gpu_machine& m);

/// Bytes that the operands' first elements are aligned to: 16, 8, 4 or 2.
struct alignments {
  int a = 16, b = 16, c = 16;
  bool operator==(const alignments&) const = default;
};

/// A kernel of the family, ready to be compiled.
struct small_kernel {
  std::string text;
  int threads = 0, shared_bytes = 0, groups = 1;
};

/// Errors: gpu_failed if the configuration says what cannot be (checked by fits() before).
small_kernel small_text(const small_shape& s, const small_config& c, const alignments& at);

/// Shared memory of a block.
int shared_bytes_of(const small_shape& s, const small_config& c, const alignments& at);

/// Whether the kernel would be right and fit on the machine.
bool fits(const small_shape& s, const small_config& c, const gpu_machine& m);

/// Splits a step into problems and loops; false if the problems are not small: 64 a side and 64 summed, as many as
/// fit where rows without end share a factor, and 128 summed where sides are 32 and factors have 40 KB at most.
bool make_small(const step_shape& step, small_shape& out);

/// All problems have one factor of few elements in common; what is their own are runs of memory, one right behind the other.
bool shares_small_factor(const small_shape& s);

/// Rows (or columns) beside a small factor that are too few for a problem of several, as the others would be: they are better off in a launch
/// of their own, if the others are planned so. The axis, in its group, whose last ones they are; none if there are none, or too little else
/// to do.
struct odd_rows {
  std::vector<axis> step_shape::*group = nullptr;
  std::int64_t count = 0;
};
odd_rows find_odd_rows(const step_shape& s);

/// The best configuration known: from the shipped table for its sizes, else by rules.
small_config choose_small(const small_shape& s, const gpu_machine& m);

/// Configurations worth measuring, the rules' choice first; `thorough`: others, for sizes where those are not enough.
std::vector<small_config> small_candidates(const small_shape& s, const gpu_machine& m, bool thorough = false);

std::string to_string(const small_config& c);

}  // namespace ricci::cuda
