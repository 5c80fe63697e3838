// ricci bench gemm: the options.
#include <ricci/core/error.hpp>

#include <sched.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tools/bench/bench.hpp"
#include "tools/commands.hpp"
#include "tools/einsum_files.hpp"

namespace ricci::tools {
namespace {

struct arguments {
  std::string types = "f64", sizes = "2:32", betas = "0,1", layouts = "strided", footprints = "l2", backend = "cpu", json, isa, only;
  int threads = 1, rounds = 15, cpu = -1;
  double window = 250;
  bool no_peers = false, no_eigen_fixed = false, deterministic = false;
};

constexpr bench_backend backends[] = {{"cpu", bench_gemm_cpu}, {"cuda", bench_gemm_cuda}};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out(1);
  for (const char c : text)
    if (c == at) out.emplace_back();
    else out.back() += c;
  return out;
}

std::int64_t number(const std::string& text, const std::string& all) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 1 || value > 9999)
    throw error(errc::bad_argument, "'" + all + "' is no size: write 2:32, 2:32:2, 5, 5x6x7, several with commas, or @file.csv");
  return value;
}

/// Columns m, n, k of a file whose first line names its columns; rows with an extent over 64 are left out.
void add_file(const std::string& name, std::vector<gemm_size>& to) {
  std::ifstream in(name);
  if (!in) throw error(errc::bad_file, name + " cannot be opened");
  std::string line;
  if (!std::getline(in, line) || line.rfind("m,n,k", 0) != 0)
    throw error(errc::bad_file, "the first line of " + name + " is not m,n,k,...");
  while (std::getline(in, line)) {
    const auto fields = split(line, ',');
    if (fields.size() < 3) continue;
    std::int64_t extents[3];
    for (std::size_t d = 0; d < 3; ++d) extents[d] = fields[d].size() > 4 ? 5000 : number(fields[d], line);
    const gemm_size s{extents[0], extents[1], extents[2]};
    if (std::max({s.m, s.n, s.k}) <= 64) to.push_back(s);
  }
}

std::vector<gemm_size> parse_sizes(const std::string& text) {
  std::vector<gemm_size> out;
  for (const std::string& item : split(text, ',')) {
    if (item.rfind('@', 0) == 0) {
      add_file(item.substr(1), out);
    } else if (const auto range = split(item, ':'); range.size() > 1) {
      const std::int64_t step = range.size() > 2 ? number(range[2], item) : 1;
      if (range.size() > 3 || number(range[1], item) < number(range[0], item))
        throw error(errc::bad_argument, "'" + item + "' is no range of sizes: write the smaller one first, as 2:32 or 2:32:2");
      for (std::int64_t n = number(range[0], item); n <= number(range[1], item); n += step) out.push_back({n, n, n});
    } else if (const auto extents = split(item, 'x'); extents.size() == 3) {
      out.push_back({number(extents[0], item), number(extents[1], item), number(extents[2], item)});
    } else {
      const std::int64_t n = number(item, item);
      out.push_back({n, n, n});
    }
  }
  return out;
}

std::vector<std::string> words(const std::string& text, std::initializer_list<const char*> known, const char* what) {
  const auto out = split(text, ',');
  for (const std::string& w : out)
    if (std::find(known.begin(), known.end(), w) == known.end())
      throw error(errc::bad_argument, "'" + w + "' is no " + what);
  return out;
}

std::string typed(const arguments& a) {
  return "ricci bench gemm --dtype " + a.types + " --sizes " + a.sizes + " --beta " + a.betas + " --layout " + a.layouts +
         " --footprint " + a.footprints + " --threads " + std::to_string(a.threads) + " --rounds " + std::to_string(a.rounds) +
         (a.backend == "cpu" ? "" : " --backend " + a.backend) + (a.isa.empty() ? "" : " --isa " + a.isa) +
         (a.no_peers ? " --no-peers" : "") + (a.only.empty() ? "" : " --peer " + a.only) + (a.deterministic ? " --deterministic" : "");
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

/// Before anything is measured. Leaves no file behind.
void check_writable(const std::string& file) {
  const bool there = std::filesystem::exists(file);
  if (!std::ofstream(file, std::ios::app)) throw error(errc::bad_file, "cannot write " + file);
  if (!there) std::filesystem::remove(file);
}

void run(const arguments& a) {
  if (!a.isa.empty()) force_isa(a.isa);
  if (a.cpu >= 0) pin(a.cpu);
  bench_request r;
  for (const std::string& t : split(a.types, ',')) r.types.push_back(parse_dtype(t));
  r.sizes = parse_sizes(a.sizes);
  for (const std::string& b : words(a.betas, {"0", "1"}, "beta that is measured")) r.betas.push_back(b == "1");
  r.layouts = words(a.layouts, {"strided", "pointers", "interleaved"}, "layout");
  r.footprints = words(a.footprints, {"l1", "l2", "l3", "dram"}, "footprint");
  r.threads = a.threads;
  r.deterministic = a.deterministic;
  r.peers = !a.no_peers;
  if (!a.only.empty()) r.only = split(a.only, ',');
  r.eigen_fixed = !a.no_eigen_fixed;
  r.avx2 = a.isa == "avx2";
  r.rounds = a.rounds;
  r.window = a.window * 1e-6;
  r.json = a.json;
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
  const auto given = std::make_shared<arguments>();
  c->add_option("--dtype", given->types, "f64, f32, c64, c128, f16, bf16; several with commas");
  c->add_option("--sizes", given->sizes, "2:32, 5x6x7, @file.csv with columns m,n,k; several with commas");
  c->add_option("--beta", given->betas, "0, 1 or 0,1");
  c->add_option("--layout", given->layouts, "strided, pointers, interleaved");
  c->add_option("--footprint", given->footprints, "l1, l2, l3, dram: where A, B and C lie together");
  c->add_option("--threads", given->threads, "Threads")->check(CLI::Range(1, 1024));
  c->add_option("--cpu", given->cpu, "Stay on this processor")->check(CLI::Range(0, 1023));
  c->add_option("--rounds", given->rounds, "Windows of each contender that count")->check(CLI::Range(1, 10000));
  c->add_option("--window", given->window, "Microseconds of a window")->check(CLI::Range(10.0, 1e6));
  c->add_option("--json", given->json, "Write what was measured to this file")->check(not_empty);
  c->add_option("--backend", given->backend, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}));
  c->add_option("--isa", given->isa, "avx2 or avx512, for ricci and the peers")->check(CLI::IsMember({"avx2", "avx512"}));
  c->add_flag("--peers,!--no-peers", [given](std::int64_t on) { given->no_peers = on < 0; }, "Measure peers beside ricci (the default)");
  c->add_option("--peer", given->only, "Only these peers; several with commas");
  c->add_flag("--deterministic", given->deterministic, "Ignore tuning tables");
  c->add_flag("--no-eigen-fixed", given->no_eigen_fixed, "Leave out Eigen's matrices of fixed size");
  return [given] { run(*given); };
}

}  // namespace ricci::tools
