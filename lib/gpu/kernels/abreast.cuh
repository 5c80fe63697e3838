// c[p,i,j] = beta c[p,i,j] + alpha sum_k a[p,i,k] b[p,k,j]   for problems p that are neighbours in memory: a block has some of them.
//
// Slices of both factors pass through stages of shared memory with neighbouring problems still side by side, so that nothing is turned: a thread
// reads the numbers of several problems at once and multiplies each by that of the same problem. Single threads have elements of their
// own; warps on the tensor cores read 16 bytes of neighbours at every place of a fragment, and make as many products as those are
// problems. Blocks stay, and read the next tile while the last one's products go on. The text before this header defines abreast_type:
//   A, B, C, conj_a, conj_b, beta, bfloat
//   problems, m, n, k, number          all of them; the type that tiles are counted in
//   wide, near                         problems of a block; blocks beside one another before the next tile of the same problems
//   rows, cols, depth, stages          the tile of a problem
//   block, blocks, compute, own        own: problems of a thread
//   rm, rn, warps_m, warps_n           register tile in elements or tiles of 16 x 8; warps along rows and columns
//   vec_a, vec_b, vec_c                neighbouring problems of one copy, of one store
//   nearest_a, nearest_b, nearest_c    what neighbours in memory are: 0 problems, 1 lines (rows of a and c, columns of b), 2 terms (columns of c)
//   sum_step_a, sum_step_b             from term to term; 0: not always the same
// and the offsets
//   row(i, a, c), col(j, b, c), sum(k, a, b), batch(p, a, b, c)
#pragma once
#include "abreast_slices.cuh"
#include "words.cuh"

struct abreast_args {
  const void* a;
  const void* b;
  void* c;
  i64 tiles;
  double alpha[2], beta[2];
};

/// The sums of a thread: of `places` places of the tile, `own` problems each. On the tensor cores a place is a quarter of a fragment.
template <int Compute, class W> struct part_abreast { using type = W; };
template <class X> struct part_abreast<3, complex_of<X>> { using type = X; };

template <class T>
struct sums_abreast {
  using W = typename T::C::wide;
  using part = typename part_abreast<T::compute, W>::type;
  static constexpr int each = T::compute == 0 ? 1 : T::compute == 3 ? 8 : 4;
  part acc[T::rm * T::rn][T::own][each];

  __device__ void clear() {
#pragma unroll
    for (int x = 0; x < T::rm * T::rn * T::own * each; ++x) acc[x / each / T::own][x / each % T::own][x % each] = zero_of(static_cast<part*>(nullptr));
  }
  /// Of the fragment's place g.
  __device__ W at(int fragment, int problem, int g) const {
    if constexpr (T::compute == 3) return W{acc[fragment][problem][g], acc[fragment][problem][g + 4]};
    else return acc[fragment][problem][g];
  }
};

/// Where a thread's elements are: its first problem, and rows and columns by fragment and place in it.
template <class T>
struct thread_abreast {
  static constexpr int across = T::wide / T::own, tm = T::rows / T::rm, tn = T::cols / T::rn;
  static constexpr int places = T::compute == 0 ? 1 : 4;
  int p, i, j, quad;
  explicit __device__ thread_abreast(int thread) : quad(thread % 4) {
    const int lane = thread % 32, warp = thread / 32;
    if constexpr (T::compute == 0) {
      p = thread % across * T::own, j = thread / across % tn, i = thread / across / tn;
    } else {
      p = warp % across * T::own, i = warp / across / T::warps_n * T::rm * 16 + lane / 4, j = warp / across % T::warps_n * T::rn * 8;
    }
  }
  __device__ int row(int r, int g) const { return T::compute == 0 ? i + r * tm : i + r * 16 + g / 2 * 8; }
  __device__ int col(int s, int g) const { return T::compute == 0 ? j + s * tn : j + s * 8 + quad * 2 + g % 2; }
};

/// Where an element of c lies.
template <class T>
__device__ inline i64 result_abreast(i64 p, i64 i, i64 j) {
  i64 c = 0, none = 0;
  T::batch(p, none, none, c), T::row(i, none, c), T::col(j, none, c);
  return c;
}

