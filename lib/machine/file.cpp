// Measurements remembered between runs: one small JSON file for each CPU model and ISA.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "machine/detail.hpp"
#include "machine/files.hpp"

namespace ricci {
namespace detail {
namespace {

using nlohmann::json;

constexpr int format = 1;

json to_json(const machine& m) {
  json caches = json::array();
  for (const auto& level : m.caches) caches.push_back({{"bytes", level.bytes}, {"bandwidth", level.bandwidth}});
  return {{"ricci_machine", format}, {"name", m.name}, {"isa", m.isa}, {"cores", m.cores},
          {"vector_bytes", m.vector_bytes}, {"vector_registers", m.vector_registers}, {"peak_f64", m.peak_f64},
          {"peak_f32", m.peak_f32}, {"caches", caches}, {"memory_bandwidth", m.memory_bandwidth},
          {"memory_bandwidth_all", m.memory_bandwidth_all}};
}

bool plausible(double speed) { return std::isfinite(speed) && speed > 0.01 && speed < 1e6; }

bool plausible(const machine& m) {
  bool good = plausible(m.peak_f64) && plausible(m.peak_f32) && plausible(m.memory_bandwidth) &&
              plausible(m.memory_bandwidth_all) && m.cores > 0 && m.caches.size() == 3;
  for (const auto& level : m.caches) good = good && level.bytes > 0 && plausible(level.bandwidth);
  return good;
}

machine from_json(const json& j) {
  machine m;
  m.name = j.at("name");
  m.isa = j.at("isa");
  m.cores = j.at("cores");
  m.vector_bytes = j.at("vector_bytes");
  m.vector_registers = j.at("vector_registers");
  m.peak_f64 = j.at("peak_f64");
  m.peak_f32 = j.at("peak_f32");
  for (const auto& level : j.at("caches")) m.caches.push_back({level.at("bytes"), level.at("bandwidth")});
  m.memory_bandwidth = j.at("memory_bandwidth");
  m.memory_bandwidth_all = j.at("memory_bandwidth_all");
  m.measured = true;
  return m;
}

}  // namespace

std::string machine_file_of(const machine& m) {
  const auto folder = cache_folder();
  if (folder.empty()) return {};
  std::string file = "machine-";
  for (char c : m.name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) file += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (file.back() != '-') file += '-';
  }
  while (file.back() == '-') file.pop_back();
  return (folder / (file + ".json")).string();
}

std::optional<machine> load_machine(const std::string& file, const machine& like) {
  if (file.empty()) return std::nullopt;
  try {
    std::ifstream in(file);
    if (!in) return std::nullopt;
    const json j = json::parse(in);
    if (j.at("ricci_machine") != format) return std::nullopt;
    machine m = from_json(j);
    const bool same = m.name == like.name && m.isa == like.isa && m.vector_bytes == like.vector_bytes &&
                      m.vector_registers == like.vector_registers;
    if (!same || !plausible(m)) return std::nullopt;
    m.writes_kernels = like.writes_kernels;
    m.fetches_blocks = like.fetches_blocks, m.asks = like.asks, m.least_streamed = like.least_streamed;
    m.cores = like.cores;  // what this process may use, which may differ from one run to the next
    return m;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace detail

void save_machine(const machine& m) {
  const std::string file = detail::machine_file_of(m);
  if (!file.empty()) detail::write_whole(file, detail::to_json(m).dump(2) + '\n', "the measurement of this machine");
}

}  // namespace ricci
