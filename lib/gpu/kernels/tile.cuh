// c[z,i,j] = beta c[z,i,j] + alpha sum_k a[z,i,k] b[z,k,j]   for large i, j: a block owns a rows x cols tile of c.
//
// Slices of a and b pass through stages of shared memory. Indices are flattened labels; the text before this header defines tile_type:
//   A, B, C, conj_a, conj_b, beta, m, n, k, rows, cols, depth, stages, block, blocks, rm, rn, warps_m, warps_n, compute
//   parts, count                       of the sum, else 1; elements of c that a part has, 0: blocks beside one another add their parts
//   a_along_k, b_along_k               neighbours in memory run along k
//   a_stays, b_stays, pad_a, pad_b     in shared memory too; elements between runs there
//   vec_a, vec_b, vec_c                elements of one copy, of one store
//   row_step, col_step, sum_step_a, sum_step_b   in a factor from one to the next; 0: not always the same
//   offsets                            where in shared memory the offsets of a tile's rows and columns are kept (0: they are not)
//   alternate, multiply                of warpgroups: blocks of a multiprocessor take turns; the instruction
// and the offsets
//   row(i, a, c), col(j, b, c), sum(k, a, b), batch(z, a, b, c)
#pragma once
#include "neighbours.cuh"
#include "runs.cuh"
#include "slices.cuh"
#include "warpgroup.cuh"

struct tile_args {
  const void* a;
  const void* b;
  void* c;
  i64 tiles;
  double alpha[2], beta[2];
};

/// Parts of a sum are added by blocks beside one another.
template <class T>
constexpr bool adds_beside = T::parts > 1 && T::count == 0;

/// The accumulators of a thread for one fragment, by how the products are made: of complex numbers on the tensor cores, four real
/// parts and then four imaginary ones.
template <int Compute, class W>
struct fragment_sums {
  using type = W;
  static constexpr int count = Compute == 0 ? 1 : 4;
};
template <class X>
struct fragment_sums<3, complex_of<X>> {
  using type = X;
  static constexpr int count = 8;
};
template <class T, class W>
struct tile_sums {
  using fragment = fragment_sums<T::compute, W>;
  typename fragment::type acc[T::rm * T::rn * fragment::count];
};

