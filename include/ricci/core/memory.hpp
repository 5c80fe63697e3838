// Memory of tensors, arrays and temporaries.
#pragma once

#include <cstddef>
#include <new>

#include <ricci/core/error.hpp>

namespace ricci::detail {

/// `bytes` of memory that begin at a multiple of `alignment`, a power of two of 64 or more; zeroed if asked for, large
/// amounts by all threads. From 4 MiB on it asks for large pages. `what` it is for stands in the message of the error.
/// Errors: no_memory.
void* allocate(std::size_t bytes, std::size_t alignment, bool zeroed, const char* what);
void release(void* memory) noexcept;

/// make() of a plan; an allocation that fails in it is an error of ours. Errors: no_memory.
template <class Make>
decltype(auto) with_memory_for_plan(const Make& make) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw error(errc::no_memory, "no memory for a plan");
  }
}

}  // namespace ricci::detail
