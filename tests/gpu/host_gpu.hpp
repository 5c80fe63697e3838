// Kernels' texts compiled for this CPU, many at once, and whole programs for the GPU run with them.
#pragma once

#include <string>
#include <vector>

#include "gpu/executable.hpp"

namespace ricci::test {

class host_gpu {
 public:
  host_gpu();
  ~host_gpu();
  host_gpu(const host_gpu&) = delete;
  host_gpu& operator=(const host_gpu&) = delete;

  /// The chains of a plan; they can run after compile().
  void add(const cuda::program_plan& p);
  /// Empty, or what the compiler said.
  std::string compile();
  /// Everything on the calling thread; single contractions by plain loops.
  void run(const cuda::program_plan& p, const bindings& b, bool reverse) const;

 private:
  using launcher = void (*)(void* args, unsigned grid, unsigned threads, bool reverse);
  std::string folder_;
  std::vector<std::string> texts_;
  std::vector<launcher> launchers_;
  void* library_ = nullptr;
};

}  // namespace ricci::test
