// c[z,i,j] = beta c[z,i,j] + alpha sum_k a[z,i,k] b[z,k,j]   for large i, j: a block owns a rows x cols tile of c.
//
// Slices of a and b pass through stages of shared memory, neighbours as they are neighbours in memory. Indices are flattened
// labels; the text before this header defines tile_type: A, B, C, conj_a, conj_b, beta, m, n, k, rows, cols, depth, stages,
// block, blocks, parts, count (the sum is cut into so many parts, which have `count` elements of c each; else 1), rm, rn, warps_m, warps_n, compute, a_along_k, b_along_k (neighbours in memory run along k), vec_a, vec_b (elements
// of one copy), vec_c (of one store, of the tensor cores) and the offsets
//   row(i, a, c), col(j, b, c), sum(k, a, b), batch(z, a, b, c)
// and `offsets`, where in shared memory the offsets of a tile's rows and columns are kept (0: they are not).
#pragma once
#include "copies.cuh"
#include "runs.cuh"

struct tile_args {
  const void* a;
  const void* b;
  void* c;
  i64 tiles;
  double alpha[2], beta[2];
};

/// Where element k of a line lies in shared memory: neighbours there are neighbours in memory.
template <bool AlongK, int Pitch>
__device__ constexpr int place_in(int line, int k) { return AlongK ? line * Pitch + k : k * Pitch + line; }

/// Copies a slice: lines (rows of a, columns of b) of `depth` elements. offset(line, k) is the offset in memory. What lies
/// outside becomes zero.
template <class E, int Lines, int Depth, int Pitch, int Block, bool AlongK, int Vec, class Offset>
__device__ inline void load_slice(typename E::type* to, const typename E::type* from, i64 lines_left, i64 depth_left,
                                  const Offset& offset) {
  using X = typename E::type;
  constexpr int bytes = Vec * static_cast<int>(sizeof(X));
  constexpr int across = (AlongK ? Depth : Lines) / Vec, total = Lines * Depth / Vec;
#pragma unroll 4
  for (int r = 0; r < divide_up(total, Block); ++r) {
    const int at = r * Block + static_cast<int>(threadIdx.x);
    if (total % Block != 0 && at >= total) break;
    const int line = AlongK ? at / across : at % across * Vec, k = AlongK ? at % across * Vec : at / across;
    X* const near = to + place_in<AlongK, Pitch>(line, k);
    if (line < lines_left && k < depth_left) copy_async<bytes>(near, from + offset(line, k));
    else *reinterpret_cast<typename word<bytes>::type*>(near) = {};
  }
}

/// The accumulators of a thread, by how the products are made.
template <class T, class W>
struct tile_sums {
  W acc[T::rm * T::rn * (T::compute == 0 ? 1 : 4)];
};

/// Four 8 x 8 squares of 16-bit elements; lane l says where row l % 8 of square l / 8 begins.
template <bool Turned>
__device__ inline void load_squares(u32 (&x)[4], const u16* row) {
  const u32 at = static_cast<u32>(__cvta_generic_to_shared(row));
  if constexpr (Turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(at) : "memory");
}

