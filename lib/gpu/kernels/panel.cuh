// c[z,i,j] = beta c[z,i,j] + alpha sum_k a[z,i,k] b[z,k,j]   for short sums: a block keeps its rows of a and goes along the columns.
//
// All k terms of `rows` rows of a stay in shared memory while tiles of `cols` columns of b pass, so that a is read once for many
// tiles of c, and c straight into the accumulators (times beta) and straight back: the columns of a tile that neighbouring threads
// have are neighbours in c. Indices are flattened labels; the text before this header defines panel_type: E (of all three), conj_a,
// conj_b, beta, m, n, k, rows, cols, depth (k, or the next multiple of what the tensor cores sum), turns (tiles that a block goes
// along), slots (of b: two if the next tile of it is read during a product), offset (a type), block, blocks, rm, rn, warps_m, warps_n, compute, a_along_k, b_along_k, vec_a, vec_b, pad, pad_a, pad_b and the offsets
//   row(i, a, c), col(j, b, c), sum(k, a, b), batch(z, a, b, c)
// of which col() says whether there is such a column: runs of c that do not fill whole sectors are padded.
#pragma once
#include "copies.cuh"
#include "small_product.cuh"

struct panel_args {
  const void* a;
  const void* b;
  void* c;
  i64 parts;
  double alpha[2], beta[2];
};

/// Offsets from the first element of a problem, and that of what is not there.
using offset = panel_type::offset;
constexpr offset outside = static_cast<offset>(static_cast<i64>(1) << (8 * sizeof(offset) - 1));

template <bool AlongK, int Pitch>
__device__ constexpr int panel_place(int line, int k) { return AlongK ? line * Pitch + k : k * Pitch + line; }

/// Copies lines (rows of a, columns of b), all their terms; what is not there becomes zero.
template <class X, int Lines, int Depth, int Pitch, int Block, bool AlongK, int Vec>
__device__ inline void load_lines(X* to, const X* from, const offset* line_at, const offset* sum_at) {
  constexpr int bytes = Vec * static_cast<int>(sizeof(X));
  constexpr int across = (AlongK ? Depth : Lines) / Vec, total = Lines * Depth / Vec;
#pragma unroll 4
  for (int at = threadIdx.x; at < total; at += Block) {
    const int line = AlongK ? at / across : at % across * Vec, k = AlongK ? at % across * Vec : at / across;
    X* const near = to + panel_place<AlongK, Pitch>(line, k);
    const offset x = line_at[line], y = sum_at[k];
    if (x != outside && y != outside) copy_async<bytes>(near, from + (x + y));
    else *reinterpret_cast<typename word<bytes>::type*>(near) = {};
  }
}

/// Which elements of a tile are a thread's: `down` rows and `across` columns.
template <class T>
struct panel_share {
  static constexpr bool cores = T::compute == 1;
  static constexpr int down = cores ? 2 * T::rm : T::rm, across = cores ? 2 * T::rn : T::rn;
  static constexpr int threads_n = cores ? 1 : T::cols / T::rn, threads_m = cores ? 1 : T::rows / T::rm;
  /// Of the tensor cores' fragments: columns are the tall side, so that eight neighbouring threads have eight neighbours.
  static __device__ int row(int r) {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (cores) return (thread / 32 / T::warps_n * T::rm + r / 2) * 8 + thread % 4 * 2 + r % 2;
    else return thread / threads_n + r * threads_m;
  }
  static __device__ int col(int s) {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (cores) return (thread / 32 % T::warps_n * T::rn + s / 2) * 16 + s % 2 * 8 + thread % 32 / 4;
    else return thread % threads_n + s * threads_n;
  }
  static constexpr __device__ int at(int r, int s) { return cores ? (r / 2 * T::rn + s / 2) * 4 + s % 2 * 2 + r % 2 : r * across + s; }
};

