// A batch of row-major, dense products on the GPU as a program.
#pragma once

#include <ricci/program/program.hpp>

namespace ricci::tools {

/// C(e,i,j) = A(e,i,k) B(e,k,j), or += with beta; slots 0, 1 and 2.
inline program gemm_program(dtype type, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, bool beta) {
  program p;
  p.labels = {{"e", batch}, {"i", m}, {"j", n}, {"k", k}};
  const auto tensor_of = [&](int slot, const char* name, int row, int col) {
    const std::int64_t cols = p.labels[static_cast<std::size_t>(col)].extent, rows = p.labels[static_cast<std::size_t>(row)].extent;
    reference r;
    r.slot = slot, r.type = type, r.space = memory_space::gpu, r.name = name;
    r.axes = {{0, rows * cols}, {row, cols}, {col, 1}};
    return r;
  };
  p.slot_count = 3;
  p.statements = {{tensor_of(0, "C", 1, 2), beta ? update::add : update::assign, {{-1, false, {tensor_of(1, "A", 1, 3), tensor_of(2, "B", 3, 2)}}}}};
  return p;
}

}  // namespace ricci::tools
