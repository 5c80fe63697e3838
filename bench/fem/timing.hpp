// Interleaved windows of thread CPU time, and the peak of the core in between.
#pragma once

#include <ctime>

#include <algorithm>
#include <functional>
#include <vector>

#include <kernels/kernels.hpp>

namespace bench {

inline double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

using job = std::function<void()>;

/// Median seconds of one run of each job, and the median multiply-add peak of this core in between, GFLOP/s.
struct timing {
  std::vector<double> seconds;
  double peak = 0;
  double operator[](std::size_t which) const { return seconds[which]; }
};

inline double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

/// Jobs in turn until `budget` seconds are spent for each.
inline timing medians(const std::vector<job>& jobs, double budget) {
  std::vector<int> times;
  for (const job& run : jobs) {
    run();
    const double start = cpu_seconds();
    run();
    const double once = std::max(cpu_seconds() - start, 1e-9);
    times.push_back(std::max(1, int(budget / 15 / once)));
  }
  constexpr std::int64_t peak_rounds = 3000;  // some tens of microseconds
  std::vector<std::vector<double>> found(jobs.size() + 1);  // the last: the peak
  for (int round = 0; round < 15; ++round) {
    for (std::size_t x = 0; x < jobs.size(); ++x) {
      const double start = cpu_seconds();
      for (int y = 0; y < times[x]; ++y) jobs[x]();
      found[x].push_back((cpu_seconds() - start) / times[x]);
    }
    const double start = cpu_seconds();
    const double flops = ricci::kernels::best().peak[1](peak_rounds);
    found.back().push_back(flops / (cpu_seconds() - start) * 1e-9);
  }
  timing out;
  for (const auto& f : found) out.seconds.push_back(median(f));
  out.peak = out.seconds.back(), out.seconds.pop_back();
  return out;
}

}  // namespace bench
