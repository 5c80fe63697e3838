// What needs the hardware's own instructions: conversions, prefetches, barriers, the tensor cores. Tests on a CPU replace this.
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

/// Two halves in a word, the first in its low bits: one instruction, where single ones take as long as four such.
__device__ inline unsigned floats_to_halves(float x, float y) {
  unsigned z;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(z) : "f"(y), "f"(x));
  return z;
}
__device__ inline void halves_to_floats(float& x, float& y, unsigned z) {
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}" : "=f"(x), "=f"(y) : "r"(z));
}

/// Asks for bytes that will be read soon; nothing is waited for. The first is at a multiple of 16, and so is the end.
__device__ inline void ask_for(const char* from, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#else
  for (unsigned at = 0; at < bytes; at += 128) asm volatile("prefetch.global.L2 [%0];" ::"l"(from + at) : "memory");
#endif
}

/// c += a b of 16 x 4 times 4 x 8 in double: a at (thread / 4, thread % 4) and eight rows on, b at (thread % 4, thread / 4), c at
/// (thread / 4, 2 (thread % 4)), its neighbour, and both eight rows on.
__device__ inline void multiply_tile(double (&c)[4], double a0, double a1, double b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a0), "d"(a1), "d"(b));
#else
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c[0]), "+d"(c[1]) : "d"(a0), "d"(b));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c[2]), "+d"(c[3]) : "d"(a1), "d"(b));
#endif
}

/// c += a b of 8 x 4 times 4 x 8: a at (thread / 4, thread % 4), b at (thread % 4, thread / 4), c at (thread / 4, 2 (thread % 4)) and its
/// neighbour.
__device__ inline void mma_f64(double (&c)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b));
}

/// Two tiles of 8 x 8, one below the other.
__device__ inline void mma_f64_two(double (&top)[2], double (&bottom)[2], double a_top, double a_bottom, double b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+d"(top[0]), "+d"(top[1]), "+d"(bottom[0]), "+d"(bottom[1]) : "d"(a_top), "d"(a_bottom), "d"(b));
#else
  mma_f64(top, a_top, b), mma_f64(bottom, a_bottom, b);
#endif
}

/// c += a b of 16 x 8 times 8 x 8: a at (line, quad), (line + 8, quad) and the same four columns on, b at (quad, line) and
/// four rows on, c at (line, 2 quad), its neighbour, and both eight rows on.
__device__ inline void mma_f64_tall(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
  double (&low)[2] = *reinterpret_cast<double(*)[2]>(&c[0]), (&high)[2] = *reinterpret_cast<double(*)[2]>(&c[2]);
  mma_f64(low, a[0], b[0]), mma_f64(high, a[1], b[0]);
  mma_f64(low, a[2], b[1]), mma_f64(high, a[3], b[1]);
#endif
}

/// c += a b of 16 x 16 times 16 x 8, two neighbours in k to a register: a at (thread / 4, 2 (thread % 4)), eight rows on, and both eight
/// terms on; b at (2 (thread % 4), thread / 4) and eight terms on; c as two tiles of 8 x 8, one below the other.
template <bool Bfloat>
__device__ inline void mma_16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  if constexpr (Bfloat)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// A barrier of some of a block's warps; its number, from 1, is a constant: else the hardware sets all sixteen aside for each block.
template <int Number, int Threads>
__device__ inline void meet_group() { asm volatile("bar.sync %0, %1;" ::"n"(Number), "n"(Threads) : "memory"); }
