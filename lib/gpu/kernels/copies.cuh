// Asynchronous copies from global to shared memory.
#pragma once
#include "element.cuh"

/// Copies Bytes from global to shared memory, asynchronously where the hardware can (4, 8, 16).
template <int Bytes>
__device__ inline void copy_async(void* to, const void* from) {
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from) : "memory");
  } else if constexpr (Bytes >= 4) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from), "n"(Bytes) : "memory");
  } else {
    *static_cast<typename word<Bytes>::type*>(to) = *static_cast<const typename word<Bytes>::type*>(from);
  }
}

__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until all but the Pending newest groups of this thread's copies are there.
template <int Pending>
__device__ inline void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory"); }
