// Times the candidates of each problem on a batch in the second cache.
#include <time.h>

#include <algorithm>
#include <vector>

#include "tune/tune.hpp"

namespace ricci::tune {
namespace {

/// Processor time of this thread: what others do on the machine counts as little as can be.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

codegen::request request_of(const problem& p, std::int64_t batch) {
  codegen::request r;
  r.type = r.type_a = r.type_b = r.type_c = p.type;
  kernels::contract_args& x = r.args;
  const std::int64_t width = p.lanes * p.cols;
  x.lane_extent = p.lanes;
  x.row = {p.rows, p.k, 0, width};
  x.col = {p.cols, 0, p.lanes, p.lanes};
  x.k = p.k, x.k_a = 1, x.k_b = width;
  x.loop_count = 1;
  x.loops[0] = {batch, p.rows * p.k, p.k * width, p.rows * width};
  r.alpha = codegen::factor::one;
  r.beta = p.reads_c ? codegen::factor::one : codegen::factor::zero;
  return r;
}

/// A, B and C of a batch; numbers near one, so that nothing grows into infinity or a subnormal number.
class batch_of_problem {
 public:
  batch_of_problem(const problem& p, std::int64_t bytes) {
    const auto size = static_cast<std::int64_t>(size_of(p.type));
    const std::int64_t a = p.rows * p.k * size, b = p.k * p.lanes * p.cols * size, c = p.rows * p.lanes * p.cols * size;
    count = std::max<std::int64_t>(8, bytes / (a + b + c));
    for (const std::int64_t each : {a, b, c}) {
      std::vector<char>& m = memory_[places_++];
      m.resize(static_cast<std::size_t>(each * count + 64));
      const bool single = p.type == dtype::f32 || p.type == dtype::c64;
      for (std::int64_t i = 0; i < each * count; i += single ? 4 : 8) put(m.data() + shift(m) + i, single, places_ == 3 ? 0 : 1e-3);
    }
  }
  void run(const codegen::kernel& k) {
    k(memory_[0].data() + shift(memory_[0]), memory_[1].data() + shift(memory_[1]), memory_[2].data() + shift(memory_[2]), nullptr, nullptr);
  }
  std::int64_t count = 0;

 private:
  static std::int64_t shift(const std::vector<char>& m) {
    return static_cast<std::int64_t>((64 - reinterpret_cast<std::uintptr_t>(m.data()) % 64) % 64);
  }
  static void put(char* to, bool single, double x) {
    const float f = static_cast<float>(x);
    if (single) std::copy_n(reinterpret_cast<const char*>(&f), 4, to);
    else std::copy_n(reinterpret_cast<const char*>(&x), 8, to);
  }
  std::vector<char> memory_[3];
  int places_ = 0;
};

struct contender {
  codegen::tile_choice tile;
  std::shared_ptr<const codegen::kernel> code;
  std::vector<double> times;

  double median() {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }
};

entry best_of(const problem& p, const plan_of_measurement& how) {
  batch_of_problem batch(p, how.bytes);
  codegen::request r = request_of(p, batch.count);
  const codegen::target target = codegen::best_target();
  std::vector<contender> all;
  for (const codegen::tile_choice& tile : codegen::tile_candidates(r, target, how.candidates)) {
    r.tile = tile;
    if (auto code = codegen::make(r, target)) all.push_back({tile, std::move(code), {}});
  }
  entry e{p, {}, 1};
  if (all.size() < 2) return e;
  int runs = 1;
  for (double t = 0; t < how.window; runs *= 2) {
    const double start = now();
    for (int i = 0; i < runs; ++i) batch.run(*all[0].code);
    t = now() - start;
  }
  const auto time_of = [&](const contender& c) {
    batch.run(*c.code);  // its code and data are in the caches
    const double start = now();
    for (int i = 0; i < runs; ++i) batch.run(*c.code);
    return now() - start;
  };
  for (int round = 0; round < how.rounds; ++round)
    for (contender& c : all) c.times.push_back(time_of(c));
  const auto best = std::min_element(all.begin() + 1, all.end(), [](contender& x, contender& y) { return x.median() < y.median(); });
  if (best->median() >= all[0].median()) return e;
  // The best of many is so by luck as well: what it gains is measured anew, beside the cost function's tile alone.
  std::vector<double> gains;
  for (int round = 0; round < how.final_rounds * how.rounds; ++round) {
    const bool swapped = round % 2 == 1;
    const double first = time_of(swapped ? *best : all[0]), second = time_of(swapped ? all[0] : *best);
    gains.push_back(swapped ? second / first : first / second);
  }
  std::nth_element(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(gains.size() / 2), gains.end());
  if (const double gain = gains[gains.size() / 2]; gain > 1) e.tile = best->tile, e.gain = gain;
  return e;
}

}  // namespace

table measure(const plan_of_measurement& how, const std::function<bool(std::size_t, const entry&)>& tell) {
  table t{this_machine().name, build_name(), {}};
  if (codegen::best_target() == codegen::target::none) return t;
  std::size_t done = 0;
  for (const problem& p : how.problems) {
    const entry e = best_of(p, how);
    if (e.gain >= how.least_gain) t.entries.push_back(e);
    if (!tell(++done, e)) break;
  }
  std::sort(t.entries.begin(), t.entries.end(), [](const entry& x, const entry& y) { return x.what < y.what; });
  return t;
}

}  // namespace ricci::tune