/// acc += a b, over all terms.
template <class T, int PitchA, int PitchB, class X>
__device__ inline void multiply_panel(X* acc, const X* a, const X* b) {
  const auto in_a = [](int i, int k) { return panel_place<T::a_along_k, PitchA>(i, k); };
  const auto in_b = [](int j, int k) { return panel_place<T::b_along_k, PitchB>(j, k); };
  using share = panel_share<T>;
  if constexpr (share::cores) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, quad = lane % 4, line = lane / 4;
    const int i = warp / T::warps_n * T::rm * 8 + line, j = warp % T::warps_n * T::rn * 16 + line;
#pragma unroll (T::unroll)
    for (int k = quad; k < T::depth; k += 8) {
      double x[T::rn][4], y[T::rm][2];
#pragma unroll
      for (int s = 0; s < T::rn; ++s)
#pragma unroll
        for (int g = 0; g < 4; ++g) x[s][g] = b[in_b(j + s * 16 + g % 2 * 8, k + g / 2 * 4)];
#pragma unroll
      for (int r = 0; r < T::rm; ++r) y[r][0] = a[in_a(i + r * 8, k)], y[r][1] = a[in_a(i + r * 8, k + 4)];
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s) mma_f64_tall(*reinterpret_cast<double(*)[4]>(acc + (r * T::rn + s) * 4), x[s], y[r]);
    }
  } else {
    const int i = share::row(0), j = share::col(0);
#pragma unroll (T::unroll)
    for (int k = 0; k < T::depth; ++k) {
      X x[T::rm], y[T::rn];
#pragma unroll
      for (int r = 0; r < T::rm; ++r) x[r] = a[in_a(i + r * share::threads_m, k)];
#pragma unroll
      for (int s = 0; s < T::rn; ++s) y[s] = conj_if<T::conj_b>(b[in_b(j + s * share::threads_n, k)]);
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int s = 0; s < T::rn; ++s) multiply_add(acc[r * T::rn + s], x[r], y[s]);
    }
  }
}

/// visit(r, s, offset in c) for each element of the tile that is this thread's and is there.
template <class T, class Visit>
__device__ inline void for_own(const offset* row_c, const offset* col_c, const Visit& visit) {
  using share = panel_share<T>;
  offset col[share::across];
#pragma unroll
  for (int s = 0; s < share::across; ++s) col[s] = col_c[share::col(s)];
#pragma unroll
  for (int r = 0; r < share::down; ++r) {
    const offset row = row_c[share::row(r)];
#pragma unroll
    for (int s = 0; s < share::across; ++s)
      if ((T::m % T::rows == 0 || row != outside) && (T::whole || col[s] != outside)) visit(r, s, row + col[s]);
  }
}

