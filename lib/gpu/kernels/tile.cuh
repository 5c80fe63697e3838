// c[z,i,j] = beta c[z,i,j] + alpha sum_k a[z,i,k] b[z,k,j]   for large i, j: a block owns a rows x cols tile of c.
//
// Slices of a and b pass through three stages of shared memory. Indices are flattened labels; the text before this header
// defines tile_type: A, B, C, conj_a, conj_b, beta, m, n, k, rows, cols, depth, block, rm, rn, warps_m, warps_n, compute,
// a_along_k, b_along_k (neighbours in memory run along k), vec_a, vec_b (elements of one copy) and the offsets
//   row(i, a, c), col(j, b, c), sum(k, a, b), batch(z, a, b, c)
#pragma once
#include "copies.cuh"
#include "small_product.cuh"

struct tile_args {
  const void* a;
  const void* b;
  void* c;
  i64 tiles;
  double alpha[2], beta[2];
};

/// Copies a slice: lines (rows of a, columns of b) of `depth` elements, each padded to `pitch` in shared memory.
/// along(line, k) gives the offset in memory. What lies outside becomes zero.
template <class E, int Lines, int Depth, int Pitch, int Block, bool AlongK, int Vec, class Offset>
__device__ inline void load_slice(typename E::type* to, const typename E::type* from, i64 lines_left, i64 depth_left,
                                  const Offset& offset) {
  using X = typename E::type;
  constexpr int bytes = Vec * static_cast<int>(sizeof(X));
  constexpr int across = AlongK ? Depth / Vec : Lines / Vec, total = Lines * Depth / Vec;
#pragma unroll
  for (int r = 0; r < divide_up(total, Block); ++r) {
    const int at = r * Block + static_cast<int>(threadIdx.x);
    if (total % Block != 0 && at >= total) break;
    const int line = AlongK ? at / across : at % across * Vec, k = AlongK ? at % across * Vec : at / across;
    const bool in = line < lines_left && k < depth_left;
    X* const near = to + line * Pitch + k;
    if constexpr (Vec > 1 && AlongK) {
      if (in) copy_async<bytes>(near, from + offset(line, k));
      else *reinterpret_cast<typename word<bytes>::type*>(near) = {};
    } else if constexpr (Vec > 1) {
      union { typename word<bytes>::type whole; X each[Vec]; } x;
      x.whole = {};
      if (in) x.whole = *reinterpret_cast<const typename word<bytes>::type*>(from + offset(line, k));
#pragma unroll
      for (int v = 0; v < Vec; ++v) near[v * Pitch] = x.each[v];
    } else {
      if (in) copy_async<bytes>(near, from + offset(line, k));
      else *near = X{};
    }
  }
}

/// The accumulators of a thread, by how the products are made.
template <class T, class W>
struct tile_sums {
  W acc[T::compute == 0 ? T::rm * T::rn : T::rm * T::rn * (T::compute == 1 ? 2 : 4)];
};

template <class T, class XA, class XB, class W, int PitchA, int PitchB>
__device__ inline void multiply_slice(tile_sums<T, W>& sums, const XA* a, const XB* b) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane % 4, line = lane / 4;
  if constexpr (T::compute == 0) {
    constexpr int tn = T::cols / T::rn, tm = T::rows / T::rm;
    const int j = threadIdx.x % tn, i = threadIdx.x / tn;
#pragma unroll
    for (int k = 0; k < T::depth; ++k) {
      W x[T::rm], y[T::rn];
#pragma unroll
      for (int r = 0; r < T::rm; ++r) x[r] = conj_if<T::conj_a>(T::A::get(a[(i + r * tm) * PitchA + k]));
#pragma unroll
      for (int s = 0; s < T::rn; ++s) y[s] = conj_if<T::conj_b>(T::B::get(b[(j + s * tn) * PitchB + k]));
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s) multiply_add(sums.acc[r * T::rn + s], x[r], y[s]);
    }
  } else if constexpr (T::compute == 1) {
    const int i = warp / T::warps_n * T::rm * 8 + line, j = warp % T::warps_n * T::rn * 8 + line;
#pragma unroll
    for (int k = 0; k < T::depth; k += 4) {
      double x[T::rm], y[T::rn];
#pragma unroll
      for (int r = 0; r < T::rm; ++r) x[r] = a[(i + r * 8) * PitchA + k + quad];
#pragma unroll
      for (int s = 0; s < T::rn; ++s) y[s] = b[(j + s * 8) * PitchB + k + quad];
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s) mma_f64(*reinterpret_cast<double(*)[2]>(&sums.acc[(r * T::rn + s) * 2]), x[r], y[s]);
    }
  } else {
    const int i = warp / T::warps_n * T::rm * 16 + line, j = warp % T::warps_n * T::rn * 8 + line;
#pragma unroll
    for (int k = 0; k < T::depth; k += 16) {
      u32 x[T::rm][4], y[T::rn][2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int r = 0; r < T::rm; ++r)
#pragma unroll
          for (int g = 0; g < 2; ++g)
            x[r][2 * h + g] = *reinterpret_cast<const u32*>(a + (i + r * 16 + g * 8) * PitchA + k + 8 * h + 2 * quad);
#pragma unroll
        for (int s = 0; s < T::rn; ++s)
          y[s][h] = *reinterpret_cast<const u32*>(b + (j + s * 8) * PitchB + k + 8 * h + 2 * quad);
      }
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s)
          mma_16<T::bfloat>(*reinterpret_cast<float(*)[4]>(&sums.acc[(r * T::rn + s) * 4]), x[r], y[s]);
    }
  }
}