template <class T, class SA, class SB>
__device__ inline void multiply_abreast(sums_abreast<T>& sums, const thread_abreast<T>& at, const char* a, const char* b) {
  using XA = typename SA::X;
  using XB = typename SB::X;
  const auto of_a = [&](int line, int k) { return *reinterpret_cast<const neighbours<XA, T::own>*>(a + SA::place(at.p, line, k)); };
  const auto of_b = [&](int line, int k) { return *reinterpret_cast<const neighbours<XB, T::own>*>(b + SB::place(at.p, line, k)); };
  const int quad = threadIdx.x % 4, line = threadIdx.x % 32 / 4;
  if constexpr (T::compute == 0) {
#pragma unroll 4
    for (int k = 0; k < T::depth; ++k) {
      neighbours<XA, T::own> x[T::rm];
#pragma unroll
      for (int r = 0; r < T::rm; ++r) x[r] = of_a(at.row(r, 0), k);
#pragma unroll
      for (int s = 0; s < T::rn; ++s) {
        const neighbours<XB, T::own> y = of_b(at.col(s, 0), k);
#pragma unroll
        for (int r = 0; r < T::rm; ++r)
#pragma unroll
          for (int o = 0; o < T::own; ++o) multiply_add(sums.acc[r * T::rn + s][o][0], conj_if<T::conj_a>(T::A::get(x[r].x[o])), conj_if<T::conj_b>(T::B::get(y.x[o])));
      }
    }
  } else if constexpr (T::compute == 1) {
#pragma unroll
    for (int k = quad; k < T::depth; k += 8) {
      double x[T::rm][T::own][4];  // as the instruction takes them
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int g = 0; g < 4; ++g) {
          const volatile double* const from = reinterpret_cast<const volatile double*>(a + SA::place(at.p, at.i + r * 16 + g % 2 * 8, k + g / 2 * 4));
#pragma unroll
          for (int o = 0; o < T::own; ++o) x[r][o][g] = from[o];
        }
#pragma unroll
      for (int s = 0; s < T::rn; ++s) {
        const volatile double *const y = reinterpret_cast<const volatile double*>(b + SB::place(at.p, at.j + s * 8 + line, k)), *const z = reinterpret_cast<const volatile double*>(b + SB::place(at.p, at.j + s * 8 + line, k + 4));
#pragma unroll
        for (int o = 0; o < T::own; ++o) {
          const double both[2] = {y[o], z[o]};
#pragma unroll
          for (int r = 0; r < T::rm; ++r) mma_f64_tall(sums.acc[r * T::rn + s][o], x[r][o], both);
        }
      }
    }
  } else if constexpr (T::compute == 3) {
    static_assert(T::own == 1);
#pragma unroll
    for (int k = quad; k < T::depth; k += 8) {
      double real[T::rm][4], imaginary[T::rm][4];
#pragma unroll
      for (int r = 0; r < T::rm; ++r)
#pragma unroll
        for (int g = 0; g < 4; ++g) {
          const XA x = conj_if<T::conj_a>(of_a(at.i + r * 16 + g % 2 * 8, k + g / 2 * 4).x[0]);
          real[r][g] = x.x, imaginary[r][g] = x.y;
        }
#pragma unroll
      for (int s = 0; s < T::rn; ++s) {
        const XB y = conj_if<T::conj_b>(of_b(at.j + s * 8 + line, k).x[0]), z = conj_if<T::conj_b>(of_b(at.j + s * 8 + line, k + 4).x[0]);
        const double reals[2] = {y.x, z.x}, imaginaries[2] = {y.y, z.y}, less[2] = {-y.y, -z.y};
#pragma unroll
        for (int r = 0; r < T::rm; ++r) {
          double(*const parts)[4] = reinterpret_cast<double(*)[4]>(sums.acc[r * T::rn + s][0]);
          mma_f64_tall(parts[0], real[r], reals), mma_f64_tall(parts[1], real[r], imaginaries);
          mma_f64_tall(parts[0], imaginary[r], less), mma_f64_tall(parts[1], imaginary[r], reals);
        }
      }
    }
  } else {
    // A register has two terms of a problem: of words of two terms, halves with halves.
    static_assert(T::own == 8);
    const auto pair = [](const uint4& first, const uint4& second, int o) {
      const u32 x = (&first.x)[o / 2], y = (&second.x)[o / 2];
      return __byte_perm(x, y, o % 2 == 0 ? 0x5410 : 0x7632);
    };
    const auto word_a = [&](int i, int k) { return *reinterpret_cast<const uint4*>(a + SA::place(at.p, i, k)); };
    const auto word_b = [&](int j, int k) { return *reinterpret_cast<const uint4*>(b + SB::place(at.p, j, k)); };
#pragma unroll
    for (int k = 2 * quad; k < T::depth; k += 16) {
      u32 y[T::rn][8][2];
#pragma unroll
      for (int s = 0; s < T::rn; ++s)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const uint4 first = word_b(at.j + s * 8 + line, k + h * 8), second = word_b(at.j + s * 8 + line, k + h * 8 + 1);
#pragma unroll
          for (int o = 0; o < 8; ++o) y[s][o][h] = pair(first, second, o);
        }
#pragma unroll
      for (int r = 0; r < T::rm; ++r) {
        u32 x[8][4];
#pragma unroll
        for (int g = 0; g < 4; ++g) {
          const uint4 first = word_a(at.i + r * 16 + g % 2 * 8, k + g / 2 * 8), second = word_a(at.i + r * 16 + g % 2 * 8, k + g / 2 * 8 + 1);
#pragma unroll
          for (int o = 0; o < 8; ++o) x[o][g] = pair(first, second, o);
        }
#pragma unroll
        for (int o = 0; o < 8; ++o)
#pragma unroll
          for (int s = 0; s < T::rn; ++s) mma_16<T::bfloat>(sums.acc[r * T::rn + s][o], x[o], y[s][o]);
      }
    }
  }
}

