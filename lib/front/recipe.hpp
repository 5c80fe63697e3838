// Plans run one after the other, with memory for copies between them.
#pragma once

#include <iosfwd>

#include "front/lowering.hpp"

namespace ricci::detail {

class recipe {
 public:
  /// bases: of the leaves, whose tables are looked at.
  recipe(lowered_parts parts, const options& o, const void* const* bases);

  /// Allocates nothing unless there are copies. stream: of CUDA, for GPU tensors; null: the default one.
  void run(const void* const* bases, const std::complex<double>* coefficients, void* stream) const;
  double flops() const;
  double bytes() const;
  void print(std::ostream& out) const;

 private:
  struct step {
    std::shared_ptr<const executable> code;
    std::vector<lowered_part::source> slots;
  };
  std::vector<step> steps_;
  std::vector<std::int64_t> copies_;
  std::vector<std::vector<char>> kept_;  // tables
  memory_space space_;
};

}  // namespace ricci::detail
