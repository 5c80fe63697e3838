// The bake-off kernels BK1, BK3 and BK5 on the GPU as fused programs: GB/s of what must move beside the triad of the same
// run, GDOF/s and nominal GFLOP/s as the bake-off counts them. Times by events, medians.
//   bench_fem_cuda [--case BK1] [--degrees 1:10] [--unknowns 1e7] [--tune 1] [--kernels LIST] [--json FILE]
// --tune measures other configurations of every kernel too, and shows each; --tune 2 those that copy ahead alone,
// --tune 3 those with matrices in registers, --tune 4 those with tensor cores, tables of lines and copies beside that.
// --kernels 2,96,2,4,1/1,96,1,4,1,0,4,3 measures these configurations: numbers as in lib/gpu/chain_table.cpp, the rest 0.
// --compile 1 fills the kernel cache and measures nothing.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <ricci/core/error.hpp>

#include "cuda_problems.hpp"
#include "degrees.hpp"

#include "gpu/cache.hpp"
#include "gpu/executable.hpp"
#include "gpu/measure.hpp"

namespace {

using namespace ricci;

struct settings {
  std::string only, json;
  int first = 1, last = 10;
  double unknowns = 1.05e7;
  int tune = 0;
  bool compile = false;
  std::vector<cuda::chain_config> given;
};

struct result {
  std::string name, config, entry;
  int degree = 0;
  std::int64_t elements = 0;
  double seconds = 0, gbytes = 0, share = 0, gdofs = 0, gflops = 0;
};

/// With the tensor cores: where most of the lines that warps have in hand are there, and many warps are.
std::vector<cuda::chain_config> tensor_configurations(const cuda::chain_plan& p, const cuda::gpu_machine& machine, int ahead, std::size_t most) {
  std::vector<std::pair<double, cuda::chain_config>> scored;
  cuda::chain_plan q = p;
  for (const int threads : {32, 64, 96, 128, 192})
    for (const int elements : {1, 2, 3, 4, 6, 8}) {
      cuda::chain_config c{.elements = elements, .threads = threads, .early = ahead < 2 ? 1 : 0, .turns = ahead > 0 ? 0 : 1, .ahead = ahead, .tensor = 1};
      cuda::set_config(q, c);
      if (q.shared_bytes > machine.shared_most || (ahead > 0 && q.inputs.empty())) continue;
      double useful = 0, spent = 0;
      for (const cuda::chain_pass& pass : q.passes) {
        if (!pass.tensor) continue;
        const double tasks = static_cast<double>(cuda::chains::product_of(q, pass.fibre) * elements);
        useful += tasks, spent += std::ceil(tasks / (threads / 2)) * (threads / 2);
      }
      if (spent == 0) return {};
      c.blocks = static_cast<int>(std::min<std::int64_t>({machine.shared_bytes / (q.shared_bytes + 1024), machine.registers / (96 * threads), 32}));
      if (c.blocks > 0) scored.push_back({useful / spent * std::min(1.0, std::pow(c.blocks * threads / 32 / 24.0, 0.5)) * (c.blocks > 2 ? 1 : 0.8), c});
    }
  std::stable_sort(scored.begin(), scored.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<cuda::chain_config> out;
  for (const auto& [s, c] : scored)
    if (out.size() < most) out.push_back(c);
  return out;
}

/// With even and odd matrices in registers; blocks as many as likely registers have it, and as shared memory holds.
std::vector<cuda::chain_config> keeping_configurations(const cuda::chain_plan& p, const cuda::gpu_machine& machine) {
  constexpr int least_registers = 96, likely_registers = 168;
  std::vector<cuda::chain_config> all{p.config};
  cuda::chain_plan q = p;
  const auto add = [&](cuda::chain_config c) {
    cuda::set_config(q, c);
    if (q.shared_bytes > machine.shared_most) return;
    const int room = std::max(1, std::min({machine.shared_bytes / (q.shared_bytes + 1024), machine.registers / (least_registers * c.threads), 32}));
    const int likely = std::max(1, std::min(machine.registers / (likely_registers * c.threads), room));
    for (const int blocks : {likely, room})
      for (const int turns : {1, 8, 0}) {
        c.blocks = blocks, c.turns = turns;
        if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
      }
  };
  for (const int keep : {2, 1}) {
    cuda::chain_config own = p.config;
    own.early = 1, own.ahead = 0, own.tensor = 0, own.keep = keep;
    for (own.lines = 1; own.lines <= 2; ++own.lines) add(own);
    for (const auto& [elements, threads, lines] : {std::array{1, 32, 1}, {1, 32, 2}, {1, 64, 1}, {1, 64, 2}, {2, 32, 2}, {2, 64, 1}, {3, 64, 1}, {2, 128, 1}})
      add({.elements = elements, .threads = threads, .lines = lines, .early = 1, .keep = keep});
    for (const cuda::chain_config& c : cuda::chain_candidates(p, machine, 4, {.early = 1, .keep = keep})) add(c);
  }
  return all;
}

/// What goes together with many warps: products on the tensor cores where no memory is touched, lines dealt out; and copies
/// ahead with matrices in registers.
std::vector<cuda::chain_config> later_configurations(const cuda::chain_plan& p, const cuda::gpu_machine& machine) {
  std::vector<cuda::chain_config> all{p.config};
  cuda::chain_plan q = p;
  const auto add = [&](cuda::chain_config c, const std::vector<int>& registers) {
    cuda::set_config(q, c);
    if (q.shared_bytes > machine.shared_most || (c.ahead > 0 && q.inputs.empty())) return;
    const int room = std::max(1, std::min({machine.shared_bytes / (q.shared_bytes + 1024), machine.threads / c.threads, 32}));
    for (const int each : registers) {
      c.blocks = std::min(room, std::max(1, machine.registers / (each * c.threads)));
      if (std::find(all.begin(), all.end(), c) == all.end()) all.push_back(c);
    }
  };
  for (const auto& [elements, threads] : {std::pair{1, 64}, {1, 96}, {1, 128}, {1, 160}, {2, 96}, {2, 192}, {3, 64}}) {
    for (const int tensor : {2, 3})
      for (const int early : {1, 2})
        for (const int turns : {1, 2, 4, 8}) add({.elements = elements, .threads = threads, .early = early, .turns = turns, .tensor = tensor}, {96, 128});
    for (const int lines : {1, 2}) {
      for (const int keep : {0, 2}) add({.elements = elements, .threads = threads, .lines = lines, .early = 1, .keep = keep, .deal = true}, {96, 128, 168});
      for (const int ahead : {2, 3})
        for (const int turns : {4, 8}) add({.elements = elements, .threads = threads, .lines = lines, .early = 1, .turns = turns, .ahead = ahead, .keep = 2}, {128, 168, 208});
    }
  }
  return all;
}

/// Configurations in words: numbers with commas between, and slashes between them.
std::vector<cuda::chain_config> configurations_of(const std::string& text) {
  std::vector<cuda::chain_config> all;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, '/');) {
    cuda::chain_config c;
    int deal = 0;
    std::istringstream numbers(one);
    for (int* x : {&c.elements, &c.threads, &c.lines, &c.blocks, &c.early, &c.unroll, &c.turns, &c.ahead, &c.tensor, &c.keep, &deal})
      if (std::string number; std::getline(numbers, number, ',')) *x = std::stoi(number);
    c.deal = deal != 0;
    all.push_back(c);
  }
  return all;
}

