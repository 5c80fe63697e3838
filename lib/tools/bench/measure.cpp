// The clock: contenders in turn, A B A B, and windows in which the thread was descheduled thrown away.
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>

#include "tools/bench/bench.hpp"

namespace ricci::tools {
namespace {

double wall_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double thread_now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// What takes part: a contender or one of the calibrations. Work is counted in units (problems, flops, bytes).
struct participant {
  std::function<double(std::int64_t times, std::int64_t chunk)> run;  // returns units done
  std::int64_t times = 1;
  std::vector<double> samples;  // seconds for one unit
  int discarded = 0;
};

/// One window. Returns false if it does not count.
bool window(participant& p, std::int64_t chunk, double& seconds, double& units) {
  const double wall = wall_now(), cpu = thread_now();
  units = p.run(p.times, chunk);
  const double used = thread_now() - cpu;
  seconds = wall_now() - wall;
  return seconds - used < 0.02 * seconds + 4e-6;
}

/// Repetitions so that a window takes about `target` seconds. The faster of three windows counts: one that waited for
/// memory or another process would end the search too early.
void calibrate(participant& p, double target) {
  for (int i = 0; i < 40; ++i) {
    double least = 1e9;
    for (int attempt = 0; attempt < 3; ++attempt) {
      double seconds = 0, units = 0;
      window(p, i, seconds, units);
      least = std::min(least, seconds);
      if (seconds <= 0.7 * target) break;
    }
    if (least > 0.7 * target) break;
    const double factor = std::clamp(target / std::max(least, 1e-9), 1.3, 20.0);
    p.times = std::max<std::int64_t>(p.times + 1, static_cast<std::int64_t>(static_cast<double>(p.times) * factor));
  }
}

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

double least(const std::vector<double>& x) { return x.empty() ? 0 : *std::min_element(x.begin(), x.end()); }

/// `times` times problems [first, last). Threads meet at the end of all repetitions only.
void run_contender(const contender& c, int threads, std::int64_t times, std::int64_t first, std::int64_t last) {
  if (threads == 1 || !c.alone) {
    for (std::int64_t i = 0; i < times; ++i) c.run(first, last);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t t = omp_get_thread_num(), n = omp_get_num_threads(), count = last - first;
    for (std::int64_t i = 0; i < times; ++i) c.run(first + count * t / n, first + count * (t + 1) / n);
  }
}

std::complex<long double> element(dtype type, const void* base, std::int64_t at) {
  switch (type) {
    case dtype::f32: return static_cast<const float*>(base)[at];
    case dtype::f64: return static_cast<const double*>(base)[at];
    case dtype::c64: return std::complex<long double>(static_cast<const std::complex<float>*>(base)[at]);
    case dtype::c128: return std::complex<long double>(static_cast<const std::complex<double>*>(base)[at]);
    case dtype::f16: return static_cast<float>(static_cast<const half*>(base)[at]);
    default: return static_cast<float>(static_cast<const bfloat16*>(base)[at]);
  }
}

long double roundoff(dtype type) {
  return type == dtype::bf16 ? 0x1p-8L : type == dtype::f16 ? 0x1p-11L : type == dtype::f32 || type == dtype::c64 ? 0x1p-24L : 0x1p-53L;
}

/// C_e of a contender that ran once on fresh data, beside loops in long double, by c k eps (|A||B|).
bool problem_agrees(const gemm_data& d, const contender& x, std::int64_t e) {
  const gemm_case& c = d.problem;
  const auto [m, n, k] = c.size;
  std::vector<char> copy(static_cast<std::size_t>(d.step_c) * size_of(c.type));
  const bool listed = !d.pointers_a.empty();
  const void* const a = listed ? d.pointers_a[e] : d.address(d.a, d.step_a, e);
  const void* const b = listed ? d.pointers_b[e] : d.address(d.b, d.step_b, e);
  const void* result = listed ? d.pointers_c[e] : d.address(d.c, d.step_c, e);
  if (x.result) x.result(e, copy.data()), result = copy.data();
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      std::complex<long double> sum = c.beta ? 1 : 0;  // fresh C holds ones
      long double magnitude = c.beta;
      for (std::int64_t l = 0; l < k; ++l) {
        const auto p = element(c.type, a, c.trans_a ? l * c.ld_a() + i : i * c.ld_a() + l);
        const auto q = element(c.type, b, c.trans_b ? j * c.ld_b() + l : l * c.ld_b() + j);
        sum += p * q;
        magnitude += std::abs(p) * std::abs(q);
      }
      const long double error = std::abs(element(c.type, result, i * c.ld_c() + j) - sum);
      if (!(error <= static_cast<long double>(2 * (k + 4)) * roundoff(c.type) * magnitude)) return false;
    }
  return true;
}

bool agrees(const gemm_case& c, gemm_data& d, const contender& x) {
  d.reset();
  if (x.reset) x.reset();
  run_contender(x, c.threads, 1, 0, c.batch);
  for (const std::int64_t e : {std::int64_t{0}, std::int64_t{1}, c.batch / 3, c.batch / 2, c.batch - 2, c.batch - 1})
    if (e >= 0 && e < c.batch && !problem_agrees(d, x, e)) return false;
  return true;
}

/// Rounds of windows, each begun by another participant. cold: every window takes the next piece.
void run_rounds(std::vector<participant>& all, int rounds, bool cold, int threads) {
  std::int64_t chunk = 0;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      participant& p = all[(i + static_cast<std::size_t>(round)) % all.size()];
      for (int attempt = 0; attempt < 4; ++attempt) {
        // What ran just before may have streamed past the caches: once untimed, or the one behind it always paid for that.
        if (!cold) p.run(1, chunk);
        double seconds = 0, units = 0;
        const bool counts = window(p, chunk, seconds, units) || threads > 1;
        ++chunk;
        if (counts) {
          p.samples.push_back(seconds / units);
          break;
        }
        ++p.discarded;
      }
    }
}

}  // namespace

