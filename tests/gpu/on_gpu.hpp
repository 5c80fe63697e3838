// Runs a program that was built for host memory on the GPU: copies of its memory between guard zones.
#pragma once

#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

#include "build_program.hpp"
#include "gpu/executable.hpp"

namespace ricci::test {

inline bool has_gpu() { return cuda::find_driver().missing.empty(); }

/// Copies of all memory of a case on the GPU; each begins `shift` elements behind a 256-byte border.
class gpu_memory {
 public:
  static constexpr std::size_t guard = 512;

  gpu_memory(const case_builder& c, int shift) : case_(c) {
    for (std::size_t i = 0; i < c.memory.size(); ++i) {
      const std::size_t bytes = static_cast<std::size_t>(c.sizes[i]) * size_of(c.type);
      const std::size_t skip = guard + static_cast<std::size_t>((static_cast<int>(i) + 1) * shift % 8) * size_of(c.type);
      std::vector<char> host(skip + bytes + guard, '\x5a');
      std::memcpy(host.data() + skip, c.memory[i].get(), bytes);
      areas_.push_back({static_cast<char*>(cuda::allocate(static_cast<std::int64_t>(host.size()))), skip, bytes});
      cuda::copy_to_device(areas_.back().device, host.data(), static_cast<std::int64_t>(host.size()));
      places_[c.memory[i].get()] = areas_.back().device + skip;
    }
    for (void* p : c.pointers) {  // to within the memory of a tensor
      const auto [begin, device] = *std::prev(places_.upper_bound(p));
      pointers_.push_back(static_cast<char*>(device) + (static_cast<char*>(p) - static_cast<char*>(begin)));
    }
  }
  ~gpu_memory() {
    for (const area& a : areas_) cuda::release(a.device);
  }
  gpu_memory(const gpu_memory&) = delete;
  gpu_memory& operator=(const gpu_memory&) = delete;

  bindings bind() { return {pointers_.data(), case_.scalars.data()}; }

  /// Writes everything back to the host and looks at the guards.
  bool fetch() {
    bool untouched = true;
    for (std::size_t i = 0; i < areas_.size(); ++i) {
      const area& a = areas_[i];
      std::vector<char> host(a.skip + a.bytes + guard);
      cuda::copy_to_host(host.data(), a.device, static_cast<std::int64_t>(host.size()));
      std::memcpy(case_.memory[i].get(), host.data() + a.skip, a.bytes);
      for (std::size_t g = 0; g < host.size(); ++g)
        if ((g < a.skip || g >= a.skip + a.bytes) && host[g] != '\x5a') untouched = false;
    }
    return untouched;
  }

 private:
  struct area {
    char* device;
    std::size_t skip, bytes;
  };
  const case_builder& case_;
  std::vector<area> areas_;
  std::map<void*, void*> places_;
  std::vector<void*> pointers_;
};

/// Runs the case on the GPU and says whether the results (of one statement) and the guards are as they should be. `shares`: as
/// gpu_machine has it.
inline void require_right_on_gpu(case_builder& c, const cuda::gpu_machine& machine, int factors, int shift, const std::string& what, bool poison) {
  const auto expected = evaluate(c.p, 0, c.bind());
  if (poison)
    for (std::int64_t i = 0; i < c.sizes[0]; ++i) put(c.type, c.pointers[0], i, {std::nan(""), std::nan("")});
  gpu_memory memory(c, shift);
  const cuda::executable plan(cuda::make_program_plan(cuda::placed_on_gpu(c.p), machine, {}));
  plan.run(memory.bind(), nullptr);
  const bool untouched = memory.fetch();
  INFO(what << ", " << name_of(c.type) << ", shift " << shift << "\n" << plan.describe());
  REQUIRE(untouched);
  REQUIRE(error_in_bounds(c.p, 0, c.bind(), expected, factors) <= 1.0);
}
inline void require_right_on_gpu(case_builder& c, int factors, int shift, const std::string& what, bool poison = false, bool shares = true) {
  cuda::gpu_machine machine = cuda::current_device().machine;
  machine.shares = shares;
  require_right_on_gpu(c, machine, factors, shift, what, poison);
}

}  // namespace ricci::test