/// What the library runs, or others by estimate besides, and the first ones changed a little.
std::vector<cuda::chain_config> configurations(const cuda::chain_plan& p, const cuda::gpu_machine& machine, const settings& set) {
  if (!set.given.empty()) return set.given;
  const int tune = set.tune;
  if (tune == 0) return {p.config};
  if (tune == 4) return later_configurations(p, machine);
  if (tune == 3) return keeping_configurations(p, machine);
  std::vector<cuda::chain_config> all{p.config};
  for (const int ahead : {0, 1, 2})
    for (const cuda::chain_config& c : cuda::chain_candidates(p, machine, ahead == 0 ? (tune == 1 ? 18 : 9) : tune == 1 ? 2 : 0, {.turns = ahead > 0 ? 0 : 1, .ahead = ahead})) all.push_back(c);
  const std::size_t base = all.size();
  for (const int ahead : {0, 1, 2})
    for (const cuda::chain_config& c : tensor_configurations(p, machine, ahead, tune == 1 ? 7 : ahead > 0 ? 3 : 1)) all.push_back(c);
  const auto add = [&](std::size_t c, auto&& change) {
    cuda::chain_config x = all[c];
    change(x);
    if (std::find(all.begin(), all.end(), x) == all.end()) all.push_back(x);
  };
  for (std::size_t c = 0; c < base; ++c) {
    if (all[c].ahead < 2) add(c, [](auto& x) { x.early = x.early ? 0 : 1; });
    if (all[c].lines > 2) add(c, [](auto& x) { x.lines = 6; });
    if (all[c].lines > 2) add(c, [](auto& x) { x.lines = 8, x.early = 1; });
    const bool some = c < 8 && tune == 1;
    if (some || c < 3) add(c, [](auto& x) { x.turns = x.turns == 8 ? 0 : 8; });
    if (some) add(c, [](auto& x) { x.early = x.early ? 0 : 1, x.turns = x.turns == 8 ? 0 : 8; });
    if (c < (tune == 1 ? 8 : 0) && all[c].blocks > 2) add(c, [](auto& x) { x.blocks = x.blocks * 2 / 3; });
    if (c < (tune == 1 ? 4 : 0)) add(c, [](auto& x) { x.unroll = x.unroll == 4 ? 0 : 4; });
  }
  return all;
}

