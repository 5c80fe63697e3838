// In place of the kernels' hardware.cuh: the same functions without a GPU.
#pragma once

inline float half_to_float(unsigned short x) { return static_cast<float>(__builtin_bit_cast(_Float16, x)); }
inline unsigned short float_to_half(float x) { return __builtin_bit_cast(unsigned short, static_cast<_Float16>(x)); }
inline unsigned short float_to_bfloat(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, 4);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline void ask_for(const char* from, unsigned bytes) {
  for (unsigned at = 0; at < bytes; at += 16) static_cast<void>(*static_cast<const volatile char*>(from + at));  // it must be readable
}

/// What the tensor cores do with a warp's values.
inline void __syncwarp();
namespace host {
static double warp_a[32][32][2], warp_b[32][32];
}
inline void multiply_tile(double (&c)[4], double a0, double a1, double b) {
  const unsigned warp = host::current / 32, lane = host::current % 32;
  host::warp_a[warp][lane][0] = a0, host::warp_a[warp][lane][1] = a1, host::warp_b[warp][lane] = b;
  __syncwarp();
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned k = 0; k < 4; ++k) c[i] += host::warp_a[warp][lane / 4 * 4 + k][i / 2] * host::warp_b[warp][(2 * (lane % 4) + i % 2) * 4 + k];
  __syncwarp();
}
