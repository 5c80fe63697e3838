// Finds the kernels for the shipped table of many small products (lib/gpu/small_table.cpp).
//   bench_gpu_tune compile PART PARTS TYPES SIZES BETAS [BEST]        fills the kernel cache; processes share the work
//   bench_gpu_tune run FOLDER SHOWN TYPES SIZES BETAS [BEST]          measures; writes table lines, a log and `best`
// With RICCI_TUNE_THOROUGH set, more candidates. TYPES as f64,f32; SIZES as 2:32; BETAS as 0, 1 or 0,1. BEST is such a file: only its candidates are looked at.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <ricci/core/error.hpp>

#include "gpu/tune.hpp"

namespace {

using namespace ricci;
using namespace ricci::cuda;

std::vector<small_problem> cases_of(const std::string& types, const char* sizes, const std::string& betas) {
  // "2:32" or "2,5,7"
  std::vector<int> wanted;
  int low = 2, high = 32;
  if (std::sscanf(sizes, "%d:%d", &low, &high) == 2)
    for (int n = low; n <= high; ++n) wanted.push_back(n);
  else
    for (const char* at = sizes; at && *at; at = std::strchr(at, ',') ? std::strchr(at, ',') + 1 : nullptr) wanted.push_back(std::atoi(at));
  std::vector<small_problem> cases;
  for (int t = 0; t < dtype_count; ++t) {
    const std::string name = name_of(static_cast<dtype>(t));
    if (("," + types + ",").find("," + name + ",") == std::string::npos) continue;
    for (const int n : wanted)
      for (const bool beta : {false, true})
        if (betas.find(beta ? '1' : '0') != std::string::npos) cases.push_back({static_cast<dtype>(t), beta, n, n, n});
  }
  return cases;
}

/// What an earlier run found good for a case, whatever its beta.
struct record {
  small_problem which;
  small_config config;
};
constexpr std::size_t remembered = 10;

std::vector<small_config> candidates(const small_problem& c, const char* best) {
  if (!best) return candidates_of(c, described_h200(), std::getenv("RICCI_TUNE_THOROUGH") != nullptr);
  std::vector<small_config> out;
  std::ifstream in(best, std::ios::binary);
  for (record r; in.read(reinterpret_cast<char*>(&r), sizeof r);)
    if (r.which.type == c.type && r.which.n == c.n) out.push_back(r.config);
  return out;
}

void compile(int part, int parts, const std::vector<small_problem>& cases, const char* best) {
  int at = 0;
  for (const small_problem& c : cases)
    for (const small_config& config : candidates(c, best))
      if (at++ % parts == part) compile_candidate(c, config, 90);
}

void run(const std::string& folder, const std::vector<small_problem>& cases, int shown, const char* best) {
  const std::int64_t bytes = 1 << 30;
  buffer x(bytes), y(bytes), z(bytes);
  std::ofstream found(folder + "/best", std::ios::app | std::ios::binary);
  std::ofstream table(folder + "/table.txt", std::ios::app), log(folder + "/tune.log", std::ios::app);
  dtype filled = dtype::f64;
  bool any = false;
  double triad = 0;
  for (const small_problem& c : cases) {
    if (!any || filled != c.type) {
      y.randomise(c.type, 1), z.randomise(c.type, 2), x.randomise(c.type, 3);
      filled = c.type, any = true;
      const bandwidths b = measure_bandwidth(x, y, z);
      triad = b.triad;
      std::printf("%s: triad %.0f copy %.0f device copy %.0f GB/s\n", name_of(c.type), b.triad, b.copy, b.device_copy);
    }
    const auto results = tune(c, candidates(c, best), x, y, z, triad);
    int wrong = 0;
    for (const tune_result& r : results) {
      if (!r.trouble.empty() && r.trouble.find("spilled") == std::string::npos && wrong++ < 3)
        std::printf("  WRONG %s n=%d %s: %s\n", name_of(c.type), c.n, table_line(c, r.config).c_str(), r.trouble.substr(0, 300).c_str());
      log << name_of(c.type) << ' ' << c.n << ' ' << c.beta << ' ' << r.fraction << ' ' << r.registers << ' ' << r.blocks << ' ' << table_line(c, r.config) << ' ' << r.trouble.substr(0, 60) << '\n';
    }
    if (results.empty()) continue;
    for (std::size_t i = 0; i < std::min(remembered, results.size()); ++i) {
      const record r{c, results[i].config};
      found.write(reinterpret_cast<const char*>(&r), sizeof r);
    }
    table << table_line(c, results[0].config) << "  // " << static_cast<int>(results[0].fraction * 1000 + 0.5) / 10.0 << " %\n";
    std::printf("%s n=%-2d b%d %5.1f %% of %zu, %d wrong", name_of(c.type), c.n, c.beta, 100 * results[0].fraction, results.size(), wrong);
    for (int i = 0; i < shown && i < static_cast<int>(results.size()); ++i)
      std::printf(" | %.1f %s", 100 * results[static_cast<std::size_t>(i)].fraction, table_line(c, results[static_cast<std::size_t>(i)].config).substr(std::strlen("    {dtype::f64, ")).c_str());
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    if (count < 7) return 2;
    const auto cases = cases_of(words[4], words[5], words[6]);
    const char* const best = count > 7 ? words[7] : nullptr;
    if (std::string(words[1]) == "compile") compile(std::atoi(words[2]), std::atoi(words[3]), cases, best);
    else run(words[2], cases, std::atoi(words[3]), best);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
