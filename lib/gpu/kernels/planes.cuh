// Numbers as sums of bfloat16, for tensor cores that multiply 16 bits: a float is the sum of three exactly, a half of two.
#pragma once
#include "words.cuh"

/// Whether the product of these two planes (0: the leading bits) counts: the others add less than 2^-21 of the product, of a half less than 2^-22.
__device__ constexpr bool planes_count(int a, int b) { return a + b <= 2; }

/// What of `Count` numbers is in each plane: their leading eight bits, the next eight, and so on, all of their own sign. Where nothing is left a
/// little is, 2^-32 of the number: its product with an infinity is infinite then, as the number's is. Infinities and NaN are themselves in each.
template <int Planes, int Count>
__device__ inline void cut_in_planes(const float (&numbers)[Count], u16 (&to)[Planes][Count]) {
  float x[Count], none = 0;
#pragma unroll
  for (int v = 0; v < Count; ++v) x[v] = numbers[v], none = fmaf(x[v], 0, none);
#pragma unroll
  for (int p = 0; p < Planes; ++p)
#pragma unroll
    for (int v = 0; v < Count; ++v) {
      const u32 bits = __float_as_uint(x[v]);
      to[p][v] = static_cast<u16>(bits >> 16);
      x[v] = fmaf(numbers[v], 0x1p-32f, x[v] - __uint_as_float(bits & 0xffff0000));
    }
  if (none == 0) return;
#pragma unroll
  for (int v = 0; v < Count; ++v) {
    const u32 bits = __float_as_uint(numbers[v]);
    if ((bits & 0x7f800000) != 0x7f800000) continue;
#pragma unroll
    for (int p = 0; p < Planes; ++p) to[p][v] = static_cast<u16>(bits >> 16 | ((bits & 0xffff) != 0 ? 1 : 0));
  }
}

/// What a slice holds of an element: the element, or in each plane 16 bits.
template <bool InPlanes, class X> struct in_shared_memory { using type = X; };
template <class X> struct in_shared_memory<true, X> { using type = u16; };

// Where one factor is halves, a slice whose floats span few magnitudes is multiplied as halves itself: scaled, a float is the sum of two of them,
// but for 2^-22 of it, and two products do instead of five. Blocks look at every slice, and at the end whether a sum is not finite: they begin again then.

/// What two halves cannot hold so well: they are not normal, or infinite.
__device__ inline bool is_outside_of_halves(float x) {
  constexpr u32 least = 0x3e000000, largest = 0x477fe000;  // 2^-3, 65504
  const u32 size = __float_as_uint(x) & 0x7fffffff;
  return size != 0 && size - least >= largest - least;
}

template <int Count>
__device__ inline void cut_in_halves(const float (&numbers)[Count], float scale, u16 (&to)[2][Count]) {
#pragma unroll
  for (int v = 0; v < Count; v += 2) {
    const int next = Count == 1 ? 0 : v + 1;
    const float x = numbers[v] * scale, y = numbers[next] * scale;
    float high_x, high_y;
    const u32 high = floats_to_halves(x, y);
    halves_to_floats(high_x, high_y, high);
    const u32 low = floats_to_halves(x - high_x, y - high_y);
    to[0][v] = static_cast<u16>(high), to[1][v] = static_cast<u16>(low);
    if constexpr (Count > 1) to[0][next] = static_cast<u16>(high >> 16), to[1][next] = static_cast<u16>(low >> 16);
  }
}

/// A power of two by which the largest of a block's numbers is from 2^14 on, if that is from 2^-40 to 2^16; all threads meet.
__device__ inline float scale_of_block(float largest) {
  __shared__ u32 most;
  __syncthreads();
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  const u32 mine = __reduce_max_sync(0xffffffff, __float_as_uint(largest));
  if (threadIdx.x % 32 == 0) atomicMax(&most, mine);
  __syncthreads();
  const int power = static_cast<int>(most >> 23), wanted = most == 0 ? 10 : 127 + 14 - power;
  return __uint_as_float(static_cast<u32>(127 + (wanted < -16 ? -16 : wanted > 40 ? 40 : wanted)) << 23);
}

/// Whether all are finite, which lose the scale.
template <class X, int Count>
__device__ inline bool take_scale_out(X (&sums)[Count], float scale) {
  bool finite = true;
  if constexpr (sizeof(X) == sizeof(float)) {
#pragma unroll
    for (int s = 0; s < Count; ++s) finite = finite && fabsf(sums[s]) <= 0x1.fffffep127f, sums[s] *= 1 / scale;
  }
  return finite;
}

/// Halves in shared memory become two planes of bfloat16, one behind the other; all threads of a block.
template <int Elements, int Block, class X>
__device__ inline void cut_in_place(X* slice) {
  constexpr int each = 4;
  static_assert(Elements % each == 0);
  u16* const at = reinterpret_cast<u16*>(slice);
#pragma unroll 1
  for (int first = threadIdx.x * each; first < Elements; first += Block * each) {
    neighbours<u16, each>* const to = reinterpret_cast<neighbours<u16, each>*>(at + first);
    float numbers[each];
    u16 parts[2][each];
#pragma unroll
    for (int v = 0; v < each; ++v) numbers[v] = half_to_float(to->x[v]);
    cut_in_planes(numbers, parts);
#pragma unroll
    for (int v = 0; v < each; ++v) to->x[v] = parts[0][v], to[Elements / each].x[v] = parts[1][v];
  }
}
