// The compiled half of the front end: a flat program and its run-time numbers become a program, a plan, a run.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <utility>

#include <ricci/analysis/verdict.hpp>
#include <ricci/engine/engine.hpp>

namespace ricci::detail {

/// One evaluation: what the templates collected, and room for what a run needs.
struct front_call {
  const flat_program* program;
  const void* const* bases;             // one for each leaf
  const std::int64_t* numbers;
  const std::complex<double>* scalars;
  void** pointers;                      // room for slot_count
  std::complex<double>* coefficients;   // room for term_count
  void* stream = nullptr;               // of CUDA, for GPU tensors
};

/// A left side or factor of a remembered plan. A base is as good as that of the plan if it is `least` (1: not null) or more, and if from
/// `near` behind the left's base on there are at least `span` bytes to it, counted around through the end of memory.
struct memo_slot {
  std::int64_t leaf;
  std::int64_t offset;  // bytes from the base of the leaf
  std::uint64_t least, near, span;
};

struct memo_entry;

/// Remembered plans of one statement type on one thread. Zero-initialised; freed when the thread ends.
struct memo {
  memo_entry** lists = nullptr;  // by extents
  // Of the one that ran last, if nothing is left to do but to run it over the leaves in their order, with the scalars as they are:
  const executable* code = nullptr;  // null: there is more to do
  const std::int64_t* numbers = nullptr;
  const memo_slot* places = nullptr;
};

/// Whether what ran last may run again. Fills the pointers in. Without loops, which compilers do not unroll at -O2.
template <std::size_t... Number, std::size_t... Slot>
inline bool runs_again(const memo& last, const std::int64_t* numbers, const void* const* bases, void** pointers, std::index_sequence<Number...>, std::index_sequence<Slot...>) {
  if (!last.code || (0 | ... | (last.numbers[Number] ^ numbers[Number])) != 0) return false;
  const auto left = reinterpret_cast<std::uint64_t>(bases[0]);
  const auto fits = [left](const memo_slot& slot, const void* data, void*& to, bool is_left) {
    const auto base = reinterpret_cast<std::uint64_t>(data);
    to = reinterpret_cast<void*>(base + static_cast<std::uint64_t>(slot.offset));
    return base >= slot.least && (is_left || base - left - slot.near >= slot.span);
  };
  return (fits(last.places[Slot], bases[Slot], pointers[Slot], Slot == 0) && ...);
}

/// Runs a single statement through the memo. A hit compares numbers and memory spans; it allocates nothing. Behind the
/// bases of the leaves there is room for slot_count pointers, behind the scalars for term_count coefficients if there are any.
void execute(const flat_program& p, void** bases, const std::int64_t* numbers, std::complex<double>* scalars, memo& remembered, void* stream);

/// Plans without a memo and fills pointers and coefficients.
std::shared_ptr<const executable> prepare(const front_call& call, const options& o);

/// Nothing but what planning would refuse. For statements that are inlined.
void check(const front_call& call);

/// Several plans in a row: a statement over interleaved tensors, whose problems may not fill their blocks.
class recipe;
std::shared_ptr<const recipe> prepare_recipe(const front_call& call, const options& o);
void run(const recipe& r, const front_call& call);
double flops(const recipe& r);
double bytes(const recipe& r);

/// Has the program an axis of interleaved problems?
constexpr bool is_interleaved(const flat_program& p) {
  for (int l = 0; l < p.leaf_count; ++l)
    if (p.leaves[l].width > 0) return true;
  return false;
}

/// The program of a call, for tests and texts.
program lower(const front_call& call);

/// The run-time twin of diagnostics.hpp.
[[noreturn]] void throw_verdict(const verdict& v, const flat_program& p);

}  // namespace ricci::detail
