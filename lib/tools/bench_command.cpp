// ricci bench gemm: the options.
#include <ricci/core/error.hpp>

#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "tools/bench/bench.hpp"
#include "tools/commands.hpp"
#include "tools/einsum_files.hpp"
#include "tools/options.hpp"

namespace ricci::tools {
namespace {

struct bench_arguments {
  std::string types = "f64", sizes = "2:32", betas = "0,1", layouts = "strided", footprints = "l2", transposed = "nn", backend = "cpu", json, isa, only;
  int threads = 1, rounds = 15, cpu = -1;
  std::int64_t ld = 0;
  double window = 250;
  bool no_peers = false, no_eigen_fixed = false, deterministic = false;
};

constexpr bench_backend backends[] = {{"cpu", bench_gemm_cpu}, {"cuda", bench_gemm_cuda}};

std::vector<std::string> words(const std::string& text, std::initializer_list<const char*> known, const char* what) {
  const auto out = split(text, ',');
  for (const std::string& w : out)
    if (std::find(known.begin(), known.end(), w) == known.end())
      throw error(errc::bad_argument, "'" + w + "' is no " + what);
  return out;
}

/// The command that measures the same again.
std::string typed(const bench_arguments& a) {
  const bench_arguments usual;
  return "ricci bench gemm --dtype " + a.types + " --sizes " + a.sizes + " --beta " + a.betas + " --layout " + a.layouts +
         " --footprint " + a.footprints + (a.transposed == usual.transposed ? "" : " --trans " + a.transposed) + (a.ld == 0 ? "" : " --ld " + std::to_string(a.ld)) + " --threads " + std::to_string(a.threads) + " --rounds " + std::to_string(a.rounds) +
         (a.window == usual.window ? "" : fmt::format(" --window {}", a.window)) + (a.cpu < 0 ? "" : " --cpu " + std::to_string(a.cpu)) +
         (a.backend == "cpu" ? "" : " --backend " + a.backend) + (a.isa.empty() ? "" : " --isa " + a.isa) +
         (a.no_peers ? " --no-peers" : "") + (a.no_eigen_fixed ? " --no-eigen-fixed" : "") +
         (a.only.empty() ? "" : " --peer " + a.only) + (a.deterministic ? " --deterministic" : "");
}

/// Everybody gets the same instruction set: ricci and the peers have a variable for it each.
void force_isa(const std::string& isa) {
  const bool avx2 = isa == "avx2";
  for (const auto& [name, value] : {std::pair{"RICCI_ISA", avx2 ? "AVX2" : "AVX-512"}, {"LIBXSMM_TARGET", avx2 ? "hsw" : "skx"},
                                    {"OPENBLAS_CORETYPE", avx2 ? "Haswell" : "SkylakeX"},
                                    {"MKL_ENABLE_INSTRUCTIONS", avx2 ? "AVX2" : "AVX512"},
                                    {"BLIS_ARCH_TYPE", avx2 ? "haswell" : "skx"}})
    setenv(name, value, 1);
}

void pin(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(cpu), &only);
  if (sched_setaffinity(0, sizeof only, &only) != 0)
    throw error(errc::bad_argument, "cannot run on processor " + std::to_string(cpu) + " alone");
}

/// Rows have room for the matrices, and only what the layouts know is asked for.
void check_storage(const bench_request& r, const std::string& backend) {
  const bool transposed = std::any_of(r.transposed.begin(), r.transposed.end(), [](const std::string& t) { return t != "nn"; });
  const bool interleaved = std::find(r.layouts.begin(), r.layouts.end(), "interleaved") != r.layouts.end();
  if (interleaved && (transposed || r.ld != 0)) throw error(errc::bad_argument, "interleaved matrices are measured dense and not transposed");
  if (backend != "cpu" && (transposed || r.ld != 0)) throw error(errc::bad_argument, "--trans and --ld are for --backend cpu");
  if (r.ld == 0) return;
  for (const gemm_size& s : r.sizes)
    if (r.ld < std::max({s.m, s.n, s.k})) throw error(errc::bad_argument, fmt::format("rows of {} elements have no room for {}x{}x{}", r.ld, s.m, s.n, s.k));
}

void run_bench(const bench_arguments& a) {
  if (!a.isa.empty()) force_isa(a.isa);
  if (a.cpu >= 0) pin(a.cpu);
  bench_request r;
  for (const std::string& t : split(a.types, ',')) r.types.push_back(parse_dtype(t));
  r.sizes = parse_sizes(a.sizes, 9999);
  for (const std::string& b : words(a.betas, {"0", "1"}, "beta that is measured")) r.betas.push_back(b == "1");
  r.layouts = words(a.layouts, {"strided", "pointers", "interleaved"}, "layout");
  r.footprints = words(a.footprints, {"l1", "l2", "l3", "dram"}, "footprint");
  r.transposed = words(a.transposed, {"nn", "nt", "tn", "tt"}, "pair of transpositions");
  r.ld = a.ld;
  check_storage(r, a.backend);
  r.threads = a.threads;
  r.deterministic = a.deterministic;
  r.peers = !a.no_peers;
  if (!a.only.empty()) r.only = split(a.only, ',');
  r.eigen_fixed = !a.no_eigen_fixed;
  r.avx2 = a.isa == "avx2";
  r.rounds = a.rounds;
  r.window = a.window * 1e-6;
  r.json = unmask(a.json);
  r.command = typed(a);
  if (!r.json.empty()) check_writable(r.json);
  for (const bench_backend& b : backends)
    if (a.backend == b.name) return b.run(r);
  throw error(errc::bad_argument, "there is no backend '" + a.backend + "'");
}

}  // namespace

