// A machine as a value: what the planner may know of the CPU it plans for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ricci {

struct cache_level {
  std::int64_t bytes = 0;      // per core (per group of cores for the last level)
  double bandwidth = 0;        // GB/s one core streams from it (triad)
  bool operator==(const cache_level&) const = default;
};

/// How many bytes ahead of what they compute kernels ask for what lies in the second cache, in the third and in memory (0:
/// not at all), and up to how many bytes of one iteration's factors and results they do.
struct asking {
  int second = 0, third = 0, memory = 0;
  std::int64_t third_factors = 2048, third_results = 32768, memory_factors = 12288, memory_results = 32768;
  bool operator==(const asking&) const = default;
};

struct machine {
  std::string name;            // "AMD EPYC (AVX2)", or the name of a shipped description
  std::string isa;             // as kernel_set::isa
  int cores = 1;
  int vector_bytes = 32;
  int vector_registers = 16;
  double peak_f64 = 0;         // GFLOP/s of one core, multiply-adds
  double peak_f32 = 0;
  std::vector<cache_level> caches;  // L1, L2, L3
  double memory_bandwidth = 0;      // GB/s, one core
  double memory_bandwidth_all = 0;  // GB/s, all cores
  bool writes_kernels = false;      // kernels are written for each plan (lib/codegen)
  asking asks;                      // seen to gain on Intel, on Zen 3 (from memory) and on Zen 5
  bool fetches_blocks = false;      // chains gain from asking for the next block (seen on Zen 4; on Intel and Zen 5 it is lost)
  std::int64_t least_streamed = 1;  // problems of a batch that leave past the caches together at least, if they are small enough
  bool measured = false;            // peaks and bandwidths measured here, not taken from a table
  bool operator==(const machine&) const = default;
};

/// This machine: topology from the system; peaks from the remembered measurement if there is one, else estimated.
const machine& this_machine();

/// Measures peaks and bandwidths (about half a second).
machine measure_machine();

/// Shipped descriptions by name ("avx2", "avx512", "neon"), for planning elsewhere and for golden tests.
std::optional<machine> named_machine(const std::string& name);
std::vector<std::string> machine_names();

/// Where the measurement of this machine is remembered ($RICCI_CACHE, else the user's cache folder); empty if nowhere.
std::string machine_file();
void save_machine(const machine& m);

}  // namespace ricci