/// c = beta c + alpha sums, from problem p0 and place (i0, j0) on: straight from registers, where neighbouring threads have neighbouring problems.
template <class T, class W>
__device__ inline void store_abreast(const sums_abreast<T>& sums, typename T::C::type* pc, i64 p0, i64 i0, i64 j0, W alpha, W beta) {
  const thread_abreast<T> at(of_now(threadIdx.x));
#pragma unroll
  for (int r = 0; r < T::rm; ++r)
#pragma unroll
    for (int s = 0; s < T::rn; ++s) {
      const i64 i = i0 + at.row(r, 0), j = j0 + at.col(s, 0);
      if ((T::m % T::rows != 0 && i >= T::m) || (T::n % T::cols != 0 && j >= T::n)) continue;
#pragma unroll
      for (int o = 0; o < T::own; o += T::vec_c) {
        const i64 p = p0 + at.p + o;
        if (p >= T::problems) continue;
        W run[T::vec_c];
#pragma unroll
        for (int v = 0; v < T::vec_c; ++v) run[v] = sums.at(r * T::rn + s, o + v, 0);
        store<T, T::vec_c>(pc + result_abreast<T>(p, i, j), run, alpha, beta);
      }
    }
}

/// The sums of one fragment of all threads, in shared memory: all problems of a place together.
template <class T, class W>
struct image_abreast {
  using at = thread_abreast<T>;
  static constexpr int high = T::compute == 0 ? at::tm : 16, across = T::compute == 0 ? at::tn : 8, groups = T::compute == 0 ? 1 : T::warps_m * T::warps_n;
  static constexpr int places = groups * high * across, pitch = T::wide * static_cast<int>(sizeof(W)) + 16, bytes = places * pitch;
  static constexpr int count = bytes > (16 << 10) ? 1 : 2;  // of images
  /// Rows and columns from one fragment of a thread to the next.
  static constexpr int step_m = high, step_n = across;
};

/// The same by way of shared memory: whole sectors of c are written at once, as parts of them take the memory several times as long.
template <class T, class W>
__device__ inline void store_staged_abreast(const sums_abreast<T>& sums, char* images, typename T::C::type* pc, i64 p0, i64 i0, i64 j0, W alpha, W beta) {
  using I = image_abreast<T, W>;
  const unsigned thread = of_now(threadIdx.x);
  const int group = T::compute == 0 ? 0 : static_cast<int>(thread / 32) / thread_abreast<T>::across, line = static_cast<int>(thread % 32) / 4;
  const thread_abreast<T> at(thread);
  constexpr int words = T::own * static_cast<int>(sizeof(W)) / (T::own * sizeof(W) >= 16 ? 16 : static_cast<int>(sizeof(W)));
  constexpr int each = T::own / words;
#pragma unroll
  for (int f = 0; f < T::rm * T::rn; ++f) {
    const int r = f / T::rn, s = f % T::rn;
    char* const image = images + f % I::count * I::bytes;
    if constexpr (I::count == 1) __syncthreads();
#pragma unroll
    for (int g = 0; g < thread_abreast<T>::places; ++g) {
      const int place = T::compute == 0 ? at.i * I::across + at.j : (group * 16 + line + g / 2 * 8) * 8 + at.quad * 2 + g % 2;
#pragma unroll
      for (int w = 0; w < words; ++w) {
        neighbours<W, each> x;
#pragma unroll
        for (int o = 0; o < each; ++o) x.x[o] = sums.at(f, w * each + o, g);
        *reinterpret_cast<neighbours<W, each>*>(image + place * I::pitch + (at.p + w * each) * static_cast<int>(sizeof(W))) = x;
      }
    }
    __syncthreads();
    constexpr unsigned across = T::wide / T::vec_c;
#pragma unroll 2
    for (unsigned u = thread; u < I::places * across; u += T::block) {
      const unsigned place = T::nearest_c == 0 ? u / across : u % I::places, p = (T::nearest_c == 0 ? u % across : u / I::places) * T::vec_c;
      const unsigned inside = place % (I::high * I::across), of = place / (I::high * I::across);
      const unsigned x = T::nearest_c == 1 ? inside % I::high : inside / I::across, y = T::nearest_c == 1 ? inside / I::high : inside % I::across;
      const i64 i = i0 + (of / T::warps_n * T::rm + r) * I::high + x, j = j0 + (of % T::warps_n * T::rn + s) * I::across + y;
      if (p0 + p >= T::problems || (T::m % T::rows != 0 && i >= T::m) || (T::n % T::cols != 0 && j >= T::n)) continue;
      W run[T::vec_c];
      const W* const from = reinterpret_cast<const W*>(image + ((of * I::high + x) * I::across + y) * I::pitch) + p;
#pragma unroll
      for (int v = 0; v < T::vec_c; ++v) run[v] = from[v];
      store<T, T::vec_c>(pc + result_abreast<T>(p0 + p, i, j), run, alpha, beta);
    }
  }
}

