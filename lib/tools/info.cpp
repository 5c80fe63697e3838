// ricci info: what this machine is, as the planner sees it.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "gpu/info.hpp"
#include "kernels/kernels.hpp"
#include "machine/machine.hpp"
#include "tools/commands.hpp"
#include "tools/options.hpp"
#include "tune/tune.hpp"

namespace ricci::tools {
namespace {

std::string size_text(std::int64_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  return fmt::format("{} KiB", bytes >> 10);
}

std::string isa_list() {
  const kernels::kernel_sets sets = kernels::available();
  std::string out;
  for (int s = 0; s < sets.count; ++s) out += (s ? ", " : "") + std::string(sets.first[s]->isa);
  return out;
}

std::string tuned() {
  if (!tune::complaint().empty()) return "ignored: " + tune::complaint();
  const std::size_t n = tune::remembered().entries.size();
  return n == 0 ? "nothing yet; ricci tune measures" : fmt::format("{} kernels, measured on {}", n, tune::remembered().machine);
}

void print(const machine& m) {
  const char* const how = m.measured ? "measured" : "estimated; ricci info --measure measures";
  std::cout << fmt::format("CPU         {}\n", m.name) << fmt::format("cores       {}\n", m.cores)
            << fmt::format("kernels     {} in use; this CPU can run {}\n", kernels::best().isa, isa_list())
            << fmt::format("registers   {} of {} bytes\n", m.vector_registers, m.vector_bytes);
  for (std::size_t l = 0; l < m.caches.size(); ++l)
    std::cout << fmt::format("L{}          {}, {:.0f} GB/s\n", l + 1, size_text(m.caches[l].bytes), m.caches[l].bandwidth);
  std::cout << fmt::format("memory      {:.1f} GB/s one core, {:.1f} GB/s all\n", m.memory_bandwidth, m.memory_bandwidth_all)
            << fmt::format("peak        {:.1f} GFLOP/s f64, {:.1f} GFLOP/s f32, one core ({})\n", m.peak_f64, m.peak_f32, how)
            << fmt::format("written     {}\n", m.writes_kernels ? "kernels are written for each plan" : "no kernels are written for plans")
            << fmt::format("tuned       {}\n", tuned()) << cuda::describe_gpus();
}

void run_info(bool measure) {
  if (!measure) return print(this_machine());
  const std::string file = machine_file();
  if (!file.empty()) check_table_file(file);
  const machine m = measure_machine();
  save_machine(m);
  print(m);
  std::cout << (file.empty() ? "not remembered: there is no folder to write to\n" : "remembered  " + file + "\n");
}

}  // namespace

std::function<void()> add_info(CLI::App& app) {
  CLI::App* const c = app.add_subcommand("info", "Show this machine: instruction sets, caches, peaks");
  const auto measure = std::make_shared<bool>(false);
  c->add_flag("--measure", *measure, "Measure the peaks and bandwidths, and remember them");
  return [measure] { run_info(*measure); };
}

}  // namespace ricci::tools
