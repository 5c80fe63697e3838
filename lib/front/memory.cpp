// Memory of tensors, arrays and temporaries.
#include <omp.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <ricci/core/error.hpp>
#include <ricci/core/memory.hpp>

#ifdef __linux__
#include <sys/mman.h>
#endif

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

/// Asks for large pages where the system gives them on request: chains read many tensors at once, and every small page
/// of each must be found and its stream begun anew. Measured: 5 to 20 % of an operator's time.
void ask_for_large_pages([[maybe_unused]] char* memory, [[maybe_unused]] std::size_t size) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t page = std::size_t{2} << 20, least = 2 * page;
  if (size < least) return;
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(memory) % page) % page;
  madvise(memory + before, (size - before) / page * page, MADV_HUGEPAGE);  // a wish: what it answers does not matter
#endif
}

}  // namespace

void* allocate(std::size_t bytes, std::size_t alignment, bool zeroed, const char* what) {
  const std::size_t rounded = bytes == 0 ? alignment : (bytes + alignment - 1) / alignment * alignment;
  void* const memory = rounded < bytes ? nullptr : std::aligned_alloc(alignment, rounded);
  if (!memory) throw error(errc::no_memory, "no memory for " + std::string(what) + " of " + std::to_string(bytes) + " bytes");
  ask_for_large_pages(static_cast<char*>(memory), rounded);
  if (zeroed) clear(static_cast<char*>(memory), rounded);
  return memory;
}

void release(void* memory) noexcept { std::free(memory); }

}  // namespace ricci::detail
