// c[z,i,j] = beta c[z,i,j] + alpha sum_k a[z,i,k] b[z,k,j]   for large i, j: a block owns a rows x cols tile of c.
//
// Slices of a and b pass through stages of shared memory. Indices are flattened labels; the text before this header defines tile_type:
//   A, B, C, conj_a, conj_b, beta, m, n, k, rows, cols, depth, stages, block, blocks, rm, rn, warps_m, warps_n, compute
//   parts, count                       of the sum, else 1; elements of c that a part has, 0: blocks beside one another add their parts
//   a_along_k, b_along_k               neighbours in memory run along k
//   a_stays, b_stays, pad_a, pad_b     in shared memory too; elements between runs there
//   vec_a, vec_b, vec_c                elements of one copy, of one store
//   cut_a, cut_b                       the last copy along a line has fewer
//   planes_a, planes_b                 of bfloat16 whose sum a factor is (planes.cuh), else 1
//   scaled, multiply_half              where they are three and two: slices are multiplied as halves, if they can be
//   row_step, col_step, sum_step_a, sum_step_b   in a factor from one to the next; 0: not always the same
//   offsets                            where in shared memory the offsets of a tile's rows and columns are kept (0: they are not)
//   alternate, multiply                of warpgroups: blocks of a multiprocessor take turns; the instruction
// and the offsets
//   row(i, a, c), col(j, b, c), sum(k, a, b), batch(z, a, b, c)
#pragma once
#include "slices.cuh"
#include "tile_sums.cuh"
#include "warpgroup.cuh"

struct tile_args {
  const void* a;
  const void* b;
  void* c;
  i64 tiles;
  double alpha[2], beta[2];
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
        sums.acc, a, b, own::thread() / own::tn, own::thread() % own::tn, in_a, in_b,
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
    constexpr int plane_a = PitchA * (T::a_stays ? T::rows : T::depth), plane_b = PitchB * (T::b_stays ? T::cols : T::depth);
#pragma unroll
    for (int k = 0; k < T::depth; k += 16)
#pragma unroll
      for (int q = T::planes_b - 1; q >= 0; --q) {
        u32 x[T::rm][4], y[T::rn / 2][4];
#pragma unroll
        for (int s = 0; s < T::rn / 2; ++s)
          load_squares<!T::b_stays>(y[s], b + q * plane_b + (T::b_stays ? in_b(j + s * 16 + row, k + first) : in_b(j + s * 16, k + first + row)));
#pragma unroll
        for (int p = T::planes_a - 1; p >= 0; --p) {
          if (!planes_count(p, q)) continue;
#pragma unroll
          for (int r = 0; r < T::rm; ++r)
            load_squares<!T::a_stays>(x[r], a + p * plane_a + (T::a_stays ? in_a(i + r * 16 + row, k + second) : in_a(i + r * 16, k + second + row)));
#pragma unroll
          for (int r = 0; r < T::rm; ++r)
#pragma unroll
            for (int s = 0; s < T::rn; ++s)
              mma_16<T::bfloat>(*reinterpret_cast<float(*)[4]>(&sums.acc[(r * T::rn + s) * 4]), x[r], *reinterpret_cast<const u32(*)[2]>(&y[s / 2][s % 2 * 2]));
        }
      }
  }
}

/// Where a term lies in a, or in b.
template <class T, bool OfA>
__device__ inline i64 sum_offset(i64 k) {
  i64 a = 0, b = 0;
  T::sum(k, a, b);
  return OfA ? a : b;
}

