// What a request knows of alpha and beta.
#pragma once

#include "codegen/codegen.hpp"

/// Of a factor whose value is known when the kernel is made, or not.
template <class T> ricci::codegen::factor factor_of(T x, bool known, bool may_be_zero) {
  using enum ricci::codegen::factor;
  if (!known) return any;
  return x == T(1) ? one : x == T(-1) ? minus_one : x == T(0) && may_be_zero ? zero : any;
}