/// Calls put(i, j, sum) for every element of the thread, within the tile.
template <class T, class W, class Put>
__device__ inline void each_sum(const tile_sums<T, W>& sums, const Put& put) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane % 4, line = lane / 4;
#pragma unroll
  for (int r = 0; r < T::rm; ++r)
#pragma unroll
    for (int s = 0; s < T::rn; ++s) {
      if constexpr (T::compute == 0) {
        constexpr int tn = T::cols / T::rn, tm = T::rows / T::rm;
        put(static_cast<int>(threadIdx.x) / tn + r * tm, static_cast<int>(threadIdx.x) % tn + s * tn, sums.acc[r * T::rn + s]);
      } else if constexpr (T::compute == 1) {
#pragma unroll
        for (int h = 0; h < 2; ++h)
          put((warp / T::warps_n * T::rm + r) * 8 + line, (warp % T::warps_n * T::rn + s) * 8 + 2 * quad + h,
              sums.acc[(r * T::rn + s) * 2 + h]);
      } else {
#pragma unroll
        for (int h = 0; h < 4; ++h)
          put((warp / T::warps_n * T::rm + r) * 16 + h / 2 * 8 + line, (warp % T::warps_n * T::rn + s) * 8 + 2 * quad + h % 2,
              sums.acc[(r * T::rn + s) * 4 + h]);
      }
    }
}

extern "C" __global__ void __launch_bounds__(tile_type::block) tile(const __grid_constant__ tile_args args) {
  using T = tile_type;
  using W = typename T::C::wide;
  using XA = typename T::A::type;
  using XB = typename T::B::type;
  constexpr int pad_a = T::compute == 0 ? 1 : T::compute == 1 ? 4 : 8, pad_b = pad_a;
  constexpr int pitch_a = T::depth + (T::vec_a > 1 && T::compute == 0 ? 16 / static_cast<int>(sizeof(XA)) : pad_a);
  constexpr int pitch_b = T::depth + (T::vec_b > 1 && T::compute == 0 ? 16 / static_cast<int>(sizeof(XB)) : pad_b);
  constexpr int a_bytes = (T::rows * pitch_a * static_cast<int>(sizeof(XA)) + 15) / 16 * 16;
  constexpr int b_bytes = (T::cols * pitch_b * static_cast<int>(sizeof(XB)) + 15) / 16 * 16;
  constexpr int stages = 3;
  extern __shared__ __align__(16) char shared[];
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  constexpr i64 tiles_m = (T::m + T::rows - 1) / T::rows, tiles_n = (T::n + T::cols - 1) / T::cols;
  constexpr i64 slices = (T::k + T::depth - 1) / T::depth;
  for (i64 at = blockIdx.x; at < args.tiles; at += gridDim.x) {
    const i64 i0 = at % tiles_m * T::rows, j0 = at / tiles_m % tiles_n * T::cols;
    i64 oa = 0, ob = 0, oc = 0;
    T::batch(at / tiles_m / tiles_n, oa, ob, oc);
    const XA* const pa = static_cast<const XA*>(args.a) + oa;
    const XB* const pb = static_cast<const XB*>(args.b) + ob;
    typename T::C::type* const pc = static_cast<typename T::C::type*>(args.c) + oc;
    const auto load = [&](i64 slice, int slot) {
      XA* const to_a = reinterpret_cast<XA*>(shared + slot * (a_bytes + b_bytes));
      XB* const to_b = reinterpret_cast<XB*>(shared + slot * (a_bytes + b_bytes) + a_bytes);
      const i64 k0 = slice * T::depth;
      load_slice<typename T::A, T::rows, T::depth, pitch_a, T::block, T::a_along_k, T::vec_a>(to_a, pa, T::m - i0, T::k - k0, [&](int line, int k) {
        i64 a = 0, b = 0, c = 0;
        T::row(i0 + line, a, c);
        T::sum(k0 + k, a, b);
        return a;
      });
      load_slice<typename T::B, T::cols, T::depth, pitch_b, T::block, T::b_along_k, T::vec_b>(to_b, pb, T::n - j0, T::k - k0, [&](int line, int k) {
        i64 a = 0, b = 0, c = 0;
        T::col(j0 + line, b, c);
        T::sum(k0 + k, a, b);
        return b;
      });
    };
    tile_sums<T, W> sums;
#pragma unroll
    for (auto& x : sums.acc) x = zero_of(static_cast<W*>(nullptr));
    for (int s = 0; s < stages - 1; ++s) {
      if (s < slices) load(s, s);
      commit_copies();
    }
    for (i64 slice = 0; slice < slices; ++slice) {
      wait_copies<stages - 2>();
      __syncthreads();
      if (slice + stages - 1 < slices) load(slice + stages - 1, static_cast<int>((slice + stages - 1) % stages));
      commit_copies();
      const char* const from = shared + slice % stages * (a_bytes + b_bytes);
      multiply_slice<T, XA, XB, W, pitch_a, pitch_b>(sums, reinterpret_cast<const XA*>(from), reinterpret_cast<const XB*>(from + a_bytes));
    }
    each_sum<T, W>(sums, [&](int i, int j, W sum) {
      if (i0 + i >= T::m || j0 + j >= T::n) return;
      i64 a = 0, b = 0, c = 0;
      T::row(i0 + i, a, c);
      T::col(j0 + j, b, c);
      W x = product_of(alpha, sum);
      if constexpr (T::beta) x = sum_of(x, product_of(beta, T::C::get(pc[c])));
      pc[c] = T::C::put(x);
    });
    __syncthreads();
  }
}
