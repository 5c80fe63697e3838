// Products of whole slices in shared memory by warpgroups (four warps, 64 rows), compute capability 9.0: they go on while the threads
// copy the slices to come. The multiplication itself, T::multiply, is written by the text before tile.cuh for its number of columns.
#pragma once
#include "slices.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ inline void warpgroup_begins() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void warpgroup_commits() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Until all but the Pending newest slices are multiplied.
template <int Pending>
__device__ inline void warpgroup_waits() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory"); }
#else
__device__ inline void warpgroup_begins() {}
__device__ inline void warpgroup_commits() {}
template <int Pending>
__device__ inline void warpgroup_waits() {}
#endif

template <class T>
constexpr bool by_warpgroups = T::compute == 4;

/// How many slices are copied before they are needed: one less where a slice is still multiplied when the next one begins.
template <class T>
constexpr int slices_early = by_warpgroups<T> && !T::alternate ? T::stages - 2 : T::stages - 1;

/// How the tensor cores are told of a matrix that swizzled_place() has laid out: eight runs are a square, and where the matrix is longer
/// than one run, the next are behind all of these.
template <bool AlongK, int Others, int Run>
__device__ inline u64 swizzled_matrix(const u16* at) {
  constexpr u64 square = 8 * Run * 2 / 16, behind = Others * Run * 2 / 16, order = Run == 64 ? 1 : 2;
  const u64 start = (static_cast<u64>(__cvta_generic_to_shared(at)) & 0x3ffff) / 16;  // the rest says which of neighbouring blocks
  return start | (AlongK ? 0 : behind) << 16 | square << 32 | order << 62;
}

/// Begins sums += a b of a slice, if warpgroups multiply; nobody may touch the sums until they have waited. in_planes: of `scaled` ones,
/// the slice is not in halves.
template <class T, class Sums, class XA, class XB>
__device__ inline void begin_products(Sums& sums, const XA* a, const XB* b, bool in_planes) {
  if constexpr (by_warpgroups<T>) {
    constexpr int others_a = T::a_stays ? T::rows : T::depth, run_a = swizzled_run(T::a_stays ? T::depth : T::rows);
    constexpr int others_b = T::b_stays ? T::cols : T::depth, run_b = swizzled_run(T::b_stays ? T::depth : T::cols);
    constexpr int count = static_cast<int>(sizeof(Sums) / sizeof(float)) / T::rm;
    const auto of_a = [&](int r, int p, int k) {
      const int row = (static_cast<int>(threadIdx.x) / 128 * T::rm + r) * 64;
      return swizzled_matrix<T::a_stays, others_a, run_a>(a + p * T::rows * T::depth + (T::a_stays ? row * run_a + k : row * others_a + k * run_a));
    };
    const auto of_b = [&](int q, int k) { return swizzled_matrix<T::b_stays, others_b, run_b>(b + q * T::cols * T::depth + (T::b_stays ? k : k * run_b)); };
    const auto sums_of = [&](int r) -> float(&)[count] { return *reinterpret_cast<float(*)[count]>(&sums[r * count]); };
    warpgroup_begins();
    if constexpr (T::scaled) {
      if (!in_planes) {
#pragma unroll
        for (int k = 0; k < T::depth; k += 16)
#pragma unroll
          for (int p = 1; p >= 0; --p)
#pragma unroll
            for (int r = 0; r < T::rm; ++r) T::multiply_half(sums_of(r), of_a(r, T::planes_a == 3 ? p : 0, k), of_b(T::planes_b == 3 ? p : 0, k));
        warpgroup_commits();
        return;
      }
    }
#pragma unroll
    for (int k = 0; k < T::depth; k += 16)
#pragma unroll
      for (int q = T::planes_b - 1; q >= 0; --q)
#pragma unroll
        for (int p = T::planes_a - 1; p >= 0; --p)
#pragma unroll
          for (int r = 0; r < T::rm; ++r)
            if (planes_count(p, q)) T::multiply(sums_of(r), of_a(r, p, k), of_b(q, k));
    warpgroup_commits();
  }
}
