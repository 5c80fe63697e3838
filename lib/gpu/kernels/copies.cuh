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

/// The same of 4, 8 or 16, of which only the first `bytes` are read: the others become zeros.
template <int Bytes>
__device__ inline void copy_async_of(void* to, const void* from, u32 bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from), "n"(Bytes), "r"(bytes) : "memory");
}

/// All of them, or zeros: nothing is read then.
template <int Bytes>
__device__ inline void copy_async_or_zero(void* to, const void* from, bool is_there) { copy_async_of<Bytes>(to, from, is_there ? Bytes : 0); }

/// The same, and the second cache is asked for all of the line of 128 bytes.
template <int Bytes>
__device__ inline void copy_async_of_line(void* to, const void* from, bool is_there) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from), "r"(is_there ? Bytes : 0) : "memory");
  else
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from), "n"(Bytes), "r"(is_there ? Bytes : 0) : "memory");
}

__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until all but the Pending newest groups of this thread's copies are there.
template <int Pending>
__device__ inline void wait_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory"); }

#if __CUDA_ARCH__ >= 900
constexpr bool has_bulk_copies = true;

/// What bulk copies say when they are there, each of `count` threads once; by one thread.
__device__ inline void begin_arrivals(u64* arrived, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(arrived))), "r"(count) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// One copy by the hardware: to and from are at multiples of 16 bytes, and so are their ends. By one thread.
__device__ inline void copy_bulk(void* to, const void* from, int bytes, u64* arrived) {
  const u32 there = static_cast<u32>(__cvta_generic_to_shared(arrived));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(there), "r"(bytes) : "memory");
  if (bytes > 0)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))), "l"(from), "r"(bytes),
                 "r"(there)
                 : "memory");
}

/// One copy by the hardware back to global memory, of what all threads showed; the same rules, by one thread.
__device__ inline void store_bulk(void* to, const void* from, int bytes) {
  if (bytes > 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(static_cast<u32>(__cvta_generic_to_shared(from))), "r"(bytes) : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Until what this thread's stores have read may be overwritten.
__device__ inline void wait_stores() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
/// Makes what this thread wrote to shared memory visible to the hardware's copies, once the threads have met.
__device__ inline void show_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Waits for copies the `turn`-th time, from 0.
__device__ inline void wait_arrival(u64* arrived, unsigned turn) {
  u32 there;
  do asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(there) : "r"(static_cast<u32>(__cvta_generic_to_shared(arrived))), "r"(turn & 1) : "memory");
  while (there == 0);
}
#else
constexpr bool has_bulk_copies = false;
__device__ inline void begin_arrivals(u64*, int) {}
__device__ inline void copy_bulk(void*, const void*, int, u64*) {}
__device__ inline void wait_arrival(u64*, unsigned) {}
__device__ inline void store_bulk(void*, const void*, int) {}
__device__ inline void commit_stores() {}
__device__ inline void wait_stores() {}
__device__ inline void show_stores() {}
#endif
