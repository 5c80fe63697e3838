// The products of one tile, from shared memory to shared memory: by multiply-adds of single threads, or by the tensor
// cores' m8n8k4 (f64) and m16n8k16 (16-bit types).
#pragma once
#include "element.cuh"

/// acc -> beta c + alpha acc, in the image of c.
template <class S, class C, class W>
__device__ inline void finish(typename C::E::type* at, W acc, W alpha, W beta) {
  W x = product_of(alpha, acc);
  if constexpr (S::beta) x = sum_of(x, product_of(beta, C::E::get(*at)));
  *at = C::E::put(x);
}

/// Several neighbours in shared memory, read at once.
template <class X, int Count>
struct __align__(sizeof(X) * Count) pack {
  X x[Count];
};

/// The same for neighbours of 16 bits that are whole words.
template <class S, class C, int Count>
__device__ inline void finish_neighbours(typename C::E::type* at, const float (&sums)[Count], float alpha, float beta) {
  if constexpr (Count == 1) {
    finish<S, C>(at, sums[0], alpha, beta);
  } else {
    pack<u32, Count / 2>& words = *reinterpret_cast<pack<u32, Count / 2>*>(at);
    pack<u32, Count / 2> x;
    if constexpr (S::beta) x = words;
#pragma unroll
    for (int w = 0; w < Count / 2; ++w) {
      float low = alpha * sums[2 * w], high = alpha * sums[2 * w + 1];
      if constexpr (S::beta) low += beta * C::E::get(static_cast<u16>(x.x[w])), high += beta * C::E::get(static_cast<u16>(x.x[w] >> 16));
      x.x[w] = static_cast<u32>(C::E::put(low)) | static_cast<u32>(C::E::put(high)) << 16;
    }
    words = x;
  }
}

/// Which rows (or columns) of `Length` a thread's tile of Count has: neighbours, where the last tile begins early enough to
/// lie inside, or packs of Pack, Tiles packs apart, so that neighbouring threads read neighbouring elements.
template <int Length, int Count, int Tiles, int Pack, bool Together>
struct places {
  static __device__ int at(int tile, int x) {
    if constexpr (Together) return smaller(tile * Count, Length - Count) + x;
    else return (x / Pack * Tiles + tile) * Pack + x % Pack;
  }
  /// Whether the tile is the one that owns it.
  static __device__ bool owns(int tile, int x) {
    if constexpr (Together) return x >= Tiles * Count - Length || at(tile, x) >= tile * Count;
    else return (x / Pack + 1) * Tiles * Pack <= Length || at(tile, x) < Length;
  }
  /// Where to read, also what nobody owns.
  static __device__ int from(int tile, int x) { return Together || owns(tile, x) ? at(tile, x) : Length - Pack; }
};

