// Memory of tensors.
#include <omp.h>

#include <cstdlib>
#include <cstring>

#include <ricci/core/error.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci::detail {
namespace {

/// Below this a thread more would cost more than it clears.
constexpr std::size_t least_parallel = std::size_t{8} << 20;

/// Zeroes memory. The first write decides which node of the machine a page is in, so each thread writes the part of a
/// batch that it will compute: an equal share, in order.
void clear(char* memory, std::size_t size) {
  if (size < least_parallel || omp_in_parallel()) {
    std::memset(memory, 0, size);
    return;
  }
#pragma omp parallel
  {
    constexpr std::size_t page = 4096;
    const auto t = static_cast<std::size_t>(omp_get_thread_num()), n = static_cast<std::size_t>(omp_get_num_threads());
    const std::size_t first = size / n * t / page * page, last = t + 1 == n ? size : size / n * (t + 1) / page * page;
    std::memset(memory + first, 0, last - first);
  }
}

}  // namespace

void* allocate(std::int64_t count, std::int64_t bytes) {
  constexpr std::size_t line = 64;
  const std::size_t wanted = static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes);
  const std::size_t rounded = wanted == 0 ? line : (wanted + line - 1) / line * line;
  void* const memory = std::aligned_alloc(line, rounded);
  if (!memory) throw error(errc::no_memory, "ricci: no memory for a tensor of " + std::to_string(wanted) + " bytes");
  clear(static_cast<char*>(memory), rounded);
  return memory;
}

void release(void* memory) noexcept { std::free(memory); }

}  // namespace ricci::detail
