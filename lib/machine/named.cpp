// Shipped descriptions of machines, for planning elsewhere and for golden tests.
#include "machine/machine.hpp"

namespace ricci {
namespace {

constexpr std::int64_t KiB = 1024, MiB = 1024 * KiB;

machine make(const char* name, const char* isa, int cores, int vector_bytes, int registers) {
  machine m;
  m.name = name;
  m.isa = isa;
  m.cores = cores;
  m.vector_bytes = vector_bytes;
  m.vector_registers = registers;
  m.measured = true;
  m.writes_kernels = m.isa == "AVX2" || m.isa == "AVX-512";
  return m;
}

// Zen 3 class: 3.5 GHz, two 32-byte multiply-adds a cycle.
machine avx2() {
  machine m = make("avx2", "AVX2", 2, 32, 16);
  m.peak_f64 = 56;
  m.peak_f32 = 112;
  m.caches = {{32 * KiB, 220}, {512 * KiB, 110}, {32 * MiB, 60}};
  m.memory_bandwidth = 20;
  m.memory_bandwidth_all = 36;
  return m;
}

// Sapphire Rapids at 2.5 GHz, measured on two cores.
machine avx512() {
  machine m = make("avx512", "AVX-512", 2, 64, 32);
  m.peak_f64 = 79.8;
  m.peak_f32 = 157.8;
  m.caches = {{48 * KiB, 402}, {2 * MiB, 94.1}, {105 * MiB, 23.6}};
  m.memory_bandwidth = 13.5;
  m.memory_bandwidth_all = 25.3;
  return m;
}

// Neoverse V1 class at 2.6 GHz: four 16-byte multiply-adds a cycle, eight cores.
machine neon() {
  machine m = make("neon", "NEON", 8, 16, 32);
  m.peak_f64 = 41.6;
  m.peak_f32 = 83.2;
  m.caches = {{64 * KiB, 120}, {1 * MiB, 70}, {32 * MiB, 35}};
  m.memory_bandwidth = 22;
  m.memory_bandwidth_all = 120;
  return m;
}

}  // namespace

std::vector<std::string> machine_names() { return {"avx2", "avx512", "neon"}; }

std::optional<machine> named_machine(const std::string& name) {
  if (name == "avx2") return avx2();
  if (name == "avx512") return avx512();
  if (name == "neon") return neon();
  return std::nullopt;
}

}  // namespace ricci
