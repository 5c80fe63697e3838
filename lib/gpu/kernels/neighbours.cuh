// Blocks beside one another on the hardware, which read one another's shared memory. The text before this header may define
// RICCI_BLOCKS_BESIDE, how many; a kernel says RICCI_NEIGHBOURS.
#pragma once
#include "element.cuh"

#if defined(RICCI_BLOCKS_BESIDE) && __CUDA_ARCH__ >= 900
#define RICCI_NEIGHBOURS __cluster_dims__(RICCI_BLOCKS_BESIDE, 1, 1)
#else
#define RICCI_NEIGHBOURS
#endif

/// All threads of all these blocks meet; what they wrote to shared memory is there for all.
__device__ inline void meet_neighbours() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/// The same place in shared memory of the block with this number.
template <class X>
__device__ inline const X* of_neighbour(const X* here, int number) {
#if __CUDA_ARCH__ >= 900
  const X* there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(here), "r"(number));
  return there;
#else
  return here;
#endif
}
