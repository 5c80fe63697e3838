// Tiles whose factors are cut in planes of bfloat16 for the tensor cores (kernels/planes.cuh): which, and what they take.
#pragma once

#include "gpu/step.hpp"

namespace ricci::cuda {

/// How many planes the factors of a step have; 1: they stay as they are.
struct planes {
  int a = 1, b = 1;
  bool any() const { return a * b > 1; }
};
/// Floats beside 16 bits, and floats whose product is stored in 16 bits.
planes planes_of(const step_shape& s);

/// Products of the tensor cores for one of numbers, as planes_count() in the kernel has it; of a configuration what it mostly makes.
int products_of(const planes& x);
int products_of(const tile_config& c);
/// The fewest that a step needs.
int least_products(const step_shape& s);

/// Slices are multiplied as halves where they can be: floats beside halves, by warpgroups in wide tiles.
bool is_scaled(const tile_config& c);

std::vector<tile_config> tiles_in_planes(const step_shape& s, const gpu_machine& m);

/// Of the peak of a multiprocessor that has enough to do, beside cutting.
double share_in_planes(const tile_config& c);
/// How busy blocks keep a multiprocessor.
double busy_in_planes(const tile_config& c, std::int64_t blocks);
/// What it takes to cut a slice, in seconds of a multiprocessor.
double seconds_to_cut(const tile_config& c, const step_shape& s);

}  // namespace ricci::cuda
