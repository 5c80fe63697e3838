// Finds the kernels for the shipped table of many small products (lib/gpu/small_table.cpp).
//   bench_gpu_tune compile PART PARTS TYPES SIZES BETAS [BEST]        fills the kernel cache; processes share the work
//   bench_gpu_tune run FOLDER SHOWN TYPES SIZES BETAS [BEST]          measures; writes table lines, a log and `best`
// With RICCI_TUNE_THOROUGH set, more candidates. TYPES as f64,f32; SIZES as 2:32; BETAS as 0, 1 or 0,1. BEST is such a file: only its candidates are looked at.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
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

constexpr std::size_t remembered = 10;

/// A candidate as a line of text: type n beta, then the configuration's numbers in their order.
std::string line_of(const small_problem& c, const small_config& b) {
  std::ostringstream t;
  t << name_of(c.type) << ' ' << c.n << ' ' << c.beta;
  for (const int x : {b.problems, b.group, b.block, b.stages, static_cast<int>(b.compute), b.rm, b.rn, b.pad_a, b.pad_b, b.pad_c, b.unroll, b.blocks,
                      static_cast<int>(b.vectors), static_cast<int>(b.lined), static_cast<int>(b.spread), static_cast<int>(b.over), b.bulk, b.together})
    t << ' ' << x;
  return t.str();
}

/// The candidates of a file of such lines, whatever their beta, and what the table has; without a file, those of the rules.
std::vector<small_config> candidates(const small_problem& c, const char* best) {
  const gpu_machine& m = described_h200();
  const std::vector<small_config> known = candidates_of(c, m, std::getenv("RICCI_TUNE_THOROUGH") != nullptr);
  if (!best) return known;
  small_shape s;
  make_small(square_step(c.type, c.n, c.beta, 1 << 20), s);
  std::vector<small_config> out = {known.front()};
  std::ifstream in(best);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string type;
    int n = 0, beta = 0, compute = 0;
    small_config b;
    words >> type >> n >> beta >> b.problems >> b.group >> b.block >> b.stages >> compute >> b.rm >> b.rn >> b.pad_a >> b.pad_b >> b.pad_c >> b.unroll >> b.blocks;
    words >> b.vectors >> b.lined >> b.spread >> b.over >> b.bulk >> b.together;
    b.compute = static_cast<arithmetic>(compute);
    const bool wanted = words && type == name_of(c.type) && n == c.n;
    if (wanted && fits(s, b, m) && std::find(out.begin(), out.end(), b) == out.end()) out.push_back(b);
  }
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
  std::ofstream found(folder + "/best", std::ios::app);
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
    for (std::size_t i = 0; i < std::min(remembered, results.size()); ++i) found << line_of(c, results[i].config) << '\n';
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
