// The demo: what ricci is, in one page. Every number is checked against Eigen; exit code 1 if one is wrong.
#include <chrono>
#include <string>
#include <string_view>

#include <fmt/core.h>
#include <omp.h>

#include "cases.hpp"
#include "eigen_peers.hpp"

namespace {

constexpr const char* usage = R"(demo: contractions in index notation beside Eigen. Usage: demo [--quick] [--markdown]
  --quick     small sizes: checks everything, its timings mean little
  --markdown  tables for README.md
)";

void introduce(const demo::settings& s) {
  const auto& m = s.machine;
  const char* const item = s.markdown ? "* " : "";
  fmt::print("ricci {}: tensor contractions in index notation, beside {}.\n", RICCI_VERSION, demo::peers::name());
  fmt::print("{}, {} cores. One core, {}: {:.0f} GFLOP/s f64, {:.0f} f32; {:.0f} GB/s ({:.0f} all cores).\n{}", m.name,
             omp_get_max_threads(), m.measured ? "measured" : "estimated", m.peak_f64, m.peak_f32, m.memory_bandwidth,
             m.memory_bandwidth_all, s.markdown ? "\n" : "");
  for (const char* line :
       {"GFLOP/s: one core for ricci and Eigen alike; all: ricci on all cores, ratio: its faster way; medians, interleaved.",
        "error: largest |ricci - Eigen| / (k eps |A||B|...), at most 1 or it is a bug; of even matrices with their mirror.",
        "bound: share of what this core can reach at most, by its multiply-adds or its bandwidth."})
    fmt::print("{}{}\n", item, line);
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  demo::settings s;
  for (int n = 1; n < argc; ++n) {
    const std::string_view option = argv[n];
    if (option == "--quick")
      s.quick = true;
    else if (option == "--markdown")
      s.markdown = true;
    else if (option == "--help")
      return fmt::print("{}", usage), 0;
    else
      return fmt::print(stderr, "demo: there is no option '{}'\n{}", option, usage), 2;
  }
  const auto start = std::chrono::steady_clock::now();
  s.machine = s.quick ? ricci::this_machine() : ricci::measure_machine();
  introduce(s);
  demo::show_statement(s);
  const std::string plan = demo::show_fem(s);
  demo::show_convolution(s);
  demo::show_coupled_cluster(s);
  demo::print_block(
      s, "Every decision is a value that can be printed. The plan of the interpolation above, degree 4:", plan);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (demo::something_is_wrong())
    fmt::print("An error is above its bound: this is a bug.\n");
  else
    fmt::print("All errors are within their bounds. {:.0f} seconds.\n", seconds);
  return demo::something_is_wrong();
}
