// A program on the GPU: steps with kernels, temporaries in stream-ordered memory.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gpu/chain.hpp"
#include "gpu/elementwise.hpp"
#include "gpu/step.hpp"

namespace ricci::cuda {

/// Where a step finds an operand.
struct place {
  operand::kind where = operand::kind::one;
  int slot = 0;
  std::int64_t offset = 0;  // in bytes: of a temporary in the workspace, of what a launch begins with in a tensor
  int bytes = 1;            // of an element
};

/// One launch of a program (two, for sums in parts).
struct launch_plan {
  int op = 0;                        // the first operation
  std::optional<chain_plan> chain;   // of several; else
  std::optional<elementwise_plan> tiles;  // of one without a sum; else
  step_plan step;                    // of this one:
  std::array<place, 3> places;       // a, b, c
  std::int64_t partials = -1;        // offset of partial sums, or -1
  std::vector<place> pointers;       // of a chain or tiles
  std::vector<coefficient> scalars;
};

/// The plan of a program for a GPU: a value; nothing was compiled or allocated.
struct program_plan {
  program source;
  std::vector<pair_op> ops;
  std::vector<launch_plan> launches;
  std::int64_t workspace = 0;                // bytes
  std::vector<std::string> notes;
  double flops = 0, bytes = 0, bound_seconds = 0;
};

program_plan make_program_plan(const program& p, const gpu_machine& m, const options& o);

/// As people read it; with what the compiler made of the kernels if there is a device.
std::string to_string(const program_plan& p, const gpu_machine& m, const device* compiled = nullptr);

/// Immutable but for kernels of other alignments, which are added as they are needed. Safe to run from several threads.
class executable {
 public:
  executable(const program& p, const options& o);
  /// A plan for the current device, as it is or with other configurations.
  explicit executable(program_plan p);

  /// Enqueues on a stream of the device; returns at once.
  void run(const bindings& b, void* stream) const;
  std::string describe() const;
  const program_plan& plan() const { return plan_; }

 private:
  struct variants;
  const kernel& kernel_of(std::size_t launch, const alignments& at, std::size_t pass) const;
  void prepare(std::size_t launch);
  bool settle_blas(step_plan& p) const;
  void launch_step(std::size_t launch, const operands& x, cu_stream stream, const char* scratch) const;
  void launch_chain(std::size_t launch, const bindings& b, cu_stream stream, char* scratch) const;
  void launch_tiles(std::size_t launch, const bindings& b, cu_stream stream) const;
  void check_pointers(const bindings& b) const;

  device& device_;
  program_plan plan_;
  std::shared_ptr<variants> variants_;
};

/// True if the program's tensors are in GPU memory.
bool on_gpu(const program& p);

/// The same program over GPU memory.
program placed_on_gpu(program p);

}  // namespace ricci::cuda