/// The lines of single threads: runs of a thread's neighbouring rows and columns. Columns are stored as they are read, so that runs
/// of them are neighbours in c too.
template <class T>
struct tile_lines {
  static constexpr int tn = T::cols / T::rn, tm = T::rows / T::rm;
  static constexpr int a = run_of_lines<typename T::A::type, T::a_stays, T::rows + T::pad_a, T::rm>();
  static constexpr int most_b = run_of_lines<typename T::B::type, T::b_stays, T::cols + T::pad_b, T::rn>(), b = most_b < T::vec_c ? most_b : T::vec_c;
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
  const auto in_a = [](int i, int k) { return place_in<T::a_stays, PitchA>(i, k); };
  const auto in_b = [](int j, int k) { return place_in<T::b_stays, PitchB>(j, k); };
  if constexpr (by_warpgroups<T>) {
    warpgroup_waits<T::alternate ? 0 : 1>();  // has begun: this slice's may go on while the next one's begin
  } else if constexpr (T::compute == 0) {
    using own = tile_lines<T>;
    multiply_runs<T::rm, T::rn, own::tm, own::tn, own::a, own::b, T::a_stays, T::b_stays, PitchA, PitchB, T::depth>(
        sums.acc, a, b, static_cast<int>(threadIdx.x) / own::tn, static_cast<int>(threadIdx.x) % own::tn, in_a, in_b,
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
  } else if constexpr (T::compute == 3) {
    const int i = warp / T::warps_n * T::rm * 16 + line, j = warp % T::warps_n * T::rn * 8 + line;
#pragma unroll
    for (int k = quad; k < T::depth; k += 8) {
      double x[T::rm][2][4];  // real and imaginary
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int g = 0; g < 4; ++g) {
          const XA z = conj_if<T::conj_a>(a[in_a(i + r * 16 + g % 2 * 8, k + g / 2 * 4)]);
          x[r][0][g] = z.x, x[r][1][g] = z.y;
        }
#pragma unroll
      for (int s = 0; s < T::rn; ++s) {
        const XB y = conj_if<T::conj_b>(b[in_b(j + s * 8, k)]), z = conj_if<T::conj_b>(b[in_b(j + s * 8, k + 4)]);
#pragma unroll
        for (int r = 0; r < T::rm; ++r) {
          double(*const sum)[4] = reinterpret_cast<double(*)[4]>(&sums.acc[(r * T::rn + s) * 8]);
          mma_f64_tall(sum[0], x[r][0], {y.x, z.x}), mma_f64_tall(sum[1], x[r][0], {y.y, z.y});
          mma_f64_tall(sum[0], x[r][1], {-y.y, -z.y}), mma_f64_tall(sum[1], x[r][1], {y.x, z.x});
        }
      }
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
        load_squares<!T::a_stays>(x[r], a + (T::a_stays ? in_a(i + r * 16 + row, k + second) : in_a(i + r * 16, k + second + row)));
#pragma unroll
      for (int s = 0; s < T::rn / 2; ++s)
        load_squares<!T::b_stays>(y[s], b + (T::b_stays ? in_b(j + s * 16 + row, k + first) : in_b(j + s * 16, k + first + row)));
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

/// A block's sums, in shared memory.
template <class T, class W>
struct tile_image {
  static constexpr int pitch = T::cols + 8, across = T::cols / T::vec_c;

  static __device__ void put(const tile_sums<T, W>& sums, W* image) {
    if constexpr (T::compute == 0) {
      using own = tile_lines<T>;
      const int i = static_cast<int>(threadIdx.x) / own::tn, j = static_cast<int>(threadIdx.x) % own::tn;
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s) image[line_of<own::a, own::tm>(i, r) * pitch + line_of<own::b, own::tn>(j, s)] = sums.acc[r * T::rn + s];
    } else {
      const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s)
#pragma unroll
          for (int h = 0; h < 2; ++h) {
            const int i = (warp / T::warps_n * T::rm + r) * 16 + h * 8 + lane / 4, j = (warp % T::warps_n * T::rn + s) * 8 + lane % 4 * 2;
            pack<W, 2>& to = *reinterpret_cast<pack<W, 2>*>(image + i * pitch + j);
            const auto* const pair = &sums.acc[(r * T::rn + s) * tile_sums<T, W>::fragment::count + 2 * h];
            if constexpr (T::compute == 3) to = pack<W, 2>{{{pair[0], pair[4]}, {pair[1], pair[5]}}};
            else to = pack<W, 2>{{pair[0], pair[1]}};
          }
    }
  }

  /// vec_c neighbours, the sums of `Parts` blocks.
  template <int Parts>
  static __device__ void get(W (&run)[T::vec_c], const W* image, int at) {
    constexpr int together = run_of_terms<W, true, pitch, T::vec_c>();
    const W* const from = image + at / across * pitch + at % across * T::vec_c;
#pragma unroll
    for (int p = 0; p < Parts; ++p) {
      const W* const there = Parts == 1 ? from : of_neighbour(from, p);
#pragma unroll
      for (int v = 0; v < T::vec_c; v += together) {
        const pack<W, together> x = *reinterpret_cast<const pack<W, together>*>(there + v);
#pragma unroll
        for (int u = 0; u < together; ++u) run[v + u] = p == 0 ? x.x[u] : sum_of(run[v + u], x.x[u]);
      }
    }
  }
};

/// c = beta c + alpha sums, from (i0, j0) on: results pass through shared memory, so that vec_c neighbours are stored at once, and
/// blocks that have parts of the sums store a share of the tile each. Several of c are read before the first is stored.
template <class T, class W>
__device__ inline void store_staged(const tile_sums<T, W>& sums, W* image, typename T::C::type* pc, const i64* row_c, const i64* col_c, i64 i0, i64 j0, W alpha, W beta, int part) {
  using X = typename T::C::type;
  using whole = typename word<T::vec_c * static_cast<int>(sizeof(X))>::type;
  using images = tile_image<T, W>;
  constexpr int across = images::across, total = T::rows * across, batch = 4, parts = adds_beside<T> ? T::parts : 1;
  __syncthreads();
  images::put(sums, image);
  if constexpr (parts > 1) meet_neighbours();
  else __syncthreads();
#pragma unroll 1
  for (int first = part * T::block + threadIdx.x; first < total; first += T::block * parts * batch) {
    whole* to[batch];
    union { whole all; X each[T::vec_c]; } x[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const int at = first + u * T::block * parts, i = at / across, j = at % across * T::vec_c;
      to[u] = nullptr;
      if (at >= total || i0 + i >= T::m || j0 + j >= T::n) continue;
      to[u] = reinterpret_cast<whole*>(pc + result_offset<T>(row_c, col_c, i0, j0, i, j));
      if constexpr (T::beta) x[u].all = *to[u];
    }
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      if (!to[u]) continue;
      W run[T::vec_c];
      images::template get<parts>(run, image, first + u * T::block * parts);
#pragma unroll
      for (int v = 0; v < T::vec_c; ++v) {
        W sum = product_of(alpha, run[v]);
        if constexpr (T::beta) sum = sum_of(sum, product_of(beta, T::C::get(x[u].each[v])));
        x[u].each[v] = T::C::put(sum);
      }
      *to[u] = x[u].all;
    }
  }
  if constexpr (parts > 1) meet_neighbours();  // nobody's sums are overwritten or gone before they are read
}

