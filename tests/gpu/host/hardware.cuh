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

inline void mma_f64(double (&c)[2], double a, double b) {
  const unsigned warp = host::current / 32, lane = host::current % 32;
  host::warp_a[warp][lane][0] = a, host::warp_b[warp][lane] = b;
  __syncwarp();
  for (unsigned h = 0; h < 2; ++h)
    for (unsigned k = 0; k < 4; ++k) c[h] += host::warp_a[warp][lane / 4 * 4 + k][0] * host::warp_b[warp][(2 * (lane % 4) + h) * 4 + k];
  __syncwarp();
}
inline void mma_f64_two(double (&top)[2], double (&bottom)[2], double a_top, double a_bottom, double b) { mma_f64(top, a_top, b), mma_f64(bottom, a_bottom, b); }

namespace host {
static double warp_tall[32][32][6];
}
/// Sixteen rows, eight columns and eight terms.
inline void mma_f64_tall(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
  const unsigned warp = host::current / 32, lane = host::current % 32;
  double (&mine)[6] = host::warp_tall[warp][lane];
  for (unsigned i = 0; i < 4; ++i) mine[i] = a[i];
  mine[4] = b[0], mine[5] = b[1];
  __syncwarp();
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned k = 0; k < 8; ++k) c[i] += host::warp_tall[warp][lane / 4 * 4 + k % 4][k / 4 * 2 + i / 2] * host::warp_tall[warp][(2 * (lane % 4) + i % 2) * 4 + k % 4][4 + k / 4];
  __syncwarp();
}

namespace host {
static unsigned warp_pairs[32][32][6];
template <bool Bfloat>
float half_of(unsigned pair, unsigned which) {
  const unsigned short x = static_cast<unsigned short>(pair >> 16 * which);
  return Bfloat ? __builtin_bit_cast(float, static_cast<unsigned>(x) << 16) : half_to_float(x);
}
}  // namespace host
template <bool Bfloat>
inline void mma_16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  const unsigned warp = host::current / 32, lane = host::current % 32;
  unsigned (&mine)[6] = host::warp_pairs[warp][lane];
  for (unsigned i = 0; i < 4; ++i) mine[i] = a[i];
  mine[4] = b[0], mine[5] = b[1];
  __syncwarp();
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned far = k / 8, quad = k % 8 / 2, row = lane / 4, column = 2 * (lane % 4) + i % 2;
      c[i] += host::half_of<Bfloat>(host::warp_pairs[warp][row * 4 + quad][2 * far + i / 2], k % 2) * host::half_of<Bfloat>(host::warp_pairs[warp][column * 4 + quad][4 + far], k % 2);
    }
  __syncwarp();
}

template <int Number, int Threads>
inline void meet_group() {
  static unsigned arrived, turn;
  meet(arrived, turn, Threads);
}
