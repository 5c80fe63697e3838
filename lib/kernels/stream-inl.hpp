// A copy past the caches.
#pragma once

#include "simd-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

inline void stream_copy(const void* src, void* dst, std::int64_t bytes) {
  const char* from = static_cast<const char*>(src);
  char* to = static_cast<char*>(dst);
#if defined(RICCI_STREAMS)
  constexpr std::int64_t line = 64;
  const std::int64_t off = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line);
  const std::int64_t head = off ? line - off : 0;
  if (bytes >= head + line) {
    __builtin_memcpy(to, from, static_cast<std::size_t>(head));
    from += head, to += head, bytes -= head;
    for (; bytes >= line; bytes -= line, from += line, to += line) stream_line(from, to);
  }
#endif
  __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace ricci::kernels::RICCI_ISA
