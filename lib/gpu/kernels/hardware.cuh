// What needs the hardware's own instructions: conversions, asynchronous copies, prefetches. Tests on a CPU replace this.
#pragma once

__device__ inline float half_to_float(unsigned short x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
  return y;
}
__device__ inline unsigned short float_to_half(float x) {
  unsigned short y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}
__device__ inline unsigned short float_to_bfloat(float x) {
  unsigned short y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}

/// Asks for bytes that will be read soon; nothing is waited for. The first is at a multiple of 16, and so is the end.
__device__ inline void ask_for(const char* from, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#else
  for (unsigned at = 0; at < bytes; at += 128) asm volatile("prefetch.global.L2 [%0];" ::"l"(from + at) : "memory");
#endif
}
