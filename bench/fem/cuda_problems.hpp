// The bake-off kernels on GPU tensors, as programs with their memory; measured by cuda.cpp.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ricci/program/program.hpp>

namespace fem {

/// A program with its memory, not run yet.
struct lowered {
  ricci::program what;
  std::vector<void*> pointers;
  std::vector<std::complex<double>> scalars;
};

/// BK1, BK3 or BK5 of a degree over some elements.
class problem {
 public:
  problem(const std::string& name, int degree, std::int64_t elements);
  ~problem();

  /// Copies device memory over and over into all that is read.
  void fill(const void* pattern, std::int64_t bytes);
  lowered statements();
  /// The result: its beginning, middle and end; poison() before a run shows what it does not write.
  void poison();
  std::vector<double> sample() const;
  double flops() const;  // as the bake-off counts them

 private:
  struct tensors;
  std::unique_ptr<tensors> all_;
};

}  // namespace fem