/// Each thread owns an rm x rn tile of one result. a is read in packs of vec_a along k, b in packs of vec_b along its columns or vec_k along
/// k. If results take the place of the
/// factors, each thread has one tile at most, and `all_read` waits for the others.
template <class S, class A, class B, class C, class MemoryA, class MemoryB, class MemoryC, class AllRead>
__device__ inline void product_by_threads(const MemoryA& a, const MemoryB& b, const MemoryC& c, typename C::E::wide alpha,
                                          typename C::E::wide beta, int lane, const AllRead& all_read) {
  using W = typename C::E::wide;
  constexpr int rm = S::rm, rn = S::rn, tm = divide_up(S::m, rm), tn = divide_up(S::n, rn), va = S::vec_a, vb = S::vec_b, vk = S::vec_k;
  constexpr int items = S::problems * tm * tn;
  using PackA = pack<typename A::E::type, va>;
  using PackB = pack<typename B::E::type, vb>;
  using rows = places<S::m, rm, tm, 1, S::rows_together>;
  using columns = places<S::n, rn, tn, vb, S::columns_together>;
#pragma unroll 1
  for (int turn = lane; turn < (S::over ? S::group : items); turn += S::group) {
    const int item = S::over ? smaller(turn, items - 1) : turn;
    int p, i, j;
    if constexpr (S::problem_fastest) p = item % S::problems, j = item / S::problems % tn, i = item / S::problems / tn;
    else j = item % tn, i = item / tn % tm, p = item / (tn * tm);
    W acc[rm][rn];
    int row[rm], col[rn / vb];
#pragma unroll
    for (int r = 0; r < rm; ++r) row[r] = A::at_problem(p) + A::row_at(rows::from(i, r));
#pragma unroll
    for (int s = 0; s < rn / vb; ++s) col[s] = B::at_problem(p) + B::col_at(columns::from(j, s * vb));
#pragma unroll
    for (int r = 0; r < rm; ++r)
#pragma unroll
      for (int s = 0; s < rn; ++s) acc[r][s] = zero_of(static_cast<W*>(nullptr));
    const auto add = [&](int r, int s, typename A::E::type x, typename B::E::type y) { multiply_add(acc[r][s], conj_if<A::conj>(A::E::get(x)), conj_if<B::conj>(B::E::get(y))); };
    if constexpr (vk > 1) {
      constexpr int step = va > vk ? va : vk;
      using PackK = pack<typename B::E::type, vk>;
#pragma unroll (divide_up(S::unroll, step))
      for (int k = 0; k < S::k; k += step) {
        PackK y[rn][step / vk];
#pragma unroll
        for (int s = 0; s < rn; ++s)
#pragma unroll
          for (int v = 0; v < step / vk; ++v) y[s][v] = *reinterpret_cast<const PackK*>(b.data + col[s] + B::row_at(k + v * vk));
#pragma unroll
        for (int r = 0; r < rm; ++r)
#pragma unroll
          for (int u = 0; u < step; u += va) {
            const PackA x = *reinterpret_cast<const PackA*>(a.data + row[r] + A::col_at(k + u));
#pragma unroll
            for (int v = 0; v < va; ++v)
#pragma unroll
              for (int s = 0; s < rn; ++s) add(r, s, x.x[v], y[s][(u + v) / vk].x[(u + v) % vk]);
          }
      }
    } else {
#pragma unroll (S::unroll)
      for (int k = 0; k < S::k; k += va) {
        PackA x[rm];
#pragma unroll
        for (int r = 0; r < rm; ++r) x[r] = *reinterpret_cast<const PackA*>(a.data + row[r] + A::col_at(k));
#pragma unroll
        for (int v = 0; v < va; ++v) {
          PackB y[rn / vb];
#pragma unroll
          for (int s = 0; s < rn / vb; ++s) y[s] = *reinterpret_cast<const PackB*>(b.data + col[s] + B::row_at(k + v));
#pragma unroll
          for (int r = 0; r < rm; ++r)
#pragma unroll
            for (int s = 0; s < rn; ++s) add(r, s, x[r].x[v], y[s / vb].x[s % vb]);
        }
      }
    }
    if constexpr (S::over) {
      all_read();
      if (turn >= items) continue;
    }
#pragma unroll
    for (int r = 0; r < rm; ++r)
#pragma unroll
      for (int s = 0; s < rn; ++s)
        if (rows::owns(i, r) && columns::owns(j, s))
          finish<S, C>(c.data + C::at_problem(p) + C::row_at(rows::at(i, r)) + C::col_at(columns::at(j, s)), acc[r][s], alpha, beta);
  }
}

/// A warp owns rm x rn tiles of 8 x 8 of one result.
template <class S, class A, class B, class C, class MemoryA, class MemoryB, class MemoryC>
__device__ inline void product_by_mma_f64(const MemoryA& a, const MemoryB& b, const MemoryC& c, double alpha, double beta,
                                          int lane) {
  constexpr int rm = S::rm, rn = S::rn, tm = divide_up(divide_up(S::m, 8), rm), tn = divide_up(divide_up(S::n, 8), rn);
  constexpr int items = S::problems * tm * tn;
  const int l = lane % 32, quad = l % 4, line = l / 4;
#pragma unroll 1
  for (int item = lane / 32; item < items; item += S::group / 32) {
    const int j = item % tn * rn, i = item / tn % tm * rm, p = item / (tn * tm);
    double acc[rm][rn][2] = {};
    int row[rm], col[rn];
#pragma unroll
    for (int r = 0; r < rm; ++r) row[r] = A::at_problem(p) + A::row_at(smaller((i + r) * 8 + line, S::m - 1));
#pragma unroll
    for (int s = 0; s < rn; ++s) col[s] = B::at_problem(p) + B::col_at(smaller((j + s) * 8 + line, S::n - 1));
#pragma unroll (S::unroll)
    for (int kk = 0; kk < divide_up(S::k, 4); ++kk) {
      const int k = kk * 4 + quad;
      const bool in = S::k % 4 == 0 || k < S::k;
      const int ka = A::col_at(in ? k : 0), kb = B::row_at(in ? k : 0);
      double x[rm], y[rn];
#pragma unroll
      for (int r = 0; r < rm; ++r) x[r] = in ? a.data[row[r] + ka] : 0.0;
#pragma unroll
      for (int s = 0; s < rn; ++s) y[s] = in ? b.data[col[s] + kb] : 0.0;
#pragma unroll
      for (int r = 0; r < rm; ++r)
#pragma unroll
        for (int s = 0; s < rn; ++s) mma_f64(acc[r][s], x[r], y[s]);
    }
#pragma unroll
    for (int r = 0; r < rm; ++r)
#pragma unroll
      for (int s = 0; s < rn; ++s)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int at_row = (i + r) * 8 + line, at_col = (j + s) * 8 + 2 * quad + h;
          if (at_row < S::m && at_col < S::n)
            finish<S, C>(c.data + C::at_problem(p) + C::row_at(at_row) + C::col_at(at_col), acc[r][s][h], alpha, beta);
        }
  }
}