std::function<void()> add_bench(CLI::App& app) {
  CLI::App* const bench = app.add_subcommand("bench", "Measure ricci beside the peers found on this machine");
  bench->require_subcommand(1);
  CLI::App* const c = bench->add_subcommand("gemm", "Batches of small matrix products");
  const auto given = std::make_shared<bench_arguments>();
  c->add_option("--dtype", given->types, "f64, f32, c64, c128, f16, bf16; several with commas");
  c->add_option("--sizes", given->sizes, "2:32, 5x6x7, numbers from 1 to 9999, @file.csv with columns m,n,k (up to 64 are taken); several with commas");
  c->add_option("--beta", given->betas, "0, 1 or 0,1");
  c->add_option("--layout", given->layouts, "strided, pointers, interleaved");
  c->add_option("--footprint", given->footprints, "l1, l2, l3, dram: where A, B and C lie together");
  c->add_option("--trans", given->transposed, "nn, nt, tn, tt: which factors are stored transposed; several with commas");
  c->add_option("--ld", given->ld, "Elements of a row in memory, of all three matrices; 0: as many as it has")->check(CLI::Range(0, 1 << 20));
  c->add_option("--threads", given->threads, "Threads")->check(CLI::Range(1, 1024));
  c->add_option("--cpu", given->cpu, "Stay on this processor")->check(CLI::Range(0, 1023));
  c->add_option("--rounds", given->rounds, "Windows of each contender that count")->check(CLI::Range(1, 10000));
  c->add_option("--window", given->window, "Microseconds of a window")->check([](const std::string& text) {
    double window = 0;
    const bool is_number = CLI::detail::lexical_cast(text, window);
    return is_number && window >= 10 && window <= 1e6 ? std::string() : "Value " + text + " not in range [10 - 1000000]";  // a NaN is in no range
  });
  c->add_option("--json", given->json, "Write what was measured to this file")->check(not_empty);
  c->add_option("--backend", given->backend, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  c->add_option("--isa", given->isa, "avx2 or avx512, for ricci and the peers")->check(CLI::IsMember({"avx2", "avx512"}));
  c->add_flag("--peers,!--no-peers", [given](std::int64_t on) { given->no_peers = on < 0; }, "Measure peers beside ricci (the default)");
  c->add_option("--peer", given->only, "Only these peers; several with commas")->check(not_empty);
  c->add_flag("--deterministic", given->deterministic, "Ignore tuning tables");
  c->add_flag("--no-eigen-fixed", given->no_eigen_fixed, "Leave out Eigen's matrices of fixed size");
  return [given] { run_bench(*given); };
}

}  // namespace ricci::tools
