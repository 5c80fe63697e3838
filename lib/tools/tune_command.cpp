// ricci tune: measures register tiles on this machine and remembers those that beat the cost function.
#include <ricci/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "tools/commands.hpp"
#include "tools/tune_cuda.hpp"
#include "tune/tune.hpp"

namespace ricci::tools {
namespace {

struct choices {
  std::string types = "f64,f32,c128,c64", sizes = "2:32", output, backend = "cpu";
  int rounds = 0;  // 0: what the backend is used to
  bool dry = false, thorough = false;
};

std::vector<std::string> parts(const std::string& text, char separator) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string x; std::getline(in, x, separator);) out.push_back(x);
  return out;
}

std::int64_t number(const std::string& text) {
  std::size_t used = 0;
  std::int64_t n = 0;
  try {
    n = std::stoll(text, &used);
  } catch (const std::exception&) {
  }
  if (used != text.size() || n < 1 || n > 64) throw error(errc::bad_argument, "sizes are numbers from 1 to 64, not '" + text + "'");
  return n;
}

dtype type_of(const std::string& name, bool gpu) {
  for (dtype t : {dtype::f32, dtype::f64, dtype::c64, dtype::c128})
    if (name_of(t) == name) return t;
  for (dtype t : {dtype::f16, dtype::bf16})
    if (gpu && name_of(t) == name) return t;
  throw error(errc::bad_argument, std::string("the types to tune are f64, f32, c128 and c64") + (gpu ? ", f16 and bf16" : "") + ", not '" + name + "'");
}

/// Every size of every type: add(type, m, n, k).
template <class Add>
void for_each_problem(const choices& c, const Add& add_one) {
  const bool gpu = c.backend == "cuda";
  std::vector<dtype> types;
  for (const std::string& type : parts(c.types, ',')) types.push_back(type_of(type, gpu));
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    for (const dtype t : types) add_one(t, m, n, k);
  };
  for (const std::string& part : parts(c.sizes, ',')) {
    if (const auto mnk = parts(part, 'x'); mnk.size() == 3) {
      add(number(mnk[0]), number(mnk[1]), number(mnk[2]));
      continue;
    }
    const auto range = parts(part, ':');
    if (range.empty() || range.size() > 2) throw error(errc::bad_argument, "'" + part + "' is neither a size nor a range of sizes");
    if (number(range.back()) < number(range[0]))
      throw error(errc::bad_argument, "'" + part + "' is no range of sizes: write the smaller one first, as 2:32");
    for (std::int64_t n = number(range[0]); n <= number(range.back()); ++n) add(n, n, n);
  }
}

void run_gpu(const choices& c) {
  gpu_tuning how;
  how.rounds = c.rounds > 0 ? c.rounds : how.rounds;
  how.dry = c.dry, how.thorough = c.thorough, how.output = c.output;
  for_each_problem(c, [&](dtype t, std::int64_t m, std::int64_t n, std::int64_t k) { how.problems.push_back({t, m, n, k}); });
  std::stable_sort(how.problems.begin(), how.problems.end(), [](const auto& x, const auto& y) { return std::get<0>(x) < std::get<0>(y); });
  tune_gpu(how);
}

void run(const choices& c) {
  if (c.backend == "cuda") return run_gpu(c);
  tune::plan_of_measurement how;
  for_each_problem(c, [&](dtype t, std::int64_t m, std::int64_t n, std::int64_t k) {
    for (bool reads : {false, true}) how.problems.push_back({t, reads, m, n, 1, k});
  });
  if (c.rounds > 0) how.rounds = c.rounds;
  const std::string file = c.output.empty() ? tune::file_of(this_machine()) : c.output;
  if (file.empty() && !c.dry) throw error(errc::bad_file, "there is no folder to remember the table in; set RICCI_CACHE or use --output");
  double sum = 0;
  const tune::table t = tune::measure(how, [&](std::size_t done, const tune::entry& e) {
    sum += std::log(std::max(e.gain, 1.0));
    std::fprintf(stderr, "%s", fmt::format("{:4d} of {}  {} {}x{}x{}{}  {:.2f}x\n", done, how.problems.size(), name_of(e.what.type),
                                            e.what.rows, e.what.lanes, e.what.k, e.what.reads_c ? " +=" : "", e.gain).c_str());
  });
  fmt::print("{}: {} problems, {} with a better tile; {:.3f}x the cost function's tiles on geometric mean\n", t.machine,
             how.problems.size(), t.entries.size(),
             std::exp(sum / static_cast<double>(std::max<std::size_t>(1, how.problems.size()))));
  if (c.dry) return;
  tune::save(t, file);
  fmt::print("remembered in {}\n", file);
}

}  // namespace

std::function<void()> add_tune(CLI::App& app) {
  CLI::App* command = app.add_subcommand("tune", "Finds the best kernels for this machine and remembers them");
  const auto c = std::make_shared<choices>();
  command->add_option("--dtype", c->types, "f64, f32, c128, c64, on the GPU f16 and bf16 too; several with commas");
  command->add_option("--sizes", c->sizes, "2:32, 8, 5x6x7; several with commas");
  command->add_option("--rounds", c->rounds, "Measurements of each candidate")->check(CLI::Range(1, 1000));
  command->add_option("--backend", c->backend, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  command->add_flag("--thorough", c->thorough, "cuda: other candidates than the usual ones");
  command->add_option("--output", c->output, "Write the table to this file instead");
  command->add_flag("--dry-run", c->dry, "Measure and tell, but write nothing");
  return [c] { run(*c); };
}

}  // namespace ricci::tools
