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
