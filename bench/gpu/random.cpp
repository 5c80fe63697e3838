// Random contractions of one and two tensors on the GPU, each beside what peak and memory allow: where plans are slow.
//   bench_gpu_random [--dtype f64] [--count N] [--seed S] [--worst W] [--file FILE] [--out FILE] [--against FILE] [--explain 1]
// The options of bench_random; --explain says how the slowest are run. Bounds take nine tenths of the memory's rate on paper, and the
// time of a kernel that does nothing.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "../random_contractions.hpp"
#include "einsum/lower.hpp"
#include "gpu/executable.hpp"
#include "gpu/measure.hpp"

namespace {

using namespace bench;
using namespace ricci;

/// c = a b of dense tensors in the GPU's memory.
program program_of(const contraction& x, dtype t) {
  const std::vector<std::int64_t> a = x.shape(x.a), b = x.shape(x.b), along_a = detail::dense_strides(a), along_b = detail::dense_strides(b);
  static double somewhere;  // not read, but operands without memory are refused
  std::vector<detail::array_info> operands{{&somewhere, t, a, along_a}};
  if (!x.b.empty()) operands.push_back({&somewhere, t, b, along_b});
  const std::string einsum = x.einsum();
  return cuda::placed_on_gpu(detail::lower_einsum(detail::parse({einsum}, operands.size()), operands, nullptr).statement);
}

struct memory {
  cuda::buffer c, a, b;
};

struct timed {
  result r;
  std::string plan;
};

/// Seconds that memory or peak need for the contraction, however it is done.
double bound(const contraction& x, dtype t) {
  const cuda::gpu_machine& m = cuda::current_device().machine;
  double all = is_complex(t) ? 8 : 2, elements = 0;
  for (const auto& [label, n] : x.extent) all *= static_cast<double>(n);
  for (const std::string* const tensor : {&x.a, &x.b, &x.c})
    if (tensor != &x.b || !x.b.empty()) elements += static_cast<double>(x.size(*tensor));
  const double peak = t == dtype::f64 || t == dtype::c128 ? m.tensor_f64 : size_of(t) == 2 ? m.tensor_16 : m.peak_f32;
  return 1e-9 * std::max(elements * static_cast<double>(size_of(t)) / m.bandwidth, x.b.empty() ? 0 : all / peak);
}

timed measure(const contraction& x, dtype t, const memory& at, double launch, bool explain) {
  const cuda::executable plan(cuda::make_program_plan(program_of(x, t), cuda::current_device().machine, {}));
  void* const pointers[] = {at.c.data(), at.a.data(), at.b.data()};
  const double seconds = cuda::median_seconds(7, [&](int) { plan.run({pointers, nullptr}, nullptr); });
  return {{x.name(), seconds, bound(x, t) + launch}, explain ? plan.describe() : ""};
}

void run(const random_setting& s, dtype t, bool explain) {
  constexpr std::int64_t elements = std::int64_t{1} << 26;
  const cuda::use_device use(cuda::current_device());
  const std::int64_t bytes = elements * static_cast<std::int64_t>(size_of(t));
  const memory at{cuda::buffer(bytes), cuda::buffer(bytes), cuda::buffer(bytes)};
  at.a.randomise(t, 1), at.b.randomise(t, 2);
  const double launch = cuda::empty_launch_seconds();
  std::printf("triad %.0f GB/s, a kernel that does nothing %.1f us\n", cuda::measure_bandwidth(at.c, at.a, at.b).triad, 1e6 * launch);
  at.a.randomise(t, 1);
  std::vector<timed> all;
  for (const contraction& x : problems_of(s, {s.seed, 18, 31, elements})) all.push_back(measure(x, t, at, launch, explain));
  std::vector<result> results;
  for (const timed& x : all) results.push_back(x.r);
  report(std::move(results), cuda::current_device().machine.name, s);
  if (!explain) return;
  std::sort(all.begin(), all.end(), [](const timed& x, const timed& y) { return x.r.bound / x.r.seconds < y.r.bound / y.r.seconds; });
  for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(s.worst); ++i) std::printf("\n%s\n%s", all[i].r.name.c_str(), all[i].plan.c_str());
}

}  // namespace

int main(int count, char** words) {
  random_setting s;
  bool explain = false;
  CLI::App app("random contractions on the GPU beside peak and memory");
  s.add_to(app);
  app.add_option("--explain", explain);
  CLI11_PARSE(app, count, words);
  return run_program("bench_gpu_random", [&] { with_type(s.dtype, [&](auto x) { run(s, dtype_of<decltype(x)>, explain); }); });
}
