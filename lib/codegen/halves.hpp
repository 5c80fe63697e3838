// Products with even or odd matrices written at run time: the extents are known, the two half matrices are made once.
#pragma once

#include "codegen/codegen.hpp"

namespace ricci::codegen {

struct halves_request {
  dtype type = dtype::f64;  // f32 or f64
  kernels::halves_args args;
  factor beta = factor::zero;      // zero or one
  std::int64_t fetch_bytes = 0;    // of memory that is needed soon: the kernel asks for it along the way
  std::int64_t x_lane = 1, y_lane = 1;  // strides of the lanes; where one is not 1, a loop has stride 1 in its place
};

/// The two half matrices, alpha in them, in the order in which a written kernel reads them.
std::int64_t halves_bytes(const kernels::halves_args& g, dtype type);
void make_halves(const kernels::halves_args& g, dtype type, const void* m, const void* alpha, void* to);

/// The kernel's a is what make_halves() made, b is x, c is y, and in the place of alpha comes the memory to ask for.
/// Null if there is none: lanes that fill no register, one point or row, too many of them, no generator here.
std::shared_ptr<const kernel> make(const halves_request& r, target t);

}  // namespace ricci::codegen
