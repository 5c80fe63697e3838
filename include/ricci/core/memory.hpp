// Memory of tensors, arrays and temporaries.
#pragma once

#include <cstddef>

namespace ricci::detail {

/// `bytes` of memory that begin at a multiple of `alignment`, a power of two of 64 or more; zeroed if asked for, large
/// amounts by all threads. From 4 MiB on it asks for large pages. `what` it is for stands in the message of the error.
/// Errors: no_memory.
void* allocate(std::size_t bytes, std::size_t alignment, bool zeroed, const char* what);
void release(void* memory) noexcept;

}  // namespace ricci::detail
