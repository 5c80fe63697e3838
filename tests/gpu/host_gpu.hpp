// Kernels' texts compiled for this CPU, many at once, and whole programs for the GPU run with them.
#pragma once

#include <string>
#include <vector>

#include "gpu/executable.hpp"
#include "temporary_folder.hpp"

namespace ricci::test {

class host_gpu {
 public:
  /// Whether kernels of small products and panels run here as well: they take long to compile.
  explicit host_gpu(bool small = false) : small_(small) {}
  ~host_gpu();
  host_gpu(const host_gpu&) = delete;
  host_gpu& operator=(const host_gpu&) = delete;

  /// Whether kernels of this kind run here; the others are plain loops.
  bool runs(const cuda::step_plan& p) const;
  bool runs_alone(const cuda::step_plan& p) const;
  /// The kernels of a plan; they can run after compile().
  void add(const cuda::program_plan& p);
  /// Empty, or what the compiler said.
  std::string compile();
  /// Everything on the calling thread.
  void run(const cuda::program_plan& p, const bindings& b, bool reverse) const;

  /// Words that transpositions of 16 bits read of their factor from now on, and those that reach beyond this memory.
  struct read_words {
    long all = 0, beyond = 0;
  };
  void watch(const void* begin, const void* end) const;
  read_words words() const;

 private:
  void launch(const std::string& text, void* args, unsigned grid, int threads, bool reverse) const;
  void run_step(const cuda::step_plan& p, const cuda::operands& x, bool reverse) const;

  using launcher = void (*)(void* args, unsigned grid, unsigned threads, bool reverse);
  bool small_;
  temporary_folder folder_;
  std::vector<std::string> texts_;
  std::vector<launcher> launchers_;
  void* library_ = nullptr;
};

}  // namespace ricci::test
