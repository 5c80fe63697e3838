// Measured choices for many small square products, shipped.
#pragma once

#include "gpu/small.hpp"

namespace ricci::cuda {

struct small_entry {
  dtype type = dtype::f64;
  int n = 0;
  bool beta = false;
  small_config config;
};

extern const small_entry small_entries[];
extern const int small_entry_count;

}  // namespace ricci::cuda
