// A plan run for many problems whose operands live anywhere.
#pragma once

#include "engine/bound.hpp"

namespace ricci {

class bare_call;

/// Runs `p` for problems 0 .. count-1. Slot s of problem i is at slots[s][i]. OpenMP over the problems when they are
/// many, inside each problem when they are few and large. bare: the same problem as one kernel call, or null.
/// Errors    no_memory, before any problem has run.
void execute_each(const bound_plan& p, const bare_call* bare, const void* const* const* slots, int slot_count, std::int64_t count,
                  const std::complex<double>* scalars);

/// One problem as a bare kernel call, where a run is nothing else: one tile, nothing packed, nothing buffered.
/// This is the place where a kernel that was made for the very problem is called.
class bare_call {
 public:
  /// False if a run of `p` is more than one kernel call. The coefficients are set by another function, because they
  /// may change from call to call.
  bool prepare(const bound_plan& p);
  void set_scalars(const std::complex<double>* scalars) { ricci::set_scalars(run_, *run_.step, {nullptr, scalars}); }

  int slot_a() const { return run_.step->a.slot; }
  int slot_b() const { return run_.step->b.slot; }
  int slot_c() const { return run_.step->c.slot; }

  RICCI_CALLS_WRITTEN_CODE void operator()(const void* a, const void* b, void* c) const {
    if (made_) made_(a, b, c, run_.alpha, run_.beta);
    else contract_(*args_, a, b, c, run_.alpha, run_.beta);
  }

  /// Problems [first, last) of arrays of pointers.
  RICCI_CALLS_WRITTEN_CODE void run(const void* const* a, const void* const* b, const void* const* c, std::int64_t first,
                                    std::int64_t last) const {
    if (made_)
      for (std::int64_t i = first; i < last; ++i) made_(a[i], b[i], const_cast<void*>(c[i]), run_.alpha, run_.beta);
    else
      for (std::int64_t i = first; i < last; ++i) (*this)(a[i], b[i], const_cast<void*>(c[i]));
  }

 private:
  step_run run_{};
  codegen::kernel::function made_ = nullptr;  // written at run time for this very problem
  kernels::contract_fn contract_ = nullptr;
  const kernels::contract_args* args_ = nullptr;
};

}  // namespace ricci
