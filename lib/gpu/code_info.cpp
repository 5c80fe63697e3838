// Reading the attributes that CUDA's assembler leaves in an ELF file.
#include "gpu/code_info.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <ricci/core/error.hpp>

namespace ricci::cuda {
namespace {

template <class T>
T read(const std::string& s, std::size_t at) {
  T x{};
  if (at + sizeof x > s.size()) throw error(errc::gpu_failed, "the machine code of a kernel is cut short");
  std::memcpy(&x, s.data() + at, sizeof x);
  return x;
}

/// Calls use(tag, symbol, value) for the attributes of .nv.info that belong to a function.
template <class F>
void each_attribute(const std::string& code, std::size_t first, std::size_t size, F&& use) {
  constexpr int with_size = 4;
  for (std::size_t at = first; at + 4 <= first + size;) {
    const auto form = read<std::uint8_t>(code, at), tag = read<std::uint8_t>(code, at + 1);
    if (form == with_size) {
      const auto length = read<std::uint16_t>(code, at + 2);
      if (length == 8) use(tag, read<std::uint32_t>(code, at + 4), read<std::uint32_t>(code, at + 8));
      at += 4u + length;
    } else {
      at += 4;
    }
  }
}

}  // namespace

code_info read_code_info(const std::string& code, const std::string& kernel_name) {
  constexpr std::uint8_t frame_size = 0x11, register_count = 0x2f;
  if (code.size() < 64 || code.compare(0, 4, "\177ELF") != 0) throw error(errc::gpu_failed, "this is no machine code of a kernel");
  const auto sections = read<std::uint64_t>(code, 0x28);
  const auto entry = read<std::uint16_t>(code, 0x3a), count = read<std::uint16_t>(code, 0x3c), names = read<std::uint16_t>(code, 0x3e);
  const auto header = [&](int s) { return sections + static_cast<std::uint64_t>(s) * entry; };
  const auto text = read<std::uint64_t>(code, header(names) + 0x18);
  code_info info;
  bool found = false;
  for (int s = 0; s < count; ++s) {
    const std::string name = code.c_str() + text + read<std::uint32_t>(code, header(s));
    const auto offset = read<std::uint64_t>(code, header(s) + 0x18), size = read<std::uint64_t>(code, header(s) + 0x20);
    found = found || name == ".text." + kernel_name;
    if (name == ".nv.shared." + kernel_name) info.static_shared = static_cast<int>(size);
    if (name == ".nv.info")
      each_attribute(code, offset, size, [&](std::uint8_t tag, std::uint32_t, std::uint32_t value) {
        if (tag == register_count) info.registers = std::max(info.registers, static_cast<int>(value));
        if (tag == frame_size) info.stack_bytes = std::max(info.stack_bytes, static_cast<int>(value));
      });
  }
  if (!found) throw error(errc::gpu_failed, "the machine code has no kernel " + kernel_name);
  return info;
}

int blocks_of(const code_info& c, const kernel_request& r, const gpu_machine& m) {
  // Registers are given out to warps in units of 256; a block takes 1 KiB of shared memory besides its own.
  const int warps = (r.threads + 31) / 32;
  const int warp_registers = (std::max(1, c.registers) * 32 + 255) / 256 * 256;
  int blocks = std::min({m.registers / warp_registers / warps, m.threads / r.threads, 32});
  const int shared = r.shared_bytes + c.static_shared + 1024;
  return std::max(0, std::min(blocks, m.shared_bytes / shared));
}

}  // namespace ricci::cuda