template <class T, class XA, class XB, class W, int PitchA, int PitchB>
__device__ inline void multiply_slice(tile_sums<T, W>& sums, const XA* a, const XB* b) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane % 4, line = lane / 4;
  const auto in_a = [](int i, int k) { return place_in<T::a_along_k, PitchA>(i, k); };
  const auto in_b = [](int j, int k) { return place_in<T::b_along_k, PitchB>(j, k); };
  if constexpr (T::compute == 0) {
    constexpr int tn = T::cols / T::rn, tm = T::rows / T::rm;
    multiply_runs<T::rm, T::rn, tm, tn, T::a_along_k, T::b_along_k, PitchA, PitchB, T::depth>(
        sums.acc, a, b, static_cast<int>(threadIdx.x) / tn, static_cast<int>(threadIdx.x) % tn, in_a, in_b,
        [](XA x) { return conj_if<T::conj_a>(T::A::get(x)); }, [](XB x) { return conj_if<T::conj_b>(T::B::get(x)); });
  } else if constexpr (T::compute == 1) {
    const int i = warp / T::warps_n * T::rm * 16 + line, j = warp % T::warps_n * T::rn * 8 + line;
#pragma unroll
    for (int k = quad; k < T::depth; k += 8) {
      double x[T::rm][4], y[T::rn][2];
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int g = 0; g < 4; ++g) x[r][g] = a[in_a(i + r * 16 + g % 2 * 8, k + g / 2 * 4)];
#pragma unroll
      for (int s = 0; s < T::rn; ++s) y[s][0] = b[in_b(j + s * 8, k)], y[s][1] = b[in_b(j + s * 8, k + 4)];
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s) mma_f64_tall(*reinterpret_cast<double(*)[4]>(&sums.acc[(r * T::rn + s) * 4]), x[r], y[s]);
    }
  } else {
    // A fragment of a is two squares high and two deep; of b, two deep, and two fragments are loaded at once.
    const int row = lane % 8, first = lane / 8 % 2 * 8, second = lane / 16 * 8;
    const int i = warp / T::warps_n * T::rm * 16 + first, j = warp % T::warps_n * T::rn * 8 + second;
#pragma unroll
    for (int k = 0; k < T::depth; k += 16) {
      u32 x[T::rm][4], y[T::rn / 2][4];
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
        load_squares<!T::a_along_k>(x[r], a + (T::a_along_k ? in_a(i + r * 16 + row, k + second) : in_a(i + r * 16, k + second + row)));
#pragma unroll
      for (int s = 0; s < T::rn / 2; ++s)
        load_squares<!T::b_along_k>(y[s], b + (T::b_along_k ? in_b(j + s * 16 + row, k + first) : in_b(j + s * 16, k + first + row)));
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s)
          mma_16<T::bfloat>(*reinterpret_cast<float(*)[4]>(&sums.acc[(r * T::rn + s) * 4]), x[r], *reinterpret_cast<const u32(*)[2]>(&y[s / 2][s % 2 * 2]));
    }
  }
}

/// Where a tile's element lies in c.
template <class T>
__device__ inline i64 result_offset(const i64* row_c, const i64* col_c, i64 i0, i64 j0, int i, int j) {
  if constexpr (T::offsets > 0) return row_c[i] + col_c[j];
  i64 a = 0, b = 0, c = 0;
  T::row(i0 + i, a, c);
  T::col(j0 + j, b, c);
  return c;
}

/// c = beta c + alpha sums, from (i0, j0) on, of the tensor cores: results pass through shared memory, so that vec_c
/// neighbours are stored at once. Several of c are read before the first is stored.
template <class T, class W>
__device__ inline void store_staged(const tile_sums<T, W>& sums, W* image, typename T::C::type* pc, const i64* row_c, const i64* col_c, i64 i0, i64 j0, W alpha, W beta) {
  using X = typename T::C::type;
  using whole = typename word<T::vec_c * static_cast<int>(sizeof(X))>::type;
  constexpr int pitch = T::cols + 8, across = T::cols / T::vec_c, total = T::rows * across, batch = 4;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();
#pragma unroll
  for (int r = 0; r < T::rm; ++r)
#pragma unroll
    for (int s = 0; s < T::rn; ++s)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int i = (warp / T::warps_n * T::rm + r) * 16 + h * 8 + lane / 4, j = (warp % T::warps_n * T::rn + s) * 8 + lane % 4 * 2;
        const W* const pair = &sums.acc[(r * T::rn + s) * 4 + 2 * h];
        *reinterpret_cast<pack<W, 2>*>(image + i * pitch + j) = pack<W, 2>{{pair[0], pair[1]}};
      }
  __syncthreads();
