// Measuring candidates.
#include "gpu/tune.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <thread>

#include <ricci/core/error.hpp>

namespace ricci::cuda {
namespace {

constexpr std::size_t finalists = 6;
constexpr std::int64_t checked_problems = 1037;  // a last tile that is not full, whatever the tile

step_plan plan_of(const small_problem& c, std::int64_t batch) {
  step_plan p;
  p.shape = product_step(c.type, c.m, c.n, c.k, c.beta, batch);
  p.kind = kernel_kind::small;
  make_small(p.shape, p.small);
  p.flops = flops_of(p.shape), p.bytes = bytes_of(p.shape);
  return p;
}

double part_of(dtype t, const char* data, std::int64_t e) {
  switch (t) {
    case dtype::f64: case dtype::c128: return reinterpret_cast<const double*>(data)[e];
    case dtype::f16: return static_cast<double>(static_cast<float>(reinterpret_cast<const half*>(data)[e]));
    case dtype::bf16: return static_cast<double>(static_cast<float>(reinterpret_cast<const bfloat16*>(data)[e]));
    default: return static_cast<double>(reinterpret_cast<const float*>(data)[e]);
  }
}

double epsilon_of(dtype t) {
  if (t == dtype::f64 || t == dtype::c128) return std::numeric_limits<double>::epsilon();
  return t == dtype::f16 ? 0x1p-10 : t == dtype::bf16 ? 0x1p-7 : static_cast<double>(std::numeric_limits<float>::epsilon());
}

std::vector<char> result_of(const step_plan& p, const small_problem& c, const buffer& x, const buffer& y, const buffer& z, const device& d) {
  const std::int64_t bytes = checked_problems * c.m * c.n * static_cast<std::int64_t>(size_of(c.type));
  std::vector<char> host(static_cast<std::size_t>(bytes), '\x7f');
  if (c.beta) copy_on_device(x.data(), y.data(), bytes);
  else copy_to_device(x.data(), host.data(), bytes);
  operands o;
  o.a = y.data(), o.b = z.data(), o.c = x.data();
  o.beta[0] = c.beta ? 1 : 0;
  launch_step(p, load_kernel(d, request_of(p, {})), o, d);
  copy_to_host(host.data(), x.data(), bytes);
  return host;
}

std::string compare(const small_problem& c, const std::vector<char>& got, const std::vector<char>& wanted) {
  const std::int64_t parts = checked_problems * c.m * c.n * (is_complex(c.type) ? 2 : 1);
  const double bound = epsilon_of(c.type) * 4 * (c.k + 2) * (size_of(c.type) == 2 ? 2 : c.k);
  for (std::int64_t e = 0; e < parts; ++e) {
    const double x = part_of(c.type, got.data(), e), y = part_of(c.type, wanted.data(), e);
    if (!(std::abs(x - y) <= bound)) return "element " + std::to_string(e) + " is " + std::to_string(x) + ", not " + std::to_string(y);
  }
  return {};
}

}  // namespace

std::vector<small_config> candidates_of(const small_problem& c, const gpu_machine& m, bool thorough) {
  const small_shape s = plan_of(c, 1 << 20).small;
  const small_config present = choose_small(s, m);
  std::vector<small_config> all = {present};
  for (const small_config& x : small_candidates(s, m, thorough))
    if (!(x == present)) all.push_back(x);
  return all;
}

void compile_candidate(const small_problem& c, const small_config& config, int architecture) {
  machine_code(small_text(plan_of(c, 1 << 20).small, config, {}).text, architecture);
}

namespace {

/// Times candidates for one problem: x = y z, in buffers as large as may be.
class tuner {
 public:
  tuner(const small_problem& c, const buffer& x, const buffer& y, const buffer& z, double triad, int rounds)
      : c_(c), x_(x), y_(y), z_(z), triad_(triad), rounds_(rounds), device_(current_device()) {
    const auto size = static_cast<std::int64_t>(size_of(c.type));
    const std::int64_t batch = std::min({x.bytes() / (c.m * c.n * size), y.bytes() / (c.m * c.k * size), z.bytes() / (c.k * c.n * size)});
    all_ = plan_of(c, batch), few_ = plan_of(c, checked_problems), moved_ = plan_of(c, batch - (batch + 63) / 64);
    step_plan exact = few_;
    exact.kind = kernel_kind::general;
    wanted_ = result_of(exact, c, x, y, z, device_);
  }

  tune_result measure(const small_config& config) {
    tune_result r;
    r.config = all_.config = few_.config = config;
    r.seconds = std::numeric_limits<double>::infinity();
    try {
      const kernel k = load_kernel(device_, request_of(all_, {}));
      r.registers = k.registers, r.blocks = k.blocks;
      if (k.local_bytes > 0) r.trouble = std::to_string(k.local_bytes) + " bytes spilled";
      if (r.trouble.empty()) r.trouble = compare(c_, result_of(few_, c_, x_, y_, z_, device_), wanted_);
      if (r.trouble.empty()) set_seconds(r, seconds_of(all_, k, 0, rounds_));
    } catch (const error& e) {
      r.trouble = e.what();
      if (e.code() == errc::gpu_failed && r.trouble.find("ILLEGAL") != std::string::npos) throw error(errc::gpu_failed, to_string(config) + ": " + r.trouble);
    }
    return r;
  }

