// Pointwise statements written at run time: straight code for one vector in a loop over rows.
#pragma once

#include <vector>

#include "codegen/codegen.hpp"

namespace ricci::codegen {

/// What is known of the coefficients when the kernel is made.
struct pointwise_request {
  dtype type = dtype::f64;  // f32 or f64
  kernels::pointwise_args args;
  std::vector<factor> alphas, betas;  // for each term, each statement
  std::vector<std::int64_t> ahead = {};  // bytes behind what each input reads now that are asked for; 0 or none: nothing
  bool pairs = false;          // of real and imaginary parts: two lanes each, extents and strides count reals, coefficients are complex
  bool streams = false;        // results leave past the caches: whole registers, at multiples of their size
  std::vector<int> late = {};  // statements that are stored behind all others, where an input stands that others read
};

/// Arguments as kernels::pointwise_fn has them behind the first.
class pointwise_kernel {
 public:
  using function = void (*)(const void* const* inputs, void* const* outputs, const void* alphas, const void* betas);

  pointwise_kernel(function f, std::shared_ptr<const void> memory) : entry_(f), memory_(std::move(memory)) {}
  RICCI_CALLS_WRITTEN_CODE void operator()(const void* const* inputs, void* const* outputs, const void* alphas,
                                           const void* betas) const {
    entry_(inputs, outputs, alphas, betas);
  }

 private:
  function entry_;
  std::shared_ptr<const void> memory_;
};

/// Inputs may have any stride along the lanes if they have stride 1 along the rows, or if there is but one: they are transposed on the
/// way. Pairs of doubles may have any.
/// Null if there is none: lanes of other than one to eight vectors (sixteen of one row), quotients in part of a vector with AVX2, loops around the rows (the caller's), exp, no generator here.
std::shared_ptr<const pointwise_kernel> make(const pointwise_request& r, target t);

}  // namespace ricci::codegen
