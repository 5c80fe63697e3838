// ricci tune: measures register tiles on this machine and remembers those that beat the cost function.
#include <ricci/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "tools/commands.hpp"
#include "tools/interrupt.hpp"
#include "tools/options.hpp"
#include "tools/tune_cuda.hpp"
#include "tune/tune.hpp"

namespace ricci::tools {
namespace {

struct choices {
  std::string types = "f64,f32,c128,c64", sizes = "2:32", output, backend = "cpu";
  int rounds = 0;  // 0: what the backend is used to
  bool dry = false, thorough = false;
};

dtype type_of(const std::string& name, bool gpu) {
  for (dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    if (name_of(t) == name) return t;
  for (dtype t : {dtype::f16, dtype::bf16})
    if (gpu && name_of(t) == name) return t;
  throw error(errc::bad_argument, std::string("the types to tune are f64, f32, c128 and c64") + (gpu ? ", f16 and bf16" : "") + ", not '" + name + "'");
}

/// Every size of every type: add(type, m, n, k).
template <class Add>
void for_each_problem(const choices& c, const Add& add) {
  const bool gpu = c.backend == "cuda";
  std::vector<dtype> types;
  for (const std::string& type : split(c.types, ',')) types.push_back(type_of(type, gpu));
  for (const gemm_size& s : parse_sizes(c.sizes, 64))
    for (const dtype t : types) add(t, s.m, s.n, s.k);
}

void run_gpu(const choices& c) {
  gpu_tuning how;
  how.rounds = c.rounds > 0 ? c.rounds : how.rounds;
  how.dry = c.dry, how.thorough = c.thorough, how.output = unmask(c.output);
  for_each_problem(c, [&](dtype t, std::int64_t m, std::int64_t n, std::int64_t k) { how.problems.push_back({t, m, n, k}); });
  std::stable_sort(how.problems.begin(), how.problems.end(), [](const auto& x, const auto& y) { return std::get<0>(x) < std::get<0>(y); });
  tune_gpu(how);
}

void run_tune(const choices& c) {
  if (c.backend == "cuda") return run_gpu(c);
  if (!this_machine().writes_kernels)
    throw error(errc::bad_argument, "no kernels are written at run time with " + this_machine().isa +
                                        " or RICCI_JIT=0, so there are no tiles to choose from");
  tune::plan_of_measurement how;
  for_each_problem(c, [&](dtype t, std::int64_t m, std::int64_t n, std::int64_t k) {
    for (bool reads : {false, true}) how.problems.push_back({t, reads, m, n, 1, k});
  });
  if (c.rounds > 0) how.rounds = c.rounds;
  const std::string file = c.output.empty() ? tune::file_of(this_machine()) : unmask(c.output);
  if (!c.dry) check_table_file(file);
  const interrupt stop;
  std::size_t measured = 0;
  double sum = 0;
  const tune::table t = tune::measure(how, [&](std::size_t done, const tune::entry& e) {
    measured = done;
    sum += std::log(std::max(e.gain, 1.0));
    std::fprintf(stderr, "%s", fmt::format("{:4d} of {}  {} {}x{}x{}{}  {:.2f}x\n", done, how.problems.size(), name_of(e.what.type),
                                            e.what.rows, e.what.lanes, e.what.k, e.what.reads_c ? " +=" : "", e.gain).c_str());
    return !stop.asked();
  });
  fmt::print("{}: {} problems, {} with a better tile; {:.3f}x the cost function's tiles on geometric mean\n", t.machine,
             measured, t.entries.size(), std::exp(sum / static_cast<double>(std::max<std::size_t>(1, measured))));
  stop.rest();
  if (c.dry) return stop.end();
  how.problems.resize(measured);
  tune::save(c.output.empty() ? tune::merged(tune::remembered(), t, how.problems) : t, file);
  fmt::print("remembered in {}\n", file);
  stop.end();
}

}  // namespace

std::function<void()> add_tune(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune", "Finds the best kernels for this machine and remembers them");
  const auto c = std::make_shared<choices>();
  command->add_option("--dtype", c->types, "f64, f32, c128, c64, on the GPU f16 and bf16 too; several with commas");
  command->add_option("--sizes", c->sizes, "2:32, 8, 5x6x7, @file.csv with columns m,n,k; numbers from 1 to 64; several with commas");
  command->add_option("--rounds", c->rounds, "Measurements of each candidate")->check(CLI::Range(1, 1000));
  command->add_option("--backend", c->backend, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_flag("--thorough", c->thorough, "cuda: other candidates than the usual ones");
  command->add_option("--output", c->output, "Write the table to this file instead")->check(not_empty);
  command->add_flag("--dry-run", c->dry, "Measure and tell, but write nothing");
  return [c] { run_tune(*c); };
}

}  // namespace ricci::tools
