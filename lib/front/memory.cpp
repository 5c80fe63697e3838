// Memory of tensors.
#include <cstdlib>
#include <cstring>

#include <ricci/core/error.hpp>
#include <ricci/tensor/tensor.hpp>

namespace ricci::detail {

void* allocate(std::int64_t count, std::int64_t bytes) {
  constexpr std::size_t line = 64;
  const std::size_t wanted = static_cast<std::size_t>(count) * static_cast<std::size_t>(bytes);
  const std::size_t rounded = wanted == 0 ? line : (wanted + line - 1) / line * line;
  void* const memory = std::aligned_alloc(line, rounded);
  if (!memory) throw error(errc::no_memory, "ricci: no memory for a tensor of " + std::to_string(wanted) + " bytes");
  std::memset(memory, 0, rounded);
  return memory;
}

void release(void* memory) noexcept { std::free(memory); }

}  // namespace ricci::detail