extern "C" __global__ void __launch_bounds__(panel_type::block, panel_type::blocks) panel(const __grid_constant__ panel_args args) {
  using T = panel_type;
  using X = typename T::E::wide;
  using share = panel_share<T>;
  constexpr int pitch_a = (T::a_along_k ? T::depth : T::rows) + T::pad_a, pitch_b = (T::b_along_k ? T::depth : T::cols) + T::pad_b;
  constexpr int a_bytes = ((T::a_along_k ? T::rows : T::depth) * pitch_a * static_cast<int>(sizeof(X)) + 15) / 16 * 16;
  constexpr int b_bytes = ((T::b_along_k ? T::cols : T::depth) * pitch_b * static_cast<int>(sizeof(X)) + 15) / 16 * 16;
  constexpr i64 panels = (T::m + T::rows - 1) / T::rows, tiles = (T::n + T::cols - 1) / T::cols, ways = (tiles + T::turns - 1) / T::turns;
  extern __shared__ __align__(16) char shared[];
  X* const image_a = reinterpret_cast<X*>(shared);
  const auto image_b = [&](int turn) { return reinterpret_cast<X*>(shared + a_bytes + turn % T::slots * b_bytes); };
  offset* const row_a = reinterpret_cast<offset*>(shared + a_bytes + T::slots * b_bytes), *const row_c = row_a + T::rows, *const sum_a = row_c + T::rows, *const sum_b = sum_a + T::depth;
  offset* const cols = sum_b + T::depth;  // of three tiles: b, c
  const X alpha = coefficient(static_cast<X*>(nullptr), args.alpha), beta = coefficient(static_cast<X*>(nullptr), args.beta);
  for (i64 part = blockIdx.x; part < args.parts; part += gridDim.x) {
    const i64 i0 = part % panels * T::rows, first = part / panels % ways * T::turns;
    const int turns = static_cast<int>(tiles - first < T::turns ? tiles - first : T::turns);
    i64 oa = 0, ob = 0, oc = 0;
    T::batch(part / panels / ways, oa, ob, oc);
    const X* const pa = static_cast<const X*>(args.a) + oa;
    const X* const pb = static_cast<const X*>(args.b) + ob;
    X* const pc = static_cast<X*>(args.c) + oc;
    const auto column_table = [&](int turn) { return cols + turn % 3 * (2 * T::cols); };
    const auto find_columns = [&](int turn) {
      offset* const table = column_table(turn);
      for (int x = threadIdx.x; x < T::cols; x += T::block) {
        const i64 j = (first + turn) * T::cols + x;
        i64 b = 0, c = 0;
        const bool there = j < T::n && T::col(j, b, c);
        table[x] = there ? static_cast<offset>(b) : outside, table[T::cols + x] = there ? static_cast<offset>(c) : outside;
      }
    };
    if (part != blockIdx.x) __syncthreads();
    for (int x = threadIdx.x; x < T::rows; x += T::block) {
      i64 a = 0, c = 0;
      if (i0 + x < T::m) T::row(i0 + x, a, c);
      row_a[x] = i0 + x < T::m ? static_cast<offset>(a) : outside, row_c[x] = i0 + x < T::m ? static_cast<offset>(c) : outside;
    }
    for (int x = threadIdx.x; x < T::depth; x += T::block) {
      i64 a = 0, b = 0;
      if (x < T::k) T::sum(x, a, b);
      sum_a[x] = x < T::k ? static_cast<offset>(a) : outside, sum_b[x] = x < T::k ? static_cast<offset>(b) : outside;
    }
    find_columns(0);
    if (turns > 1) find_columns(1);
    __syncthreads();
    const auto load_b = [&](int turn) {
      load_lines<X, T::cols, T::depth, pitch_b, T::block, T::b_along_k, T::vec_b>(image_b(turn), pb, column_table(turn), sum_b);
      commit_copies();
    };
    load_lines<X, T::rows, T::depth, pitch_a, T::block, T::a_along_k, T::vec_a>(image_a, pa, row_a, sum_a);
    load_b(0);
    X acc[share::down * share::across];
    const auto begin = [&](int turn) {
#pragma unroll
      for (X& x : acc) x = zero_of(static_cast<X*>(nullptr));
      if constexpr (T::beta) {
        for_own<T>(row_c, column_table(turn) + T::cols, [&](int r, int s, offset at) { acc[share::at(r, s)] = pc[at]; });
#pragma unroll
        for (X& x : acc) x = product_of(beta, x);
      }
    };
    begin(0);
    wait_copies<0>();
    __syncthreads();
    // alpha belongs to a, for all the columns.
    if (T::conj_a || args.alpha[0] != 1 || args.alpha[1] != 0) {
      for (int x = threadIdx.x; x < a_bytes / static_cast<int>(sizeof(X)); x += T::block) image_a[x] = product_of(alpha, conj_if<T::conj_a>(image_a[x]));
      __syncthreads();
    }
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
      const bool more = turn + 1 < turns;
      if (T::slots == 2 && more) load_b(turn + 1);
      multiply_panel<T, pitch_a, pitch_b>(acc, image_a, image_b(turn));
      if constexpr (T::slots == 1) {
        __syncthreads();
        if (more) load_b(turn + 1);
      }
      for_own<T>(row_c, column_table(turn) + T::cols, [&](int r, int s, offset at) { pc[at] = acc[share::at(r, s)]; });
      if (!more) break;
      begin(turn + 1);
      if (turn + 2 < turns) find_columns(turn + 2);
      wait_copies<0>();
      __syncthreads();
    }
  }
}