extern "C" __global__ void __launch_bounds__(abreast_type::block, abreast_type::blocks) abreast(const __grid_constant__ abreast_args args) {
  using T = abreast_type;
  using W = typename T::C::wide;
  using number = typename T::number;
  using SA = slice_abreast<T, rows_abreast<T>>;
  using SB = slice_abreast<T, columns_abreast<T>>;
  constexpr number tiles_m = (T::m + T::rows - 1) / T::rows, tiles_n = (T::n + T::cols - 1) / T::cols;
  constexpr int slices = static_cast<int>((T::k + T::depth - 1) / T::depth);
  constexpr int ahead = T::stages - 1;
  extern __shared__ __align__(128) char shared[];
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  const number tiles = static_cast<number>(args.tiles), own = tiles > blockIdx.x ? (tiles - blockIdx.x - 1) / gridDim.x + 1 : 0;
  struct origin {
    i64 p, i, j;
  };
  const auto origin_of = [&](number turn) {
    const number tile = blockIdx.x + turn * gridDim.x, rest = tile / T::near;
    const number chunk = rest / tiles_m / tiles_n * T::near + tile % T::near;
    return origin{static_cast<i64>(chunk) * T::wide, static_cast<i64>(rest % tiles_m) * T::rows, static_cast<i64>(rest / tiles_m % tiles_n) * T::cols};
  };
  constexpr int stage = SA::bytes + SB::bytes;
  // What is read next: a slice of a tile of this block.
  number next_turn = 0;
  int next_slice = 0, next_slot = 0;
  origin next = origin_of(0);
  const auto begin = [&] {
    if (next_turn < own) {
      char* const to = shared + next_slot * stage;
      SA::begin(to, static_cast<const typename SA::X*>(args.a), next.p, next.i, static_cast<i64>(next_slice) * T::depth);
      SB::begin(to + SA::bytes, static_cast<const typename SB::X*>(args.b), next.p, next.j, static_cast<i64>(next_slice) * T::depth);
      if (++next_slice == slices) next_slice = 0, next = origin_of(++next_turn);
      if (++next_slot == T::stages) next_slot = 0;
    }
    commit_copies();
  };
  const thread_abreast<T> at(threadIdx.x);
  sums_abreast<T> sums;
#pragma unroll 1
  for (int s = 0; s < ahead; ++s) begin();
  int slot = 0;
#pragma unroll 1
  for (number turn = 0; turn < own; ++turn) {
    sums.clear();
#pragma unroll 1
    for (int slice = 0; slice < slices; ++slice) {
      wait_copies<ahead - 1>();
      __syncthreads();
      begin();
      multiply_abreast<T, SA, SB>(sums, at, shared + slot * stage, shared + slot * stage + SA::bytes);
      if (++slot == T::stages) slot = 0;
    }
    const origin o = origin_of(turn);
    typename T::C::type* const pc = static_cast<typename T::C::type*>(args.c);
    if constexpr (T::compute == 0 && T::nearest_c == 0) store_abreast<T, W>(sums, pc, o.p, o.i, o.j, alpha, beta);
    else store_staged_abreast<T, W>(sums, shared + T::stages * stage, pc, o.p, o.i, o.j, alpha, beta);
  }
}
