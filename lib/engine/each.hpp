// A plan run for many problems whose operands live anywhere.
#pragma once

#include <algorithm>

#include "engine/bound.hpp"

namespace ricci {

class bare_call;
class packed_call;

/// The same problem as a kernel call, or as a copy and a kernel call; null: it is neither.
struct each_call {
  const bare_call* bare = nullptr;
  const packed_call* packed = nullptr;
};

/// Runs `p` for problems 0 .. count-1. Slot s of problem i is at slots[s][i]. OpenMP over the problems when they are
/// many, inside each problem when they are few and large.
/// Errors    no_memory, before any problem has run.
void execute_each(const bound_plan& p, const each_call& call, const void* const* const* slots, int slot_count, std::int64_t count,
                  const std::complex<double>* scalars);

/// A step whose kernel is called for one problem after the other.
class kernel_call {
 public:
  /// Apart from prepare(), because the coefficients may change from call to call.
  void set_scalars(const std::complex<double>* scalars) { ricci::set_scalars(run_, *run_.step, {nullptr, scalars}); }

  int slot_a() const { return run_.step->a.slot; }
  int slot_b() const { return run_.step->b.slot; }
  int slot_c() const { return run_.step->c.slot; }

 protected:
  step_run run_{};
  codegen::kernel::function made_ = nullptr;  // written at run time for this very problem
};

/// One problem as a bare kernel call, where a run is nothing else: one tile, nothing packed, nothing buffered.
/// This is the place where a kernel that was made for the very problem is called.
class bare_call : public kernel_call {
 public:
  /// False if a run of `p` is more than one kernel call.
  bool prepare(const bound_plan& p);

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
  kernels::contract_fn contract_ = nullptr;
  const kernels::contract_args* args_ = nullptr;
};

/// One problem whose factor b is packed before the kernel is called. Some are packed together, so that a kernel does not wait for
/// what was just stored.
class packed_call : public kernel_call {
 public:
  /// False if a run of `p` is more than that, or less.
  bool prepare(const bound_plan& p);

  /// Bytes of scratch memory.
  std::int64_t bytes() const { return together_ * bytes_; }

  /// Problems [first, last) of arrays of pointers.
  RICCI_CALLS_WRITTEN_CODE void run(const void* const* a, const void* const* b, const void* const* c, std::int64_t first, std::int64_t last, char* scratch) const {
    for (; first < last; first += together_) {
      const std::int64_t count = std::min(together_, last - first);
      for (std::int64_t i = 0; i < count; ++i) {
        if (turn_) turn_(nullptr, b[first + i], scratch + i * bytes_, nullptr, nullptr);
        else run_.step->move_b(run_.step->tiles[0].pack_b, b[first + i], scratch + i * bytes_, nullptr);
      }
      for (std::int64_t i = 0; i < count; ++i) made_(a[first + i], scratch + i * bytes_, const_cast<void*>(c[first + i]), run_.alpha, run_.beta);
    }
  }

 private:
  codegen::kernel::function turn_ = nullptr;
  std::int64_t bytes_ = 0, together_ = 1;  // of a packed matrix; problems
};

}  // namespace ricci
