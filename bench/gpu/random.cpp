// Random contractions of one and two tensors on the GPU, or those of a file, of up to six, each beside what peak and memory allow: where plans
// are slow.
//   bench_gpu_random [--dtype f64] [--count N] [--seed S] [--worst W] [--file FILE] [--out FILE] [--against FILE] [--explain 1]
// The options of bench_random; --explain says how the slowest are run. Bounds take nine tenths of the memory's rate on paper, and the
// time of a kernel that does nothing.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
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

constexpr std::size_t most_factors = 6;

/// c = a b ... in the GPU's memory.
program program_of(const contraction& x, dtype t) {
  static double somewhere;  // not read, but operands without memory are refused
  const std::vector<std::string> factors = x.factors();
  if (factors.size() > most_factors) throw std::runtime_error("'" + x.name() + "' has too many factors for this bench");
  std::vector<std::vector<std::int64_t>> shapes, strides;
  for (std::size_t f = 0; f < factors.size(); ++f) shapes.push_back(x.layout(f).shape), strides.push_back(x.layout(f).strides);
  std::vector<detail::array_info> operands;
  for (std::size_t f = 0; f < factors.size(); ++f) operands.push_back({&somewhere, t, shapes[f], strides[f]});
  const std::string einsum = x.einsum();
  return cuda::placed_on_gpu(detail::lower_einsum(detail::parse({einsum}, operands.size()), operands, nullptr).statement);
}

/// The result's memory, then that of the factors.
using memory = std::vector<std::unique_ptr<cuda::buffer>>;

struct timed {
  result r;
  std::string plan;
};

/// Seconds that memory or peak need for the contraction, in its best order.
double bound(const contraction& x, dtype t) {
  const cuda::gpu_machine& m = cuda::current_device().machine;
  const double peak = t == dtype::f64 || t == dtype::c128 ? m.tensor_f64 : size_of(t) == 2 ? m.tensor_16 : m.peak_f32;
  return 1e-9 * std::max(x.elements() * static_cast<double>(size_of(t)) / m.bandwidth, x.flops() * (is_complex(t) ? 4 : 1) / peak);
}

timed measure(const contraction& x, dtype t, const memory& at, double launch, bool explain) {
  const cuda::executable plan(cuda::make_program_plan(program_of(x, t), cuda::current_device().machine, {}));
  std::vector<void*> pointers;
  for (const auto& buffer : at) pointers.push_back(buffer->data());
  const double seconds = cuda::median_seconds(7, [&](int) { plan.run({pointers.data(), nullptr}, nullptr); });
  return {{x.name(), seconds, bound(x, t) + launch}, explain ? plan.describe() : ""};
}

void run(const random_setting& s, dtype t, bool explain) {
  constexpr std::int64_t usual = std::int64_t{1} << 26, of_file = usual * 4;  // elements of a tensor
  const cuda::use_device use(cuda::current_device());
  const std::vector<contraction> problems = problems_of(s, {s.seed, 18, 31, s.file.empty() ? usual : of_file});
  std::vector<std::int64_t> elements(3, usual);
  for (const contraction& x : problems) {
    const std::size_t factors = x.factors().size();
    elements.resize(std::max(elements.size(), factors + 1), 1);
    elements[0] = std::max(elements[0], x.size(x.c));
    for (std::size_t f = 0; f < factors; ++f) elements[f + 1] = std::max(elements[f + 1], x.layout(f).elements);
  }
  memory at;
  for (const std::int64_t n : elements) at.push_back(std::make_unique<cuda::buffer>(n * static_cast<std::int64_t>(size_of(t))));
  const double launch = cuda::empty_launch_seconds();
  std::printf("triad %.0f GB/s, a kernel that does nothing %.1f us\n", cuda::measure_bandwidth(*at[0], *at[1], *at[2]).triad, 1e6 * launch);
  for (std::size_t n = 1; n < at.size(); ++n) at[n]->randomise(t, static_cast<unsigned>(n));
  std::vector<timed> all;
  for (const contraction& x : problems) all.push_back(measure(x, t, at, launch, explain));
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
