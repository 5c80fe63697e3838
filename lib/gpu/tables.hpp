// Index tensors in GPU memory, copied to the host so that a plan can look at them.
#pragma once

#include <vector>

#include <ricci/program/program.hpp>

namespace ricci::cuda {

class host_tables {
 public:
  /// Errors: wrong_space for a table that is not in GPU memory; gpu_failed.
  host_tables(const program& p, const bindings& b);

  /// The tables' slots point to the copies; the others are null.
  bindings bind() { return {pointers_.data(), nullptr}; }

 private:
  std::vector<void*> pointers_;
  std::vector<std::vector<char>> copies_;
};

}  // namespace ricci::cuda
