// Seconds of short calls, for the benches of this folder.
#pragma once

#include <algorithm>
#include <chrono>

inline double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds of one call: the best of many short runs within `patience` seconds, since others may use the machine.
template <class F>
double time_of(F&& f, double patience) {
  f();
  int calls = 1;
  for (;; calls *= 2) {
    const double start = now();
    for (int i = 0; i < calls; ++i) f();
    if (now() - start > 2e-4) break;
  }
  double best = 1e30;
  for (const double end = now() + patience; now() < end;) {
    const double start = now();
    for (int i = 0; i < calls; ++i) f();
    best = std::min(best, (now() - start) / calls);
  }
  return best;
}
