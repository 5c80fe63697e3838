// Steps that are one call of one kernel: all but the pointers, and coefficients that are scalars, is known before the run.
#pragma once

#include <optional>

#include "engine/other.hpp"

namespace ricci {

class single_call {
 public:
  /// The call that a step is, in a plan without blocks; none if it is more: loops over tiles, a buffer, stores past the caches. A factor
  /// may be packed before, if it is small and a written kernel does it. The step stays where it is as long as the call.
  static std::optional<single_call> of(const bound_step& s, const kernels::kernel_set& kernels);

  /// The steps' tensors and, behind them, what is packed, are in the scratch.
  void run(const bindings& b, char* temporaries, char* packs) const {
    if (known_) return run_with(ready_, b, temporaries, packs);
    run_open(b, temporaries, packs);
  }
  bool needs_scratch() const;

 private:
  /// Where an operand is: in a slot of the bindings, a constant, or in the scratch.
  struct source {
    int slot = -1;
    const void* constant = nullptr;
    std::int64_t offset = 0;
    const void* at(const bindings& b, const char* temporaries) const { return slot >= 0 ? b.pointers[slot] : constant ? constant : temporaries + offset; }
  };

  /// A coefficient that only the run knows.
  struct open_scalar {
    std::size_t at;  // in step_scalars
    int scalar;      // of which it is a multiple; -1: more than that
    double base;
    const coefficient* value;
  };

  /// What packs a factor, or moves a tensor: a kernel, or a pointwise call and its kernel if it has but one.
  struct turn {
    std::shared_ptr<const codegen::kernel> kernel;
    const codegen::pointwise_kernel* point = nullptr;
    std::shared_ptr<const point_call> call;
    explicit operator bool() const { return kernel || call; }
    void set(std::shared_ptr<const point_call> x);
    const void* run(const void* from, void* to, std::int64_t size) const;
  };

  explicit single_call(const bound_step& s);
  static source source_of(const place& p, const void* one);
  void set_points(const bound_step& s);
  void set_open(const bound_step& s);
  void run_with(const step_scalars& r, const bindings& b, const char* temporaries, char* packs) const;
  void run_open(const bindings& b, const char* temporaries, char* packs) const;
  void run_product(const step_scalars& r, const bindings& b, const char* temporaries, char* packs) const;
  void run_points(const step_scalars& r, const bindings& b, const char* temporaries) const;

  const codegen::kernel* kernel_ = nullptr;            // all there is to call, or null
  const codegen::pointwise_kernel* point_ = nullptr;   // the same of a pointwise step
  bool known_ = true;  // the coefficients, which are in ready_
  dtype type_;
  bool scaled_;
  bool straight_ = false;               // points_ is a written kernel, and perhaps one for the last lanes
  source a_, b_, c_, scale_;
  int first_ = -1;                      // slot of the first input of point_, if the others follow it and the first output is c_'s
  const point_call* points_ = nullptr;  // null: a product, or a permutation
  std::vector<source> streams_;         // of these: inputs, then outputs
  int inputs_ = 0, outputs_ = 0;
  std::int64_t size_;
  const bound_step* step_;
  turn turn_a_, turn_b_;                // what packs; of a permutation turn_b_ moves
  std::vector<open_scalar> open_;       // all that a written kernel reads, where the run has scalars; none: there is no such kernel
  step_scalars ready_;
};

/// All steps of a plan, if each is one call; else none. They stay where they are as long as the calls.
std::vector<single_call> calls_of(const bound_plan& p, const kernels::kernel_set& kernels);

}  // namespace ricci
