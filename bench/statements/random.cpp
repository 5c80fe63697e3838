// Random contractions of one and two tensors in many sizes, or those of a file, each beside what peak and memory allow: where plans are slow.
//   bench_random [--dtype f64] [--count N] [--seed S] [--worst W] [--threads N] [--file FILE] [--out FILE] [--against FILE] [--loops]
// Prints how much of its bound a contraction reaches on geometric mean, how many stay below three tenths, and the W slowest.
// --loops: the bound is what plain loops of constant extents take, the better of two orders, compiled by cc -O3 -march=native -ffast-math.
// --out writes every time; --against compares with the times of such a file, of another build with the same seed.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <ricci/ricci.hpp>

#include "../random_contractions.hpp"
#include "loops.hpp"
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
  const double flops = x.flops() * (complex ? 4 : 1), bytes = sizeof(T) * x.elements();
  double rate = m.memory_bandwidth;
  for (auto level = m.caches.rbegin(); level != m.caches.rend(); ++level)
    if (bytes <= 0.75 * static_cast<double>(level->bytes) && level->bandwidth > 0) rate = level->bandwidth;
  return std::max(1e-9 * flops / (twice ? m.peak_f64 : m.peak_f32), 1e-9 * bytes / rate) + 0.25e-6;
}

/// All numbers are small integers: no sum is rounded unless it is long.
template <class T>
bool are_equal(const ricci::ndarray<T>& mine, const ricci::ndarray<T>& other, const contraction& x) {
  double terms = 1;
  for (const auto& [label, n] : x.extent) terms *= static_cast<double>(n);
  terms /= static_cast<double>(std::max<std::int64_t>(1, x.size(x.c)));
  const bool twice = ricci::dtype_of<T> == ricci::dtype::f64 || ricci::dtype_of<T> == ricci::dtype::c128;
  const double bound = 6 * terms * terms * (twice ? 0x1p-52 : 0x1p-23);
  for (std::int64_t i = 0; i < mine.size(); ++i)
    if (!(std::abs(mine.data()[i] - other.data()[i]) <= bound)) return false;
  return true;
}

template <class T>
result measure(const contraction& x, const ricci::machine& m, const plain_loops* loops, std::size_t at) {
  std::vector<ricci::ndarray<T>> factors;
  std::vector<ricci::ndview<const T>> views;
  for (std::size_t f = 0; f < x.factors().size(); ++f) {
    ricci::ndarray<T>& to = factors.emplace_back(std::vector<std::int64_t>{x.layout(f).elements});
    const int range = factors.size() == 1 ? 7 : 5;
    for (std::int64_t i = 0; i < to.size(); ++i) to.data()[i] = T(static_cast<float>(i % range - range / 2));
  }
  for (std::size_t f = 0; f < factors.size(); ++f) views.emplace_back(factors[f].data(), x.layout(f).shape, x.layout(f).strides);
  ricci::ndarray<T> c(x.shape(x.c));
  const std::string einsum = x.einsum();
  const double t = seconds_of([&] { ricci::einsum_into(c, einsum, views); });
  if (!loops) return {x.name(), t, bound<T>(x, m)};
  // gcc 12 gets one order of some complex loops wrong (-O3 -ffast-math): the other one is the peer then.
  double peer = 1e30;
  for (int order = 0; order < plain_loops::orders; ++order) {
    ricci::ndarray<T> other(x.shape(x.c));
    const double seconds = seconds_of([&] { loops->at(at, order)(factors[0].data(), x.b.empty() ? nullptr : factors[1].data(), other.data()); });
    if (are_equal(c, other, x)) peer = std::min(peer, seconds);
  }
  if (peer == 1e30) throw std::runtime_error(x.name() + ": ricci and the loops differ");
  return {x.name(), t, peer};
}

/// C's name of an element type; null if it has none.
template <class T>
const char* c_name() {
  switch (ricci::dtype_of<T>) {
    case ricci::dtype::f64: return "double";
    case ricci::dtype::f32: return "float";
    case ricci::dtype::c64: return "float _Complex";
    case ricci::dtype::c128: return "double _Complex";
    default: return nullptr;
  }
}

template <class T>
void run(const random_setting& s, bool with_loops) {
  const ricci::machine m = ricci::measure_machine();
  const std::vector<contraction> problems = problems_of(s, {s.seed, 10, 24, 1 << 24});
  std::optional<plain_loops> loops;
  if (with_loops) {
    if (std::any_of(problems.begin(), problems.end(), [](const contraction& x) { return !x.more.empty() || !x.written.empty(); })) throw std::runtime_error("loops are of one or two dense tensors");
    if (!c_name<T>()) throw std::runtime_error("C has no " + s.dtype);
    loops.emplace(problems, c_name<T>());
  }
  std::vector<result> all;
  for (std::size_t i = 0; i < problems.size(); ++i) all.push_back(measure<T>(problems[i], m, loops ? &*loops : nullptr, i));
  report(std::move(all), m.name, s);
}

}  // namespace

int main(int count, char** words) {
  random_setting s;
  int threads = 1;
  bool loops = false;
  CLI::App app("random contractions beside peak and memory of one core");
  s.add_to(app);
  app.add_option("--threads", threads)->check(CLI::Range(1, 1024));
  app.add_flag("--loops", loops, "beside plain loops instead of peak and memory");
  CLI11_PARSE(app, count, words);
  omp_set_num_threads(threads);
  return run_program("bench_random", [&] { with_type(s.dtype, [&](auto x) { run<decltype(x)>(s, loops); }); });
}