#pragma unroll 1
  for (int first = threadIdx.x; first < total; first += T::block * batch) {
    whole* to[batch];
    union { whole all; X each[T::vec_c]; } x[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const int at = first + u * T::block, i = at / across, j = at % across * T::vec_c;
      to[u] = nullptr;
      if (at >= total || i0 + i >= T::m || j0 + j >= T::n) continue;
      to[u] = reinterpret_cast<whole*>(pc + result_offset<T>(row_c, col_c, i0, j0, i, j));
      if constexpr (T::beta) x[u].all = *to[u];
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (!to[u]) continue;
      const int at = first + u * T::block;
      const W* const run = image + at / across * pitch + at % across * T::vec_c;
#pragma unroll
      for (int v = 0; v < T::vec_c; ++v) {
        W sum = alpha * run[v];
        if constexpr (T::beta) sum += beta * T::C::get(x[u].each[v]);
        x[u].each[v] = T::C::put(sum);
      }
      *to[u] = x[u].all;
    }
  }
}

/// The same of single threads' multiply-adds, a row of the thread's tile at a time.
template <class T, class W>
__device__ inline void store_own(const tile_sums<T, W>& sums, typename T::C::type* pc, const i64* row_c, const i64* col_c, i64 i0, i64 j0, W alpha, W beta) {
  using X = typename T::C::type;
  constexpr int tn = T::cols / T::rn, tm = T::rows / T::rm;
  const int i = static_cast<int>(threadIdx.x) / tn, j = static_cast<int>(threadIdx.x) % tn;
#pragma unroll
  for (int r = 0; r < T::rm; ++r) {
    if (i0 + i + r * tm >= T::m) continue;
    X* to[T::rn];
    X old[T::rn];
#pragma unroll
    for (int s = 0; s < T::rn; ++s) {
      to[s] = nullptr;
      if (j0 + j + s * tn >= T::n) continue;
      to[s] = pc + result_offset<T>(row_c, col_c, i0, j0, i + r * tm, j + s * tn);
      if constexpr (T::beta) old[s] = *to[s];
    }
#pragma unroll
    for (int s = 0; s < T::rn; ++s) {
      if (!to[s]) continue;
      W x = product_of(alpha, sums.acc[r * T::rn + s]);
      if constexpr (T::beta) x = sum_of(x, product_of(beta, T::C::get(old[s])));
      *to[s] = T::C::put(x);
    }
  }
}

template <class T, class W>
__device__ inline void store_tile(const tile_sums<T, W>& sums, char* shared, typename T::C::type* pc, const i64* row_c, const i64* col_c, i64 i0, i64 j0, W alpha,
                                  W beta) {
  if constexpr (T::compute == 0) store_own<T, W>(sums, pc, row_c, col_c, i0, j0, alpha, beta);
  else store_staged<T, W>(sums, reinterpret_cast<W*>(shared), pc, row_c, col_c, i0, j0, alpha, beta);
}

