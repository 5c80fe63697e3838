// Pointwise statements between two products with even or odd matrices along one axis, written at run time: a fibre's
// elements go from the first product through the statements into the second one in registers.
#pragma once

#include "codegen/halves.hpp"
#include "codegen/pointwise.hpp"

namespace ricci::codegen {

/// One of the products. The rows of the statements are its other index.
struct fibre_end {
  int at = -1;                   // before: the input that it gives; after: the statement whose result it reads; -1: none
  int tensor = -1, matrix = -1;  // streams: what is read (an input) or written (an output), and the halves of the matrix
  int size = 0;                  // elements of a fibre of the tensor; the tensor's row is their stride
  int parity = 1;
  factor beta = factor::zero;    // after: zero or one
};

/// points.args: lanes of one register, rows, and loops that the kernel walks. Tensors and matrices of the products are
/// among its streams; what an end gives or takes is in none.
struct fibres_request {
  pointwise_request points;
  fibre_end before, after;
};

/// Rows that fit in registers between products over `before` and `after` elements (0: none), on AVX-512.
inline bool fibres_fit(std::int64_t rows, std::int64_t before, std::int64_t after) {
  const auto product = [](std::int64_t n) { return n == 0 || (n >= 2 && n <= kernels::max_halves); };
  return rows >= 2 && rows <= 16 && product(before) && product(after) && before + 2 <= 32 - rows;
}

/// Null if there is none: no AVX-512, too many rows or different steps, exp.
std::shared_ptr<const pointwise_kernel> make(const fibres_request& r, target t);

}  // namespace ricci::codegen
