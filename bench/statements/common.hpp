// What the benches of statements share: numbers to work on, a check, and the rates that they report.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <benchmark/benchmark.h>

namespace bench {

/// Numbers in [-1, 1) that are the same everywhere.
template <class T>
void fill(T* to, std::int64_t count, std::uint64_t seed) {
  for (std::int64_t x = 0; x < count; ++x) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    to[x] = T(double(std::int64_t(seed) >> 11) * 0x1p-52);
  }
}

/// Stops the benchmark if two results of factors in [-1, 1) differ by more than rounding can explain: each sum of
/// `terms` products is bounded by `terms`.
template <class T>
void expect_equal(benchmark::State& state, const T* mine, const T* peer, std::int64_t count, std::int64_t terms) {
  const double bound = double(terms) * double(terms) * double(std::numeric_limits<T>::epsilon());
  for (std::int64_t x = 0; x < count; ++x)
    if (!(std::abs(double(mine[x]) - double(peer[x])) <= bound)) {
      state.SkipWithError("ricci and Eigen differ");
      return;
    }
}

inline void report(benchmark::State& state, double flops, double bytes) {
  using benchmark::Counter;
  if (flops > 0) state.counters["FLOP/s"] = Counter(flops, Counter::kIsIterationInvariantRate);
  state.counters["B/s"] = Counter(bytes, Counter::kIsIterationInvariantRate);
}

}  // namespace bench