extern "C" __global__ void __launch_bounds__(tile_type::block, tile_type::blocks) tile(const __grid_constant__ tile_args args) {
  using T = tile_type;
  using W = typename T::C::wide;
  using XA = typename T::A::type;
  using XB = typename T::B::type;
  constexpr int pad = T::compute == 0 ? 0 : T::compute == 1 ? 4 : 8;
  constexpr int pad_a = T::compute == 0 && T::a_along_k ? (T::vec_a > 1 ? 16 / static_cast<int>(sizeof(XA)) : 1) : pad;
  constexpr int pad_b = T::compute == 0 && T::b_along_k ? (T::vec_b > 1 ? 16 / static_cast<int>(sizeof(XB)) : 1) : pad;
  constexpr int pitch_a = (T::a_along_k ? T::depth : T::rows) + pad_a, pitch_b = (T::b_along_k ? T::depth : T::cols) + pad_b;
  constexpr int a_bytes = ((T::a_along_k ? T::rows : T::depth) * pitch_a * static_cast<int>(sizeof(XA)) + 15) / 16 * 16;
  constexpr int b_bytes = ((T::b_along_k ? T::cols : T::depth) * pitch_b * static_cast<int>(sizeof(XB)) + 15) / 16 * 16;
  constexpr int stages = T::stages;
  extern __shared__ __align__(16) char shared[];
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  constexpr i64 tiles_m = (T::m + T::rows - 1) / T::rows, tiles_n = (T::n + T::cols - 1) / T::cols;
  constexpr i64 all_slices = (T::k + T::depth - 1) / T::depth, piece = (all_slices + T::parts - 1) / T::parts;
  for (i64 at = blockIdx.x; at < args.tiles; at += gridDim.x) {
    const i64 i0 = at % tiles_m * T::rows, j0 = at / tiles_m % tiles_n * T::cols;
    i64 oa = 0, ob = 0, oc = 0;
    T::batch(at / tiles_m / tiles_n / T::parts, oa, ob, oc);
    const i64 part = T::parts > 1 ? at / tiles_m / tiles_n % T::parts : 0, first = part * piece, rest = all_slices - first;
    const i64 slices = T::parts == 1 ? all_slices : rest < piece ? rest : piece;  // none of parts too many
    oc += part * T::count;
    // Offsets of many labels take longer than products: every line's once.
    i64* const row_a = reinterpret_cast<i64*>(shared + T::offsets), *const row_c = row_a + T::rows, *const col_b = row_c + T::rows, *const col_c = col_b + T::cols;
    if constexpr (T::offsets > 0) {
      for (int x = threadIdx.x; x < T::rows + T::cols; x += T::block) {
        i64 a = 0, b = 0, c = 0;
        if (x < T::rows) {
          if (i0 + x < T::m) T::row(i0 + x, a, c);
          row_a[x] = a, row_c[x] = c;
        } else {
          if (j0 + x - T::rows < T::n) T::col(j0 + x - T::rows, b, c);
          col_b[x - T::rows] = b, col_c[x - T::rows] = c;
        }
      }
      __syncthreads();
    }
    const XA* const pa = static_cast<const XA*>(args.a) + oa;
    const XB* const pb = static_cast<const XB*>(args.b) + ob;
    typename T::C::type* const pc = static_cast<typename T::C::type*>(args.c) + oc;
    const auto load = [&](i64 slice, int slot) {
      XA* const to_a = reinterpret_cast<XA*>(shared + slot * (a_bytes + b_bytes));
      XB* const to_b = reinterpret_cast<XB*>(shared + slot * (a_bytes + b_bytes) + a_bytes);
      const i64 k0 = (first + slice) * T::depth;
      load_slice<typename T::A, T::rows, T::depth, pitch_a, T::block, T::a_along_k, T::vec_a>(to_a, pa, T::m - i0, T::k - k0, [&](int line, int k) {
        i64 a = 0, b = 0, c = 0;
        if constexpr (T::offsets > 0) a = row_a[line];
        else T::row(i0 + line, a, c);
        T::sum(k0 + k, a, b);
        return a;
      });
      load_slice<typename T::B, T::cols, T::depth, pitch_b, T::block, T::b_along_k, T::vec_b>(to_b, pb, T::n - j0, T::k - k0, [&](int line, int k) {
        i64 a = 0, b = 0, c = 0;
        if constexpr (T::offsets > 0) b = col_b[line];
        else T::col(j0 + line, b, c);
        T::sum(k0 + k, a, b);
        return b;
      });
    };
    tile_sums<T, W> sums;
#pragma unroll
    for (auto& x : sums.acc) x = zero_of(static_cast<W*>(nullptr));
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
      if (s < slices) load(s, s);
      commit_copies();
    }
#pragma unroll 1
    for (i64 slice = 0; slice < slices; ++slice) {
      wait_copies<stages - 2>();
      __syncthreads();
      if (slice + stages - 1 < slices) load(slice + stages - 1, static_cast<int>((slice + stages - 1) % stages));
      commit_copies();
      const char* const from = shared + slice % stages * (a_bytes + b_bytes);
      multiply_slice<T, XA, XB, W, pitch_a, pitch_b>(sums, reinterpret_cast<const XA*>(from), reinterpret_cast<const XB*>(from + a_bytes));
    }
    store_tile<T, W>(sums, shared, pc, row_c, col_c, i0, j0, alpha, beta);
    __syncthreads();
  }
}