/// The largest difference beside the largest element; NaN if anything is.
double difference(const std::vector<double>& x, const std::vector<double>& y) {
  double most = 0, largest = 0;
  for (std::size_t n = 0; n < x.size(); ++n) {
    const double d = std::abs(x[n] - y[n]);
    if (std::isnan(d)) return d;
    most = std::max(most, d), largest = std::max(largest, std::abs(y[n]));
  }
  return most / largest;
}

class fem_cuda_bench {
 public:
  explicit fem_cuda_bench(const settings& set) : set_(set), device_(cuda::current_device()), use_(device_), pattern_(64 << 20) {
    pattern_.randomise(dtype::f64, 1);
  }

  void run() {
    {
      constexpr std::int64_t bytes = std::int64_t{2} << 30;
      const cuda::buffer x(bytes), y(bytes), z(bytes);
      triad_ = cuda::measure_bandwidth(x, y, z).triad;
    }
    std::printf("%s: triad %.0f GB/s\n", device_.machine.name.c_str(), triad_);
    precompile();
    if (set_.compile) return;
    std::printf("%-4s %6s %9s %9s %8s %7s %8s %9s  %s\n", "case", "degree", "elements", "us", "GB/s", "triad", "GDOF/s", "GFLOP/s", "kernel");
    for (const char* name : {"BK1", "BK3", "BK5"})
      for (int p = set_.first; p <= set_.last; ++p)
        if (wanted(name)) measure(name, p);
    if (set_.tune) table();
    summary();
    if (!set_.json.empty()) write();
  }

 private:
  bool wanted(const std::string& name) const { return set_.only.empty() || set_.only == name; }

  /// Compiles everything at once on all processors; the kernels do not depend on the number of elements.
  void precompile() {
    std::vector<cuda::chain_plan> chains;
    for (const char* name : {"BK1", "BK3", "BK5"})
      for (int p = set_.first; p <= set_.last; ++p)
        if (wanted(name)) {
          fem::problem small(name, p, 4000);
          const cuda::program_plan plan = cuda::make_program_plan(small.statements().what, device_.machine, {});
          for (const cuda::launch_plan& launch : plan.launches)
            if (launch.chain)
              for (const cuda::chain_config& c : configurations(*launch.chain, device_.machine, set_)) {
                cuda::chain_plan chain = *launch.chain;
                cuda::set_config(chain, c);
                chains.push_back(std::move(chain));
              }
        }
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> hands;
    for (unsigned h = 0; h < std::max(1u, std::thread::hardware_concurrency()); ++h)
      hands.emplace_back([&] {
        for (std::size_t at; (at = next++) < chains.size();) {
          cuda::settle(chains[at], device_.machine);
          static_cast<void>(cuda::machine_code(request_of(chains[at]).text, device_.machine.architecture));
        }
      });
    for (std::thread& h : hands) h.join();
    std::printf("%zu kernels compiled\n", chains.size());
    std::fflush(stdout);
  }

