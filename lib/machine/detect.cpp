// This machine: topology and clock from the system, speeds estimated from clock and vector width.
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include "codegen/codegen.hpp"
#include "kernels/core.hpp"
#include "kernels/kernels.hpp"
#include "machine/detail.hpp"

namespace ricci {
namespace detail {
namespace {

std::string cpu_file(const std::string& name) { return "/sys/devices/system/cpu/" + name; }

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// "32K", "1024K", "32M", "12345"
std::int64_t bytes_of(const std::string& text) {
  std::int64_t number = 0;  // whatever the locale says
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || number <= 0) return 0;
  const char unit = end < text.data() + text.size() ? *end : '\0';
  return number * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

// The value of the first line "key : value" of /proc/cpuinfo.
std::string cpu_info(const std::string& key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const auto value = line.find_first_not_of(" \t", colon + 1);
    if (value != std::string::npos) return line.substr(value);
  }
  return {};
}

std::string model_name() {
  for (const char* key : {"model name", "cpu", "Model"}) {
    if (auto name = cpu_info(key); !name.empty()) return name;
  }
  utsname system{};
  const std::string family = uname(&system) == 0 ? system.machine : "CPU";
  const std::string implementer = cpu_info("CPU implementer"), part = cpu_info("CPU part");
  return part.empty() ? family : family + " " + implementer + " " + part;
}

// Cores this process may run on; threads of one core count once, since they share its multipliers.
int core_count() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  }
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string topology = cpu_file("cpu" + std::to_string(cpu) + "/topology/");
    const std::string core = first_line(topology + "core_id"), package = first_line(topology + "physical_package_id");
    cores.insert(core.empty() ? "cpu " + std::to_string(cpu) : package + " " + core);
  }
  return std::max(1, static_cast<int>(cores.size()));
}

std::int64_t cache_bytes(int level) {
  for (int i = 0; i < 8; ++i) {
    const std::string index = cpu_file("cpu0/cache/index" + std::to_string(i) + "/");
    if (first_line(index + "level") != std::to_string(level) || first_line(index + "type") == "Instruction") continue;
    if (const auto bytes = bytes_of(first_line(index + "size"))) return bytes;
  }
  long bytes = 0;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  bytes = sysconf(level == 1 ? _SC_LEVEL1_DCACHE_SIZE : level == 2 ? _SC_LEVEL2_CACHE_SIZE : _SC_LEVEL3_CACHE_SIZE);
#endif
  // Nothing is known in some containers: what most CPUs have at least.
  return bytes > 0 ? bytes : level == 1 ? 32 * 1024 : level == 2 ? 512 * 1024 : 8 * 1024 * 1024;
}

double clock_ghz() {
  const double khz = static_cast<double>(bytes_of(first_line(cpu_file("cpu0/cpufreq/cpuinfo_max_freq"))));
  if (khz > 0) return khz / 1e6;
  const double mhz = static_cast<double>(bytes_of(cpu_info("cpu MHz")));
  return mhz > 0 ? mhz / 1e3 : 2.5;
}

// The only place of this file that knows the kernels.
void describe_isa(machine& m) {
  const auto& kernels = kernels::best();
  m.isa = kernels.isa;
  m.vector_bytes = kernels.vector_bytes;
  m.vector_registers = kernels.vector_registers;
  m.writes_kernels = codegen::best_target() != codegen::target::none;
#if defined(__x86_64__)
  const bool zen_5 = kernels::this_core() == kernels::core::zen_5 || kernels::this_core() == kernels::core::narrow_zen_5;
  m.fetches_blocks = __builtin_cpu_is("amd") && !zen_5;
  if (zen_5) m.least_streamed = 2, m.asks = {.third = 2048, .memory = 4096, .third_results = 4608, .memory_factors = 36864, .memory_results = 36864};
  if (kernels::this_core() == kernels::core::zen_3) m.asks = {.memory = 2048, .memory_results = 3584};
  if (__builtin_cpu_is("intel")) m.asks = {.second = 1024, .third = 2048, .memory = 2048, .memory_results = 3584};
#endif
}

// Two multiply-adds a cycle, and the shares of the loads and stores of a triad that today's cores reach. From memory, a core
// of Zen 5 reaches 45 to 56 GB/s, one of Zen 4 23 to 29, one of a Sapphire Rapids server 10 to 13. Virtual machines state the
// clock that is guaranteed, Zen 5 runs at 4 GHz and more.
void estimate_speeds(machine& m) {
  const bool zen_5 = kernels::this_core() == kernels::core::zen_5;
  const double ghz = zen_5 ? std::max(clock_ghz(), 4.0) : clock_ghz(), vector = ghz * m.vector_bytes;
  m.peak_f64 = vector / 8 * 4;
  m.peak_f32 = vector / 4 * 4;
  m.caches = {{cache_bytes(1), 2 * vector}, {cache_bytes(2), vector}, {cache_bytes(3), (zen_5 ? 30 : 10) * ghz}};
  m.memory_bandwidth = zen_5 ? 45 : m.fetches_blocks ? 24 : 12;
  m.memory_bandwidth_all = m.memory_bandwidth * std::min(m.cores, m.fetches_blocks ? 4 : 8);
}

}  // namespace

machine detect_machine() {
  machine m;
  describe_isa(m);
  const std::string core = kernels::name_of(kernels::this_core());  // some systems name a brand only
  m.name = model_name() + (core.empty() ? "" : ", " + core) + " (" + m.isa + ")";
  m.cores = core_count();
  estimate_speeds(m);
  return m;
}

}  // namespace detail

const machine& this_machine() {
  // Initialised once, whichever thread comes first; a damaged or unreadable file only means estimates. Never destroyed:
  // destructors of static objects may make plans.
  static const machine& here = *new machine([] {
    machine found = detail::detect_machine();
    try {
      if (auto remembered = detail::load_machine(detail::machine_file_of(found), found)) return *remembered;
    } catch (...) {
    }
    return found;
  }());
  return here;
}

std::string machine_file() { return detail::machine_file_of(this_machine()); }

}  // namespace ricci
