// Products of problems that lie side by side in memory: which kernel of kernels/abreast.cuh, its text, what it takes.
#pragma once

#include <optional>

#include "gpu/small.hpp"

namespace ricci::cuda {

inline int size_in(dtype t) { return static_cast<int>(size_of(t)); }

/// kernels/abreast.cuh
struct abreast_config {
  arithmetic compute = arithmetic::threads;
  int wide = 8;                            // problems of a block
  int rows = 32, cols = 32, depth = 8, stages = 2;  // of a problem's tile and of its slices
  int rm = 4, rn = 4;                      // of a thread, or tiles of 16 x 8 of a warp
  int own = 1;                             // problems of a thread
  int block = 256, blocks = 1;             // threads; on a multiprocessor that the compiler leaves registers for
  bool operator==(const abreast_config&) const = default;
};

/// The step with the problems that are neighbours innermost.
step_shape arranged_for_abreast(const step_shape& s);

/// The fastest kernel by estimate for a step that is arranged so; none if neighbours in memory are of one problem everywhere, or types differ.
std::optional<abreast_config> choose_abreast(const step_shape& s, const gpu_machine& m);
/// All that are considered.
std::vector<abreast_config> abreast_candidates(const step_shape& s, const gpu_machine& m);

/// What it takes about, in seconds, beside the launch.
double abreast_seconds(const step_shape& s, const abreast_config& c, const gpu_machine& m);

std::int64_t abreast_tiles(const step_shape& s, const abreast_config& c);
int abreast_shared_bytes(const step_shape& s, const abreast_config& c);
std::string abreast_text(const step_shape& s, const abreast_config& c, const alignments& at, int& shared_bytes);
std::string to_string(const abreast_config& c);

/// What an operand's neighbours in memory are: problems, rows (columns of b), or terms (columns of c).
enum class beside : int { problems, lines, others };
beside nearest_of(const step_shape& s, char operand);

}  // namespace ricci::cuda
