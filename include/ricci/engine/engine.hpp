// The compiled door of the library: a program goes in, something that runs comes out. No templates here.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include <ricci/program/program.hpp>

namespace ricci {

/// How to plan. Part of the key under which plans are remembered.
struct options {
  bool strict = false;         // an error instead of a slow fallback
  bool deterministic = false;  // ignore tuning tables and where memory begins; same bits on the same ISA with as many threads
  int threads = 0;             // most threads a run may use; 0: OpenMP's choice
  bool check_indices = true;   // index tensors are checked when the plan is made
  bool operator==(const options&) const = default;
};

/// Errors: bad_argument for options that mean nothing. compile() checks its own.
void check(const options& o);

/// An immutable, runnable plan. Safe to run from several threads at once on different data.
class executable;

/// Plans `p` for the machine this runs on, or finds the remembered plan of an equal program.
/// Errors: those of check() for both, no_gpu, no_memory, too_slow.
std::shared_ptr<const executable> compile(const program& p, const options& o = {});

/// The same for a program that looks up indices: its tables are read here. `check_indices` finds entries that are out of
/// bounds; scatter-adds are ordered so that a run gives the same bits with any number of threads. The tables must stay
/// as they are as long as the executable runs. Errors: bad_range names the first bad entry.
std::shared_ptr<const executable> compile(const program& p, const options& o, const bindings& tables);

/// Errors: bad_range names the first entry of a table that is not an index of its axis.
void check_indices(const program& p, const bindings& b);

/// Runs a plan. Allocates nothing (the calling thread's workspace was reserved by compile() on this thread, and grows
/// once if another thread runs the plan).
/// Errors: no_memory then, and nothing was changed.
void run(const executable& e, const bindings& b);

/// Reserves what a run on this thread needs; before the first of several plans that belong together. Errors: no_memory.
void reserve(const executable& e);

/// The same for a program over GPU tensors: enqueues on a CUDA stream (null: the default one) and returns. May be
/// captured in a CUDA graph. Errors: wrong_space (host tensors, or pointers that are not the GPU's), gpu_failed, no_memory.
void run(const executable& e, const bindings& b, void* stream);

/// The plan as text: order, groups of labels, steps, kernels, flops, bytes, temporaries, bounds.
std::string describe(const executable& e);

/// Floating-point operations of one run (a complex multiply-add counts 8) and bytes that must move at least once.
double flops(const executable& e);
double bytes(const executable& e);

namespace detail {

/// A tensor as the overlap test sees it: pointer to its first element, the strides and ranges that a reference uses.
struct footprint {
  const void* base;            // the whole tensor's first element
  dtype type;
  int rank;                    // of the tensor, before constants and diagonals
  const std::int64_t* strides; // of the tensor's axes
  const std::int64_t* first;   // first index used on each axis
  const std::int64_t* last;    // one past the last index used
  const int* label;            // label on each axis, or -1 for a constant
};

/// Decides how the memory of the left side and of another reference relate. O(rank^2), no allocation.
overlap::kind classify(const footprint& left, const footprint& other) noexcept;

/// Bytes of what may be large in a plan: lists of offsets, which grow with its extents, and code.
std::int64_t large_bytes(const executable& e);

/// Plans with more are remembered by the engine alone, for a while.
inline constexpr std::int64_t most_large_bytes_elsewhere = 1 << 20;

/// Most such bytes of all plans that are remembered in one place.
inline constexpr std::int64_t most_large_bytes = std::int64_t{256} << 20;

/// The GPU for which compile() plans now: that of the thread's current CUDA context, else the first. Errors: no_gpu.
int current_gpu();

}  // namespace detail
}  // namespace ricci
