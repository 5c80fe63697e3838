// The compiled half of the front end: a flat program and its run-time numbers become a program, a plan, a run.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

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

struct memo_entry;

/// Remembered plans of one statement type on one thread. Zero-initialised; freed when the thread ends.
struct memo {
  memo_entry* first = nullptr;
};

/// Runs a single statement through the memo. A hit compares numbers and memory spans; it allocates nothing.
void execute(const front_call& call, memo& remembered);

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