  void measure(const std::string& name, int degree) {
    const double P = degree + 1, Q = name == "BK5" ? P : P + 1;
    const double each = 8 * (2 * P * P * P + (name == "BK1" ? 1 : 6) * Q * Q * Q);
    const auto elements = static_cast<std::int64_t>(std::min(set_.unknowns / std::pow(degree, 3), 16e9 / each));
    fem::problem p(name, degree, elements);
    p.fill(pattern_.data(), pattern_.bytes());
    const fem::lowered program = p.statements();
    const cuda::program_plan plan = cuda::make_program_plan(program.what, device_.machine, {});
    if (plan.launches.size() != 1 || !plan.launches[0].chain) return void(std::printf("%s %d: not one kernel\n", name.c_str(), degree));
    result best;
    std::vector<double> wanted;
    for (const cuda::chain_config& c : configurations(*plan.launches[0].chain, device_.machine, set_)) {
      cuda::program_plan one = plan;
      cuda::set_config(*one.launches[0].chain, c);
      try {
        const cuda::executable code(one);
        if (set_.tune) {
          p.poison();
          code.run({program.pointers.data(), program.scalars.data()}, nullptr);
          const std::vector<double> got = p.sample();
          if (wanted.empty()) wanted = got;
          else if (const double far = difference(got, wanted); !(far < 1e-12)) throw error(errc::gpu_failed, "differs by " + std::to_string(far));
        }
        result x;
        x.name = name, x.degree = degree, x.elements = elements;
        x.seconds = cuda::median_seconds(set_.tune ? 5 : 11, [&](int) { code.run({program.pointers.data(), program.scalars.data()}, nullptr); });
        x.gbytes = each * static_cast<double>(elements) / x.seconds * 1e-9;
        x.share = x.gbytes / triad_;
        x.gdofs = std::pow(degree, 3) * static_cast<double>(elements) / x.seconds * 1e-9;
        x.gflops = p.flops() / x.seconds * 1e-9;
        const cuda::chain_config& settled = code.plan().launches[0].chain->config;
        x.config = to_string(settled) + ", " + std::to_string(settled.blocks) + " blocks";
        char entry[160];
        std::snprintf(entry, sizeof entry, "    {0x%016llx, {%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %s}},  // %s, degree %d", static_cast<unsigned long long>(cuda::signature_of(*plan.launches[0].chain)),
                      settled.elements, settled.threads, settled.lines, settled.blocks, settled.early, settled.unroll, settled.turns, settled.ahead, settled.tensor, settled.keep, settled.deal ? "true" : "false", name.c_str(), degree);
        x.entry = entry;
        if (set_.tune) show(x, "  ");
        if (best.seconds == 0 || x.seconds < best.seconds) best = x;
      } catch (const error& failure) {
        std::printf("%s %d, %s: %s\n", name.c_str(), degree, to_string(c).c_str(), failure.what());
      }
    }
    if (best.seconds > 0) show(best, ""), results_.push_back(best);
  }

  static void show(const result& x, const char* before) {
    std::printf("%s%-4s %6d %9lld %9.1f %8.0f %5.1f %% %8.2f %9.0f  %s\n", before, x.name.c_str(), x.degree, static_cast<long long>(x.elements), x.seconds * 1e6,
                x.gbytes, 100 * x.share, x.gdofs, x.gflops, x.config.c_str());
    std::fflush(stdout);
  }

  void summary() const {
    std::printf("\nshare of the triad, degree by degree\n");
    for (const char* name : {"BK1", "BK3", "BK5"}) {
      std::printf("%s", name);
      for (const result& x : results_)
        if (x.name == name) std::printf(" %d:%.3f", x.degree, x.share);
      std::printf("\n");
    }
  }

  /// Lines for lib/gpu/chain_table.cpp.
  void table() const {
    for (const result& x : results_) std::printf("%s\n", x.entry.c_str());
  }

  void write() const {
    std::ofstream out(set_.json);
    out << "{\"gpu\": \"" << device_.machine.name << "\", \"triad_gbytes\": " << triad_ << ", \"results\": [";
    const char* between = "\n";
    for (const result& x : results_) {
      out << between << "{\"case\": \"" << x.name << "\", \"degree\": " << x.degree << ", \"elements\": " << x.elements << ", \"seconds\": " << x.seconds
          << ", \"gbytes\": " << x.gbytes << ", \"share\": " << x.share << ", \"gdofs\": " << x.gdofs << ", \"gflops\": " << x.gflops << ", \"kernel\": \"" << x.config << "\"}";
      between = ",\n";
    }
    out << "\n]}\n";
  }

  settings set_;
  cuda::device& device_;
  cuda::use_device use_;
  cuda::buffer pattern_;
  double triad_ = 1;
  std::vector<result> results_;
};

}  // namespace

int main(int count, char** arguments) try {
  settings set;
  for (int a = 1; a + 1 < count; a += 2) {
    const std::string name = arguments[a], value = arguments[a + 1];
    if (name == "--case") set.only = value;
    else if (name == "--json") set.json = value;
    else if (name == "--unknowns") set.unknowns = std::stod(value);
    else if (name == "--tune") set.tune = std::stoi(value);
    else if (name == "--kernels") set.given = configurations_of(value), set.tune = 1;
    else if (name == "--compile") set.compile = value != "0";
    else if (name == "--degrees") {
      const bench::degree_range range = bench::degrees_of(value);
      set.first = range.first, set.last = range.last;
    } else {
      std::cerr << "bench_fem_cuda: there is no option " << name << "\n";
      return 2;
    }
  }
  fem_cuda_bench(set).run();
} catch (const std::exception& failure) {
  std::cerr << failure.what() << "\n";
  return 1;
}