gemm_answer measure(const bench_request& r, const gemm_case& c, gemm_data& data, std::vector<contender> contenders) {
  gemm_answer out{c, {}, 0, 0};
  // In cache a window repeats the whole batch; out of it, it takes the next piece, which is no longer cached, and is by itself
  // what a call for the whole would be: larger than the caches.
  const bool cold = c.footprint == "dram";
  const std::int64_t pieces = cold ? std::max<std::int64_t>(1, std::min<std::int64_t>(4, c.batch / 64)) : 1;
  const auto piece = [&](std::int64_t chunk) { return c.batch * (chunk % pieces) / pieces; };
  const auto piece_end = [&](std::int64_t chunk) { return c.batch * (chunk % pieces + 1) / pieces; };

  std::vector<participant> all;
  for (const contender& x : contenders) {
    timing t{x.name, x.ours};
    t.agrees = agrees(c, data, x);
    out.contenders.push_back(t);
    all.push_back({[&, &x = x](std::int64_t times, std::int64_t chunk) {
      run_contender(x, c.threads, times, piece(chunk), piece_end(chunk));
      return static_cast<double>(times * (piece_end(chunk) - piece(chunk)));
    }, 1, {}, 0});
  }
  all.push_back({[&](std::int64_t times, std::int64_t) { return run_peak(c.type, times); }, 100, {}, 0});
  for (const bool past : {false, true})
    all.push_back({[&, past](std::int64_t times, std::int64_t chunk) {
      return run_stream(c, data, times, piece(chunk), piece_end(chunk), past);
    }, 1, {}, 0});

  data.reset();
  for (participant& p : all) {
    if (!cold || &p == &all[contenders.size()]) calibrate(p, r.window);
  }
  run_rounds(all, r.rounds, cold, c.threads);
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    out.contenders[i].median = median(all[i].samples);
    out.contenders[i].best = least(all[i].samples);
    out.contenders[i].windows = static_cast<int>(all[i].samples.size());
    out.contenders[i].discarded = all[i].discarded;
  }
  const auto rate = [](const participant& p) { const double s = least(p.samples); return s > 0 ? 1 / s : 0.0; };
  out.peak = rate(all[contenders.size()]) * c.threads;
  out.bandwidth = std::max(rate(all[contenders.size() + 1]), rate(all[contenders.size() + 2]));
  return out;
}

double gemm_answer::bound() const {
  const double memory = bandwidth > 0 ? problem.flops() / problem.bytes() * bandwidth : peak;
  return std::min(peak, memory);
}

const timing* gemm_answer::ours() const {
  const timing* best = nullptr;
  for (const timing& t : contenders)
    if (t.ours && (!best || t.median < best->median)) best = &t;
  return best;
}

const timing* gemm_answer::best_peer() const {
  const timing* best = nullptr;
  for (const timing& t : contenders)
    if (!t.ours && t.agrees && t.windows > 0 && (!best || t.median < best->median)) best = &t;
  return best;
}

}  // namespace ricci::tools