extern "C" __global__ void RICCI_NEIGHBOURS __launch_bounds__(tile_type::block, tile_type::blocks) tile(const __grid_constant__ tile_args args) {
  using T = tile_type;
  using W = typename T::C::wide;
  using XA = typename T::A::type;
  using XB = typename T::B::type;
  using rows = slice_copy<rows_of<T>, T::depth, T::block>;
  using columns = slice_copy<columns_of<T>, T::depth, T::block>;
  using SA = typename rows::Y;
  using SB = typename columns::Y;
  constexpr int a_bytes = rows::room, b_bytes = columns::room;
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
    const auto slot_a = [&](i64 slice) { return reinterpret_cast<SA*>(shared + slice % stages * (a_bytes + b_bytes)); };
    const auto slot_b = [&](i64 slice) { return reinterpret_cast<SB*>(shared + slice % stages * (a_bytes + b_bytes) + a_bytes); };
    const auto row_at = [&](int line) {
      i64 a = 0, c = 0;
      if constexpr (T::offsets > 0) a = row_a[line];
      else T::row(i0 + line, a, c);
      return a;
    };
    const auto col_at = [&](int line) {
      i64 b = 0, c = 0;
      if constexpr (T::offsets > 0) b = col_b[line];
      else T::col(j0 + line, b, c);
      return b;
    };
    const auto begin_a = [&](i64 slice) {
      const i64 k0 = (first + slice) * T::depth;
      copy_a.begin(slot_a(slice), pa, T::m - i0, T::k - k0, row_at, [&](int k) { return sum_offset<T, true>(k0 + k); });
    };
    const auto begin_b = [&](i64 slice) {
      const i64 k0 = (first + slice) * T::depth;
      copy_b.begin(slot_b(slice), pb, T::n - j0, T::k - k0, col_at, [&](int k) { return sum_offset<T, false>(k0 + k); });
    };
    // What is cut in planes is read a slice before the others' copies begin.
    constexpr bool cut_a = rows::in_planes, cut_b = columns::in_planes;
    const auto begin = [&](i64 slice) {
      if constexpr (!cut_a) begin_a(slice);
      if constexpr (!cut_b) begin_b(slice);
    };
    const auto read = [&](i64 slice) {
      if (slice >= slices) return;
      if constexpr (cut_a) begin_a(slice);
      if constexpr (cut_b) begin_b(slice);
    };
    float scale = 1;
    bool always = false;  // the sum of planes of bfloat16
    u32 exact = 0;        // the slices in shared memory that are
    const auto cut = [&](i64 slice) {
      if constexpr (T::scaled) {
        bool outside = always;
        if constexpr (cut_a) outside = outside || copy_a.is_outside(scale);
        if constexpr (cut_b) outside = outside || copy_b.is_outside(scale);
        outside = __syncthreads_or(outside);
        const u32 bit = 1u << static_cast<u32>(slice % stages);
        exact = outside ? exact | bit : exact & ~bit;
        if constexpr (cut_a) copy_a.end_scaled(slot_a(slice), scale, outside);
        else copy_b.end_scaled(slot_b(slice), scale, outside);
      } else {
        if constexpr (cut_a) copy_a.end(slot_a(slice));
        if constexpr (cut_b) copy_b.end(slot_b(slice));
      }
    };
    const auto end = [&](i64 slice) {
      if constexpr (!cut_a) copy_a.end(slot_a(slice));
      if constexpr (!cut_b) copy_b.end(slot_b(slice));
    };
    tile_sums<T, W> sums;
#pragma unroll 1
    for (;;) {
#pragma unroll
      for (auto& x : sums.acc) x = zero_of(static_cast<typename tile_sums<T, W>::fragment::type*>(nullptr));
      read(0);
      if constexpr (T::scaled) {
        if constexpr (cut_a) scale = always ? 1 : scale_of_block(copy_a.largest());
        else scale = always ? 1 : scale_of_block(copy_b.largest());
      }
#pragma unroll 1
      for (int s = 0; s < early; ++s) {
        if (s < slices) begin(s), end(s), cut(s), read(s + 1);
        commit_copies();
      }
#pragma unroll 1
      for (i64 slice = 0; slice < slices; ++slice) {
        wait_copies<early - 1>();
        if constexpr (by_warpgroups<T>) show_stores();
        __syncthreads();
        const i64 ahead = slice + early;
        const bool in_planes = T::scaled && (exact >> static_cast<u32>(slice % stages) & 1) != 0;
        if constexpr (T::scaled) {
          if (in_planes) {
            if constexpr (cut_a) cut_in_place<columns::elements, T::block>(slot_b(slice));
            else cut_in_place<rows::elements, T::block>(slot_a(slice));
            show_stores();
            __syncthreads();
          }
        }
        begin_products<T>(sums.acc, slot_a(slice), slot_b(slice), in_planes);
        if (ahead < slices) begin(ahead), cut(ahead), read(ahead + 1);
        commit_copies();
        multiply_slice<T, SA, SB, W, rows::pitch, columns::pitch>(sums, slot_a(slice), slot_b(slice));
        if (ahead < slices) end(ahead);
      }
      if constexpr (by_warpgroups<T>) warpgroup_waits<0>();
      if constexpr (!T::scaled) break;
      else {
        const bool finite = take_scale_out(sums.acc, scale);
        if (!__syncthreads_or(!finite && !always)) break;
        always = true;  // once more: halves make NaN of infinite numbers
      }
    }
    if constexpr (T::compute == 0 && beside == 1) store_own<T, W>(sums, pc, row_c, col_c, i0, j0, alpha, beta);
    else store_staged<T, W>(sums, reinterpret_cast<W*>(shared), pc, row_c, col_c, i0, j0, alpha, beta, beside > 1 ? static_cast<int>(part) : 0);
    __syncthreads();
  }
}
