// What a bench of statements needs of the GPU, without the library's own headers, which do not stand beside the public ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace bench {

std::string gpu_name();

/// GB/s of x = y + z over 1 GiB each.
double triad_bandwidth();

/// GB/s of x = x + y + z over runs of so many bytes (a multiple of 16) that begin `pitch` bytes apart: what the same pattern of
/// reads and writes gives without any product.
double runs_bandwidth(std::int64_t run, std::int64_t pitch);

/// GB/s of x = x + x in place over [1, 9) x [1, 8) of 9 x 8 doubles, again and again, sectors counted whole: what the paper's
/// statement reads and writes of its result, without a product. A block does `turns` pieces of 32 KiB one after the other.
double update_bandwidth(int turns);

/// Median of nine timings by events, after two that are not counted.
double median_seconds(const std::function<void()>& work);

/// Random doubles in [-1, 1), a pattern of 64 MiB repeated, in GPU memory.
void fill(double* at, std::int64_t count, unsigned seed);

}  // namespace bench