  /// Many times in a row and on other lines of memory: what is near a limit of the clock is slower then.
  void measure_again(tune_result& r) {
    all_.config = moved_.config = r.config;
    const kernel k = load_kernel(device_, request_of(all_, {}));
    const double again = seconds_of(all_, k, 0, 2 * rounds_ + 1);
    const double elsewhere = seconds_of(moved_, k, x_.bytes() / 128 / 4096 * 4096, 2 * rounds_ + 1) * all_.bytes / moved_.bytes;
    set_seconds(r, std::max({r.seconds, again, elsewhere}));
  }

 private:
  double seconds_of(const step_plan& p, const kernel& k, std::int64_t away, int rounds) const {
    operands o;
    o.a = y_.data() + away, o.b = z_.data() + away, o.c = x_.data() + away;
    o.beta[0] = c_.beta ? 0.5 : 0;
    return median_seconds(rounds, [&](int) { launch_step(p, k, o, device_); });
  }

  void set_seconds(tune_result& r, double seconds) const {
    r.seconds = seconds;
    r.fraction = all_.bytes / seconds * 1e-9 / triad_;
  }

  const small_problem& c_;
  const buffer &x_, &y_, &z_;
  const double triad_;
  const int rounds_;
  const device& device_;
  step_plan all_, few_, moved_;
  std::vector<char> wanted_;
};

}  // namespace

std::vector<tune_result> tune(const small_problem& c, const std::vector<small_config>& candidates, const buffer& x,
                              const buffer& y, const buffer& z, double triad, int rounds) {
  const use_device use(current_device());
  tuner times(c, x, y, z, triad, rounds);
  std::vector<tune_result> results;
  for (const small_config& config : candidates) results.push_back(times.measure(config));
  const auto faster = [](const tune_result& a, const tune_result& b) { return a.seconds < b.seconds; };
  std::stable_sort(results.begin(), results.end(), faster);
  const auto first = results.begin(), end = first + static_cast<std::ptrdiff_t>(std::min(finalists, results.size()));
  for (auto r = first; r != end && r->trouble.empty(); ++r) times.measure_again(*r);
  std::stable_sort(first, end, faster);
  return results;
}

namespace {

/// All processors compile; what cannot be compiled is found again, and said, when it is measured.
void compile_all(const small_problem& c, const std::vector<small_config>& candidates, int architecture) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t at = next++; at < candidates.size(); at = next++) try {
        compile_candidate(c, candidates[at], architecture);
      } catch (const error&) {
      }
  };
  std::vector<std::thread> hands;
  for (unsigned h = std::max(1u, std::thread::hardware_concurrency()); h-- > 0;) hands.emplace_back(work);
  for (std::thread& h : hands) h.join();
}

}  // namespace

tuned_table measure_small(const tune_order& o, const std::function<bool(std::size_t done, const tune_step&)>& tell) {
  const device& d = current_device();
  const use_device use(d);
  std::size_t free = 0, total = 0;
  check(need_driver().memory_info(&free, &total), "asking for the GPU's free memory");
  const std::int64_t bytes = std::min(o.bytes, static_cast<std::int64_t>(free) / 4 / 4096 * 4096);
  const buffer x(bytes), y(bytes), z(bytes);
  tuned_table t{d.machine.name, gpu_build_name(), {}};
  double triad = 0;
  for (std::size_t p = 0; p < o.problems.size(); ++p) {
    const small_problem& c = o.problems[p];
    if (p == 0 || c.type != o.problems[p - 1].type) {
      y.randomise(c.type, 1), z.randomise(c.type, 2), x.randomise(c.type, 3);
      if (p == 0) triad = measure_bandwidth(x, y, z).triad;
    }
    const std::vector<small_config> candidates = candidates_of(c, d.machine, o.thorough);
    compile_all(c, candidates, d.machine.architecture);
    const std::vector<tune_result> results = tune(c, candidates, x, y, z, triad, o.rounds);
    tune_step step{c, results.size(), 0, {}};
    double present = 0;
    for (const tune_result& r : results) {
      if (r.config == candidates[0] && r.trouble.empty()) present = r.seconds;
      if (!r.trouble.empty() && r.trouble.find("spilled") == std::string::npos) ++step.wrong;
    }
    if (!results.empty() && results[0].trouble.empty()) {
      step.best = {c, results[0].config, results[0].fraction, present > 0 ? present / results[0].seconds : 1};
      if (present == 0 || step.best.gain >= o.least_gain) t.entries.push_back(step.best);
    }
    if (!tell(p + 1, step)) break;
  }
  return merged({}, t);
}

std::string table_line(const small_problem& c, const small_config& b) {
  std::string t = std::string("    {dtype::") + name_of(c.type) + ", " + std::to_string(c.n) + ", " + (c.beta ? "true" : "false") + ", {";
  for (const int x : {b.problems, b.group, b.block, b.stages}) t += std::to_string(x) + ", ";
  t += std::string("arithmetic::") + name_of(b.compute);
  for (const int x : {b.rm, b.rn, b.pad_a, b.pad_b, b.pad_c, b.unroll, b.blocks}) t += ", " + std::to_string(x);
  const auto flag = [](bool x) { return x ? ", true" : ", false"; };
  const bool bulk = b.bulk > 0 || b.together > 0, over = b.over || bulk, spread = b.spread || over, lined = b.lined || spread;
  if (b.vectors || lined) t += flag(b.vectors);
  if (lined) t += flag(b.lined);
  if (spread) t += flag(b.spread);
  if (over) t += flag(b.over);
  if (bulk) t += ", " + std::to_string(b.bulk);
  if (b.together > 0) t += ", " + std::to_string(b.together);
  return t + "}},";
}

}  // namespace ricci::cuda