/// The same of single threads' multiply-adds, straight from registers, a row of the thread's tile at a time.
template <class T, class W>
__device__ inline void store_own(const tile_sums<T, W>& sums, typename T::C::type* pc, const i64* row_c, const i64* col_c, i64 i0, i64 j0, W alpha, W beta) {
  using own = tile_lines<T>;
  using run = pack<typename T::C::type, own::b>;
  const int i = static_cast<int>(threadIdx.x) / own::tn, j = static_cast<int>(threadIdx.x) % own::tn;
#pragma unroll
  for (int r = 0; r < T::rm; ++r) {
    const int row = line_of<own::a, own::tm>(i, r);
    if (i0 + row >= T::m) continue;
    run* to[T::rn / own::b];
    run x[T::rn / own::b];
#pragma unroll
    for (int s = 0; s < T::rn; s += own::b) {
      const int col = line_of<own::b, own::tn>(j, s);
      to[s / own::b] = nullptr;
      if (j0 + col >= T::n) continue;
      to[s / own::b] = reinterpret_cast<run*>(pc + result_offset<T>(row_c, col_c, i0, j0, row, col));
      if constexpr (T::beta) x[s / own::b] = *to[s / own::b];
    }
#pragma unroll
    for (int s = 0; s < T::rn; s += own::b) {
      if (!to[s / own::b]) continue;
#pragma unroll
      for (int v = 0; v < own::b; ++v) {
        W sum = product_of(alpha, sums.acc[r * T::rn + s + v]);
        if constexpr (T::beta) sum = sum_of(sum, product_of(beta, T::C::get(x[s / own::b].x[v])));
        x[s / own::b].x[v] = T::C::put(sum);
      }
      *to[s / own::b] = x[s / own::b];
    }
  }
}

