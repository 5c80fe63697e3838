// The sums of a tile in the registers of a block (tile.cuh), and how they are stored.
#pragma once
#include "neighbours.cuh"
#include "runs.cuh"

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
  static constexpr int tn = T::cols / T::rn, tm = T::rows / T::rm, workers = tm * tn;
  static constexpr int a = run_of_lines<typename T::A::type, T::a_stays, T::rows + T::pad_a, T::rm>();
  static constexpr int most_b = run_of_lines<typename T::B::type, T::b_stays, T::cols + T::pad_b, T::rn>(), b = most_b < T::vec_c ? most_b : T::vec_c;
  /// Threads of the last warp may have no lines: they multiply what the last one multiplies, and store nothing.
  static __device__ bool is_idle() { return workers < T::block && static_cast<int>(threadIdx.x) >= workers; }
  static __device__ int thread() { return is_idle() ? workers - 1 : static_cast<int>(threadIdx.x); }
};

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
      if (own::is_idle()) return;
      const int i = own::thread() / own::tn, j = own::thread() % own::tn;
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
            const int first = T::compute == 4 ? (warp / 4 * T::rm + r) * 64 + warp % 4 * 16 : (warp / T::warps_n * T::rm + r) * 16;
            const int i = first + h * 8 + lane / 4, j = (warp % T::warps_n * T::rn + s) * 8 + lane % 4 * 2;
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
  if (own::is_idle()) return;
  const int i = own::thread() / own::tn, j = own::thread() % own::tn;
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
