// Random contractions of one and two tensors in many sizes, each beside what peak and memory allow: where plans are slow.
//   bench_random [--dtype f64] [--count N] [--seed S] [--worst W] [--threads N] [--out FILE] [--against FILE]
// Prints how much of its bound a contraction reaches on geometric mean, how many stay below three tenths, and the W slowest.
// --out writes every time; --against compares with the times of such a file, of another build with the same seed.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <ricci/ricci.hpp>

#include "../random_contractions.hpp"
#include "machine/machine.hpp"

namespace {

using namespace bench;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds: the best of at least three runs in 30 ms, after one that makes the plan.
double seconds_of(const std::function<void()>& run) {
  run();
  double best = 1e30;
  const double end = now() + 0.03;
  for (int runs = 0; runs < 3 || now() < end; ++runs) {
    const double start = now();
    run();
    best = std::min(best, now() - start);
  }
  return best;
}

/// Seconds that peak or memory need, whichever is slower, and a quarter of a microsecond for the call.
template <class T>
double bound(const contraction& x, const ricci::machine& m) {
  const bool complex = ricci::is_complex(ricci::dtype_of<T>), twice = ricci::dtype_of<T> == ricci::dtype::f64 || ricci::dtype_of<T> == ricci::dtype::c128;
  double all = complex ? 4 : 1;
  for (const auto& [label, n] : x.extent) all *= static_cast<double>(n);
  const double flops = x.b.empty() ? 0 : 2 * all, bytes = sizeof(T) * static_cast<double>(x.size(x.a) + (x.b.empty() ? 0 : x.size(x.b)) + x.size(x.c));
  double rate = m.memory_bandwidth;
  for (auto level = m.caches.rbegin(); level != m.caches.rend(); ++level)
    if (bytes <= 0.75 * static_cast<double>(level->bytes) && level->bandwidth > 0) rate = level->bandwidth;
  return std::max(1e-9 * flops / (twice ? m.peak_f64 : m.peak_f32), 1e-9 * bytes / rate) + 0.25e-6;
}

template <class T>
result measure(const contraction& x, const ricci::machine& m) {
  ricci::ndarray<T> a(x.shape(x.a)), b(x.shape(x.b)), c(x.shape(x.c));
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = T(static_cast<float>(i % 7 - 3));
  for (std::int64_t i = 0; i < b.size(); ++i) b.data()[i] = T(static_cast<float>(i % 5 - 2));
  const std::string einsum = x.einsum();
  const double t = seconds_of([&] {
    if (x.b.empty()) ricci::einsum_into(c, einsum, a);
    else ricci::einsum_into(c, einsum, a, b);
  });
  return {x.name(), t, bound<T>(x, m)};
}

template <class T>
void run(const random_setting& s) {
  const ricci::machine m = ricci::measure_machine();
  std::vector<result> all;
  for (const contraction& x : problems_of(s, {s.seed, 10, 24, 1 << 24})) all.push_back(measure<T>(x, m));
  report(std::move(all), m.name, s);
}

}  // namespace

int main(int count, char** words) {
  random_setting s;
  int threads = 1;
  CLI::App app("random contractions beside peak and memory of one core");
  s.add_to(app);
  app.add_option("--threads", threads)->check(CLI::Range(1, 1024));
  CLI11_PARSE(app, count, words);
  omp_set_num_threads(threads);
  return run_program("bench_random", [&] { with_type(s.dtype, [&](auto x) { run<decltype(x)>(s); }); });
}