/// Two neighbours in k as one register; zero beyond K.
template <int K, bool Paired>
__device__ inline u32 pair_of(const u16* line, int k, int first, int second) {
  if constexpr (Paired) {
    return K % 16 == 0 || k < K ? *reinterpret_cast<const u32*>(line + first) : 0u;
  } else {
    const u32 low = K % 16 == 0 || k < K ? line[first] : 0u, high = K % 16 == 0 || k + 1 < K ? line[second] : 0u;
    return low | high << 16;
  }
}

/// A warp owns rm x rn tiles of 16 x 8 of one result. A thread has two neighbouring columns of each, or, as which column of a tile is which
/// is free, the same number of neighbours of all its tiles together.
template <class S, class A, class B, class C, class MemoryA, class MemoryB, class MemoryC>
__device__ inline void product_by_mma_16(const MemoryA& a, const MemoryB& b, const MemoryC& c, float alpha, float beta,
                                         int lane) {
  constexpr int rm = S::rm, rn = S::rn, tm = divide_up(divide_up(S::m, 16), rm), tn = divide_up(divide_up(S::n, 8), rn);
  constexpr int items = S::problems * tm * tn, own = S::columns_together ? 2 * rn : 2;  // neighbouring columns of a thread
  const int l = lane % 32, quad = l % 4, line = l / 4;
#pragma unroll 1
  for (int item = lane / 32; item < items; item += S::group / 32) {
    const int j = item % tn * rn, i = item / tn % tm * rm, p = item / (tn * tm);
    float acc[rm][rn][4] = {};
    int row[rm][2], col[rn];
#pragma unroll
    for (int r = 0; r < rm; ++r)
#pragma unroll
      for (int h = 0; h < 2; ++h) row[r][h] = A::at_problem(p) + A::row_at(smaller((i + r) * 16 + 8 * h + line, S::m - 1));
#pragma unroll
    for (int s = 0; s < rn; ++s) col[s] = B::at_problem(p) + B::col_at(smaller(S::columns_together ? j * 8 + line / 2 * own + 2 * s + line % 2 : (j + s) * 8 + line, S::n - 1));
#pragma unroll (S::unroll)
    for (int kk = 0; kk < divide_up(S::k, 16); ++kk) {
      u32 x[rm][4], y[rn][2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        // Which terms come together is free, if both factors agree.
        const int k = S::spread ? quad * 4 * divide_up(S::k, 16) + kk * 4 + 2 * h : kk * 16 + 8 * h + 2 * quad, k0 = smaller(k, S::k - 1), k1 = smaller(k + 1, S::k - 1);
        const int a0 = A::col_at(k0), a1 = A::col_at(k1), b0 = B::row_at(k0), b1 = B::row_at(k1);
#pragma unroll
        for (int r = 0; r < rm; ++r)
#pragma unroll
          for (int g = 0; g < 2; ++g) x[r][2 * h + g] = pair_of<S::k, A::paired>(a.data + row[r][g], k, a0, a1);
#pragma unroll
        for (int s = 0; s < rn; ++s) y[s][h] = pair_of<S::k, B::paired>(b.data + col[s], k, b0, b1);
      }
#pragma unroll
      for (int r = 0; r < rm; ++r)
#pragma unroll
        for (int s = 0; s < rn; ++s) mma_16<S::bfloat>(acc[r][s], x[r], y[s]);
    }
#pragma unroll
    for (int r = 0; r < rm; ++r)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int e = 0; e < 2 * rn; e += C::pack) {
          const int at_row = (i + r) * 16 + 8 * h + line, at_col = j * 8 + e / own * 8 + quad * own + e % own;
          if (at_row >= S::m || at_col >= S::n) continue;
          float sums[C::pack];
#pragma unroll
          for (int x = 0; x < C::pack; ++x) sums[x] = acc[r][(e + x) / 2][2 * h + (e + x) % 2];
          finish_neighbours<S, C>(c.data + C::at_problem(p) + C::row_at(at_row) + C::col_at(at_col), sums, alpha, beta);
        }
  }
}