extern "C" __global__ void RICCI_NEIGHBOURS __launch_bounds__(tile_type::block, tile_type::blocks) tile(const __grid_constant__ tile_args args) {
  using T = tile_type;
  using W = typename T::C::wide;
  using XA = typename T::A::type;
  using XB = typename T::B::type;
  using rows = slice_copy<rows_of<T>, T::depth, T::block>;
  using columns = slice_copy<columns_of<T>, T::depth, T::block>;
  constexpr int a_bytes = (rows::elements * static_cast<int>(sizeof(XA)) + 15) / 16 * 16, b_bytes = (columns::elements * static_cast<int>(sizeof(XB)) + 15) / 16 * 16;
  constexpr int stages = T::stages, early = slices_early<T>;
  extern __shared__ __align__(1024) char shared[];
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  constexpr i64 tiles_m = (T::m + T::rows - 1) / T::rows, tiles_n = (T::n + T::cols - 1) / T::cols;
  constexpr i64 all_slices = (T::k + T::depth - 1) / T::depth, piece = (all_slices + T::parts - 1) / T::parts;
  constexpr int beside = adds_beside<T> ? T::parts : 1;
  for (i64 at = blockIdx.x / beside; at < args.tiles; at += gridDim.x / beside) {
    const i64 i0 = at % tiles_m * T::rows, j0 = at / tiles_m % tiles_n * T::cols;
    i64 oa = 0, ob = 0, oc = 0;
    T::batch(at / tiles_m / tiles_n / (beside > 1 ? 1 : T::parts), oa, ob, oc);
    const i64 part = beside > 1 ? static_cast<i64>(blockIdx.x) % beside : T::parts > 1 ? at / tiles_m / tiles_n % T::parts : 0;
    const i64 first = part * piece, rest = all_slices - first;
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
    rows copy_a;
    columns copy_b;
    const auto slot_a = [&](i64 slice) { return reinterpret_cast<XA*>(shared + slice % stages * (a_bytes + b_bytes)); };
    const auto slot_b = [&](i64 slice) { return reinterpret_cast<XB*>(shared + slice % stages * (a_bytes + b_bytes) + a_bytes); };
    const auto begin = [&](i64 slice) {
      const i64 k0 = (first + slice) * T::depth;
      const auto sum_at = [&](int k, bool of_a) {
        i64 a = 0, b = 0;
        T::sum(k0 + k, a, b);
        return of_a ? a : b;
      };
      copy_a.begin(slot_a(slice), pa, T::m - i0, T::k - k0, [&](int line) {
        i64 a = 0, c = 0;
        if constexpr (T::offsets > 0) a = row_a[line];
        else T::row(i0 + line, a, c);
        return a;
      }, [&](int k) { return sum_at(k, true); });
      copy_b.begin(slot_b(slice), pb, T::n - j0, T::k - k0, [&](int line) {
        i64 b = 0, c = 0;
        if constexpr (T::offsets > 0) b = col_b[line];
        else T::col(j0 + line, b, c);
        return b;
      }, [&](int k) { return sum_at(k, false); });
    };
    const auto end = [&](i64 slice) { copy_a.end(slot_a(slice)), copy_b.end(slot_b(slice)); };
    tile_sums<T, W> sums;
#pragma unroll
    for (auto& x : sums.acc) x = zero_of(static_cast<typename tile_sums<T, W>::fragment::type*>(nullptr));
#pragma unroll 1
    for (int s = 0; s < early; ++s) {
      if (s < slices) begin(s), end(s);
      commit_copies();
    }
#pragma unroll 1
    for (i64 slice = 0; slice < slices; ++slice) {
      wait_copies<early - 1>();
      if constexpr (by_warpgroups<T>) show_stores();
      __syncthreads();
      const i64 ahead = slice + early;
      begin_products<T>(sums.acc, slot_a(slice), slot_b(slice));
      if (ahead < slices) begin(ahead);
      commit_copies();
      multiply_slice<T, XA, XB, W, rows::pitch, columns::pitch>(sums, slot_a(slice), slot_b(slice));
      if (ahead < slices) end(ahead);
    }
    if constexpr (by_warpgroups<T>) warpgroup_waits<0>();
    if constexpr (T::compute == 0 && beside == 1) store_own<T, W>(sums, pc, row_c, col_c, i0, j0, alpha, beta);
    else store_staged<T, W>(sums, reinterpret_cast<W*>(shared), pc, row_c, col_c, i0, j0, alpha, beta, beside > 1 ? static_cast<int>(part) : 0);
    __syncthreads();
  }
}
