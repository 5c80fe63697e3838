// Memory of gpu tensors.
#include <cstring>
#include <vector>

#include <ricci/core/error.hpp>
#include <ricci/tensor/tensor.hpp>

#include "gpu/device.hpp"

namespace ricci::detail {

void* allocate_gpu(std::int64_t count, std::int64_t bytes) { return cuda::allocate(count * bytes); }

void release_gpu(void* memory) noexcept { cuda::release(memory); }

void copy_memory(void* to, bool to_gpu, const void* from, bool from_gpu, std::int64_t count, std::int64_t bytes) {
  const std::int64_t all = count * bytes;
  if (to_gpu && from_gpu) cuda::copy_on_device(to, from, all);
  else if (to_gpu) cuda::copy_to_device(to, from, all);
  else if (from_gpu) cuda::copy_to_host(to, from, all);
  else if (all > 0) std::memmove(to, from, static_cast<std::size_t>(all));
}

void fill_gpu(void* memory, std::int64_t count, std::int64_t bytes, const void* element) {
  constexpr std::int64_t piece = 1 << 16;
  // A piece from the host, then doubled on the GPU.
  const std::int64_t first = std::min(count, piece);
  std::vector<char> elements(static_cast<std::size_t>(first * bytes));
  for (std::int64_t e = 0; e < first; ++e) std::memcpy(elements.data() + e * bytes, element, static_cast<std::size_t>(bytes));
  cuda::copy_to_device(memory, elements.data(), first * bytes);
  for (std::int64_t done = first; done < count;) {
    const std::int64_t next = std::min(done, count - done);
    cuda::copy_on_device(static_cast<char*>(memory) + done * bytes, memory, next * bytes);
    done += next;
  }
}

}  // namespace ricci::detail
