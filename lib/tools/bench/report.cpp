// What was measured, as a table and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>
#include <ricci/core/error.hpp>

#include "kernels/kernels.hpp"
#include "machine/machine.hpp"
#include "tools/bench/bench.hpp"

namespace ricci::tools {
namespace {

using nlohmann::json;

double giga(const gemm_case& c, double seconds) { return seconds > 0 ? c.flops() / seconds * 1e-9 : 0; }

std::string size_text(const gemm_size& s) {
  return s.m == s.n && s.n == s.k ? fmt::format("{}", s.m) : fmt::format("{}x{}x{}", s.m, s.n, s.k);
}

json to_json(const gemm_answer& a) {
  const gemm_case& c = a.problem;
  json contenders = json::array();
  for (const timing& t : a.contenders)
    contenders.push_back({{"name", t.name}, {"ours", t.ours}, {"gflops_median", giga(c, t.median)}, {"gflops_best", giga(c, t.best)},
                          {"seconds_median", t.median}, {"windows", t.windows}, {"discarded", t.discarded}, {"agrees", t.agrees}});
  json out = {{"dtype", name_of(c.type)}, {"m", c.size.m}, {"n", c.size.n}, {"k", c.size.k}, {"beta", c.beta},
              {"layout", c.layout}, {"trans_a", c.trans_a}, {"trans_b", c.trans_b}, {"lda", c.ld_a()}, {"ldb", c.ld_b()},
              {"ldc", c.ld_c()}, {"footprint", c.footprint}, {"batch", c.batch}, {"threads", c.threads},
              {"bytes", c.bytes() * static_cast<double>(c.batch)}, {"peak_gflops", a.peak * 1e-9},
              {"bandwidth_gbytes", a.bandwidth * 1e-9}, {"bound_gflops", a.bound() * 1e-9}, {"contenders", contenders}};
  const timing *ours = a.ours(), *peer = a.best_peer();
  if (ours && ours->median > 0) out["fraction_of_bound"] = c.flops() / ours->median / a.bound();
  if (ours && peer && ours->median > 0) out["ratio_to_best_peer"] = peer->median / ours->median, out["best_peer"] = peer->name;
  return out;
}

/// How a batch lies in memory.
std::string layout_text(const gemm_case& c) {
  if (c.is_plain()) return c.layout;
  return fmt::format("{} {}{}{}", c.layout, c.trans_a ? 't' : 'n', c.trans_b ? 't' : 'n', c.ld ? fmt::format(" ld {}", c.ld) : "");
}

}  // namespace

void print_head(const bench_request& r, const std::vector<peer>& peers) {
  const machine& m = this_machine();
  std::cout << fmt::format("{}, kernels {}, {} thread{}\n", m.name, kernels::best().isa, r.threads, r.threads > 1 ? "s" : "");
  for (const peer& p : peers) std::cout << fmt::format("peer {:10} {}\n", p.name, p.version);
  if (peers.empty()) std::cout << "no peers\n";
  std::cout << "GFLOP/s, medians of interleaved windows; in brackets the best window\n\n"
            << fmt::format("{:5} {:>10} {:4} {:20} {:5} {:>9}  {:>16}  {:>24}  {:>6} {:>6}\n", "type", "size", "beta", "layout",
                           "where", "bound", "ricci", "best peer", "ratio", "bound");
}

void print_answer(const gemm_answer& a) {
  const gemm_case& c = a.problem;
  const timing *ours = a.ours(), *peer = a.best_peer();
  std::string line = fmt::format("{:5} {:>10} {:4} {:20} {:5} {:9.2f}", name_of(c.type), size_text(c.size), c.beta, layout_text(c),
                                 c.footprint, a.bound() * 1e-9);
  if (ours) line += fmt::format("  {:7.2f} ({:6.2f})", giga(c, ours->median), giga(c, ours->best));
  if (peer) line += fmt::format("  {:>15} {:8.2f}", peer->name, giga(c, peer->median));
  if (ours && ours->median > 0) {
    if (peer) line += fmt::format("  {:6.2f}", peer->median / ours->median);
    else line += fmt::format("  {:24}  {:6}", "", "");
    line += fmt::format(" {:6.2f}", c.flops() / ours->median / a.bound());
  }
  for (const timing& t : a.contenders)
    if (!t.agrees) line += "  " + t.name + " GIVES A WRONG RESULT";
  std::cout << line << std::endl;
}

/// Geometric means of the ratios to the best peer, group by group.
void print_summary(const std::vector<gemm_answer>& all) {
  struct group {
    double logs = 0, least = 1e300;
    int count = 0;
    std::string least_at;
  };
  std::map<std::string, group> groups;
  for (const gemm_answer& a : all) {
    const timing *ours = a.ours(), *peer = a.best_peer();
    if (!ours || !peer || ours->median <= 0) continue;
    const gemm_case& c = a.problem;
    group& g = groups[fmt::format("{} beta {} {} {}", name_of(c.type), c.beta, layout_text(c), c.footprint)];
    const double ratio = peer->median / ours->median;
    g.logs += std::log(ratio), ++g.count;
    if (ratio < g.least) g.least = ratio, g.least_at = size_text(c.size);
  }
  if (!groups.empty()) std::cout << "\nto the best peer of each size: geometric mean, least\n";
  for (const auto& [name, g] : groups)
    std::cout << fmt::format("{:40} {:6.2f} {:6.2f} at {}, {} sizes\n", name, std::exp(g.logs / g.count), g.least, g.least_at, g.count);
}

void write_json(const bench_request& r, const std::vector<peer>& peers, const std::vector<gemm_answer>& all) {
  const machine& m = this_machine();
  json found = json::array(), results = json::array();
  for (const peer& p : peers) found.push_back({{"name", p.name}, {"version", p.version}, {"path", p.path}});
  for (const gemm_answer& a : all) results.push_back(to_json(a));
  char date[32] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  const json out = {{"ricci_bench", "gemm"}, {"format", 1}, {"command", r.command}, {"date", date},
                    {"machine", {{"name", m.name}, {"isa", kernels::best().isa}, {"cores", m.cores}}},
                    {"rounds", r.rounds}, {"window_seconds", r.window}, {"peers", found}, {"results", results}};
  write_report(r.json, out.dump(1));
}

}  // namespace ricci::tools
