// c[z,i,j] = beta c[z,i,j] + alpha sum_k a[z,i,k] b[z,k,j]   for short sums: a block keeps lines of one factor and goes along the other's.
//
// All k terms of `rows` rows of a stay in shared memory while tiles of `cols` columns of b pass, or, if it keeps b, all terms of
// its columns while tiles of rows of a pass. So what stays is read once for many tiles of c, and c goes straight into the
// accumulators (times beta) and straight back: the columns of a tile that neighbouring threads have are neighbours in c. Indices
// are flattened labels; the text before this header defines panel_type: E (of all three), conj_a, conj_b, beta, m, n, k, rows,
// cols, keeps_b, depth (k, or the next multiple of what the tensor cores sum), turns (tiles that a block goes along), slots (of
// what passes: two if its next tile is read during a product), teams of `team` threads that take turns by turns, dealt, offset (a
// type), block, blocks, rm, rn, warps_m, warps_n, compute, a_along_k, b_along_k (in shared memory), turns_a, turns_b (lines along k in memory lie across it there),
// vec_a, vec_b, vec_c, block_b (neighbours of b are so far apart, in blocks; 0), pad_a, pad_b and the offsets
//   row(i, a, c), col(j, b, c), sum(k, a, b), batch(z, a, b, c)
// of which col() says whether there is such a column: runs of c that do not fill whole sectors are padded.
#pragma once
#include "copies.cuh"
#include "runs.cuh"

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

/// The line of a thread's number, of lines whose neighbours in memory are `Block` apart, in blocks of Block x Block: a warp reads sectors.
template <int Block>
__device__ constexpr int line_in_block(int at) {
  if constexpr (Block == 0) return at;
  else return at / (Block * Block) * (Block * Block) + at % Block * Block + at / Block % Block;
}

/// Copies lines (rows of a, columns of b), all their terms; what is not there becomes zero.
template <class X, int Lines, int Depth, int Pitch, int Threads, bool AlongK, int Vec, int Block = 0>
__device__ inline void load_lines(int thread, X* to, const X* from, const offset* line_at, const offset* sum_at) {
  constexpr int bytes = Vec * static_cast<int>(sizeof(X));
  constexpr int across = (AlongK ? Depth : Lines) / Vec, total = Lines * Depth / Vec;
  if constexpr (panel_type::compute == 0 && !AlongK && Threads % across == 0 && Depth % (Threads / across) == 0) {
    // A thread has the same lines of several terms.
    constexpr int beside = Threads / across;
    const int line = line_in_block<Block>(thread % across * Vec), k = thread / across;
    X* const near = to + panel_place<AlongK, Pitch>(line, k);
    const offset x = line_at[line];
#pragma unroll
    for (int n = 0; n < Depth / beside; ++n) {
      if (x != outside) copy_async<bytes>(near + n * beside * Pitch, from + (x + sum_at[k + n * beside]));
      else *reinterpret_cast<typename word<bytes>::type*>(near + n * beside * Pitch) = {};
    }
  } else {
#pragma unroll 4
    for (int at = thread; at < total; at += Threads) {
      const int line = AlongK ? at / across : line_in_block<Block>(at % across * Vec), k = AlongK ? at % across * Vec : at / across;
      X* const near = to + panel_place<AlongK, Pitch>(line, k);
      const offset x = line_at[line], y = sum_at[k];
      if (x != outside && y != outside) copy_async<bytes>(near, from + (x + y));
      else *reinterpret_cast<typename word<bytes>::type*>(near) = {};
    }
  }
}

/// The same, element by element, of lines along k that lie across it in shared memory: a warp reads a sector of each of several lines,
/// whose elements are in banks of their own there.
template <class X, int Lines, int Depth, int Pitch, int Threads>
__device__ inline void turn_lines(int thread, X* to, const X* from, const offset* line_at, const offset* sum_at) {
  constexpr int near = 32 / static_cast<int>(sizeof(X)), beside = 32 / near, along = divide_up(Depth, near), step = Threads / 32 * beside;
  const int term = thread % near;
  offset at[along];
#pragma unroll
  for (int x = 0; x < along; ++x) at[x] = x * near + term < Depth ? sum_at[x * near + term] : outside;
#pragma unroll 2
  for (int line = thread / 32 * beside + thread / near % beside; line < Lines; line += step) {
    const offset there = line_at[line];
#pragma unroll
    for (int x = 0; x < along; ++x) {
      if (Depth % near != 0 && at[x] == outside) continue;
      X* const near_by = to + panel_place<false, Pitch>(line, x * near + term);
      if (there != outside) copy_async<static_cast<int>(sizeof(X))>(near_by, from + (there + at[x]));
      else *reinterpret_cast<typename word<static_cast<int>(sizeof(X))>::type*>(near_by) = {};
    }
  }
}

/// Rows of a, and columns of b.
template <class T, int Threads, class X>
__device__ inline void load_rows(int thread, X* to, const X* from, const offset* line_at, const offset* sum_at) {
  if constexpr (T::turns_a) turn_lines<X, T::rows, T::depth, T::rows + T::pad_a, Threads>(thread, to, from, line_at, sum_at);
  else load_lines<X, T::rows, T::depth, (T::a_along_k ? T::depth : T::rows) + T::pad_a, Threads, T::a_along_k, T::vec_a>(thread, to, from, line_at, sum_at);
}
template <class T, int Threads, class X>
__device__ inline void load_columns(int thread, X* to, const X* from, const offset* line_at, const offset* sum_at) {
  if constexpr (T::turns_b) turn_lines<X, T::cols, T::depth, T::cols + T::pad_b, Threads>(thread, to, from, line_at, sum_at);
  else load_lines<X, T::cols, T::depth, (T::b_along_k ? T::depth : T::cols) + T::pad_b, Threads, T::b_along_k, T::vec_b, T::cols % (T::block_b * T::block_b + (T::block_b == 0)) == 0 ? T::block_b : 0>(thread, to, from, line_at, sum_at);
}

/// A thread's number in its team.
__device__ inline int team_thread() { return panel_type::teams == 1 ? static_cast<int>(threadIdx.x) : static_cast<int>(threadIdx.x) % panel_type::team; }

/// The threads of a team wait for each other. A barrier is named by a constant: else the hardware sets all sixteen aside.
template <int Team = 0>
__device__ inline void meet() {
  if constexpr (panel_type::teams == 1) {
    __syncthreads();
  } else if (Team + 1 == panel_type::teams || static_cast<int>(threadIdx.x) / panel_type::team == Team) {
    asm volatile("bar.sync %0, %1;" ::"n"(Team + 1), "n"(panel_type::team) : "memory");
  } else if constexpr (Team + 1 < panel_type::teams) {
    meet<Team + 1>();
  }
}

/// Which elements of a tile are a thread's: `down` rows and `across` columns.
template <class T>
struct panel_share {
  using X = typename T::E::wide;
  static constexpr bool cores = T::compute == 1;
  static constexpr int down = cores ? 2 * T::rm : T::rm, across = cores ? 2 * T::rn : T::rn;
  static constexpr int threads_n = cores ? 1 : T::cols / T::rn, threads_m = cores ? 1 : T::rows / T::rm;
  /// Two by two threads are neighbours, where sides allow: a read of 16 bytes that every second thread has in common takes three quarters.
  static constexpr bool in_squares = !cores && threads_n % 2 == 0 && threads_m % 2 == 0;
  /// Neighbouring rows and columns that a thread reads at once; columns are neighbours in c too.
  static constexpr int row_run = run_of_lines<X, T::a_along_k, T::rows + T::pad_a, T::rm>();
  static constexpr int most_cols = run_of_lines<X, T::b_along_k, T::cols + T::pad_b, T::rn>(), col_run = cores ? 1 : smaller(most_cols, T::vec_c);
  static __device__ int thread_row() { return in_squares ? team_thread() / 4 / (threads_n / 2) * 2 + team_thread() / 2 % 2 : team_thread() / threads_n; }
  static __device__ int thread_col() { return in_squares ? team_thread() / 4 % (threads_n / 2) * 2 + team_thread() % 2 : team_thread() % threads_n; }
  /// Of the tensor cores' fragments: columns are the tall side, so that eight neighbouring threads have eight neighbours.
  static __device__ int row(int r) {
    const int thread = team_thread();
    if constexpr (cores) return (thread / 32 / T::warps_n * T::rm + r / 2) * 8 + thread % 4 * 2 + r % 2;
    else return line_of<row_run, threads_m>(thread_row(), r);
  }
  static __device__ int col(int s) {
    const int thread = team_thread();
    if constexpr (cores) return (thread / 32 % T::warps_n * T::rn + s / 2) * 16 + s % 2 * 8 + thread % 32 / 4;
    else return line_of<col_run, threads_n>(thread_col(), s);
  }
  static constexpr __device__ int at(int r, int s) { return cores ? (r / 2 * T::rn + s / 2) * 4 + s % 2 * 2 + r % 2 : r * across + s; }
};

/// acc += a b, over some terms, by single threads: from a thread's first row and column on. Fresh: acc = a b.
template <class T, int PitchA, int PitchB, int Terms, bool Fresh, class X>
__device__ inline void multiply_terms_of(X* acc, const X* a, const X* b) {
  using share = panel_share<T>;
#pragma unroll
  for (int k = 0; k < Terms; ++k) {
    X x[T::rm], y[T::rn];
#pragma unroll
    for (int r = 0; r < T::rm; r += share::row_run) {
      const auto run = *reinterpret_cast<const pack<X, share::row_run>*>(a + panel_place<T::a_along_k, PitchA>(r * share::threads_m, k));
#pragma unroll
      for (int u = 0; u < share::row_run; ++u) x[r + u] = conj_if<T::keeps_b && T::conj_a>(run.x[u]);
    }
#pragma unroll
    for (int s = 0; s < T::rn; s += share::col_run) {
      const auto run = *reinterpret_cast<const pack<X, share::col_run>*>(b + panel_place<T::b_along_k, PitchB>(s * share::threads_n, k));
#pragma unroll
      for (int u = 0; u < share::col_run; ++u) y[s + u] = conj_if<!T::keeps_b && T::conj_b>(run.x[u]);
    }
#pragma unroll
    for (int s = 0; s < T::rn; ++s)
#pragma unroll
      for (int r = 0; r < T::rm; ++r) {
        if (Fresh && k == 0) acc[r * T::rn + s] = product_of(x[r], y[s]);
        else multiply_add(acc[r * T::rn + s], x[r], y[s]);
      }
  }
}

/// acc += a b, over all terms; by single threads, if c is not read, acc = a b.
template <class T, int PitchA, int PitchB, class X>
__device__ inline void multiply_panel(X* acc, const X* a, const X* b) {
  const auto in_a = [](int i, int k) { return panel_place<T::a_along_k, PitchA>(i, k); };
  const auto in_b = [](int j, int k) { return panel_place<T::b_along_k, PitchB>(j, k); };
  using share = panel_share<T>;
  if constexpr (share::cores) {
    const int lane = team_thread() % 32, warp = team_thread() / 32, quad = lane % 4, line = lane / 4;
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
    // Pointers that go along with the terms: reads have constant distances from them.
    const X *pa = a + in_a(share::row(0), 0), *pb = b + in_b(share::col(0), 0);
    constexpr int unroll = smaller(T::unroll, T::depth), rest = T::depth % unroll;
    const auto go_along = [&] { pa += in_a(0, unroll), pb += in_b(0, unroll); };
    if constexpr (!T::beta) multiply_terms_of<T, PitchA, PitchB, unroll, true>(acc, pa, pb), go_along();
#pragma unroll 1
    for (int k = T::beta ? 0 : 1; k < T::depth / unroll; ++k) multiply_terms_of<T, PitchA, PitchB, unroll, false>(acc, pa, pb), go_along();
    if constexpr (rest > 0) multiply_terms_of<T, PitchA, PitchB, rest, false>(acc, pa, pb);
  }
}

/// visit(r, s, offset in c) for each run of elements of the tile that are this thread's and are there.
template <class T, class Visit>
__device__ inline void for_own(const offset* row_c, const offset* col_c, const Visit& visit) {
  using share = panel_share<T>;
  offset col[share::across];
#pragma unroll
  for (int s = 0; s < share::across; s += share::col_run) col[s] = col_c[share::col(s)];
#pragma unroll
  for (int r = 0; r < share::down; ++r) {
    const offset row = row_c[share::row(r)];
#pragma unroll
    for (int s = 0; s < share::across; s += share::col_run)
      if ((T::m % T::rows == 0 || row != outside) && (T::whole || col[s] != outside)) visit(r, s, row + col[s]);
  }
}

/// Offsets of `Lines` rows (in a and in c) or columns (in b and in c) from `first` on. The rows of a tensor core's tile are dealt
/// out so that neighbouring threads have neighbours.
template <class T, bool OfB, int Lines, int Threads>
__device__ inline void find_lines(int thread, offset* table, i64 first) {
  for (int x = thread; x < Lines; x += Threads) {
    const i64 at = first + (!OfB && T::dealt ? x / 8 * 8 + x % 8 / 2 + x % 2 * 4 : x);
    i64 factor = 0, c = 0;
    bool there = at < (OfB ? T::n : T::m);
    if constexpr (OfB) there = there && T::col(at, factor, c);
    else if (there) T::row(at, factor, c);
    table[x] = there ? static_cast<offset>(factor) : outside, table[Lines + x] = there ? static_cast<offset>(c) : outside;
  }
}

extern "C" __global__ void __launch_bounds__(panel_type::block, panel_type::blocks) panel(const __grid_constant__ panel_args args) {
  using T = panel_type;
  using X = typename T::E::wide;
  using share = panel_share<T>;
  constexpr bool b_stays = T::keeps_b;
  constexpr int pitch_a = (T::a_along_k ? T::depth : T::rows) + T::pad_a, pitch_b = (T::b_along_k ? T::depth : T::cols) + T::pad_b;
  constexpr int a_bytes = ((T::a_along_k ? T::rows : T::depth) * pitch_a * static_cast<int>(sizeof(X)) + 15) / 16 * 16;
  constexpr int b_bytes = ((T::b_along_k ? T::cols : T::depth) * pitch_b * static_cast<int>(sizeof(X)) + 15) / 16 * 16;
  constexpr int kept = b_stays ? T::cols : T::rows, kept_bytes = b_stays ? b_bytes : a_bytes;
  constexpr int passing = b_stays ? T::rows : T::cols, passing_bytes = b_stays ? a_bytes : b_bytes;
  constexpr i64 panels = ((b_stays ? T::n : T::m) + kept - 1) / kept, tiles = ((b_stays ? T::m : T::n) + passing - 1) / passing, ways = (tiles + T::turns - 1) / T::turns;
  extern __shared__ __align__(16) char shared[];
  const int thread = team_thread(), team = T::teams == 1 ? 0 : static_cast<int>(threadIdx.x) / T::team;
  X* const stays = reinterpret_cast<X*>(shared);
  const auto passes = [&](int turn) { return reinterpret_cast<X*>(shared + kept_bytes + (team * T::slots + turn / T::teams % T::slots) * passing_bytes); };
  offset* const sum_a = reinterpret_cast<offset*>(shared + kept_bytes + T::teams * T::slots * passing_bytes), *const sum_b = sum_a + T::depth;
  offset* const own = sum_b + T::depth, *const others = own + 2 * kept + team * (6 * passing);  // of the kept lines; of three tiles: in the factor, in c
  const X alpha = coefficient(static_cast<X*>(nullptr), args.alpha), beta = coefficient(static_cast<X*>(nullptr), args.beta);
  for (i64 part = blockIdx.x; part < args.parts; part += gridDim.x) {
    // Blocks at work on one problem take turns by turns, so that what they touch lies together; the tensor cores' only along rows of a.
    constexpr bool alternate = b_stays || !share::cores;
    const i64 way = part / panels % ways, first = alternate ? way : way * T::turns, step = alternate ? ways : 1;
    const int turns = static_cast<int>(alternate ? (tiles - way + ways - 1) / ways : tiles - first < T::turns ? tiles - first : T::turns);
    i64 oa = 0, ob = 0, oc = 0;
    T::batch(part / panels / ways, oa, ob, oc);
    const X* const pa = static_cast<const X*>(args.a) + oa;
    const X* const pb = static_cast<const X*>(args.b) + ob;
    X* const pc = static_cast<X*>(args.c) + oc;
    const auto table = [&](int turn) { return others + turn / T::teams % 3 * (2 * passing); };
    const auto find = [&](int turn) { find_lines<T, !b_stays, passing, T::team>(thread, table(turn), (first + turn * step) * passing); };
    if (part != blockIdx.x) __syncthreads();
    find_lines<T, b_stays, kept, T::block>(threadIdx.x, own, part % panels * kept);
    for (int x = threadIdx.x; x < T::depth; x += T::block) {
      i64 a = 0, b = 0;
      if (x < T::k) T::sum(x, a, b);
      sum_a[x] = x < T::k ? static_cast<offset>(a) : outside, sum_b[x] = x < T::k ? static_cast<offset>(b) : outside;
    }
    if (team < turns) find(team);
    if (team + T::teams < turns) find(team + T::teams);
    __syncthreads();
    if constexpr (b_stays) load_columns<T, T::block>(threadIdx.x, stays, pb, own, sum_b);
    else load_rows<T, T::block>(threadIdx.x, stays, pa, own, sum_a);
    commit_copies();  // by every team, also one without a turn
    const auto load = [&](int turn) {
      if constexpr (b_stays) load_rows<T, T::team>(thread, passes(turn), pa, table(turn), sum_a);
      else load_columns<T, T::team>(thread, passes(turn), pb, table(turn), sum_b);
      commit_copies();
    };
    const auto row_c = [&](int turn) { return (b_stays ? table(turn) : own) + T::rows; };
    const auto col_c = [&](int turn) { return (b_stays ? own : table(turn)) + T::cols; };
    X acc[share::down * share::across];
    const auto read = [&](int turn) {
      if constexpr (T::beta || share::cores)
#pragma unroll
        for (X& x : acc) x = zero_of(static_cast<X*>(nullptr));
      if constexpr (T::beta)
        for_own<T>(row_c(turn), col_c(turn), [&](int r, int s, offset at) {
          const auto run = *reinterpret_cast<const pack<X, share::col_run>*>(pc + at);
#pragma unroll
          for (int u = 0; u < share::col_run; ++u) acc[share::at(r, s + u)] = run.x[u];
        });
    };
    const auto begin = [&] {
      if constexpr (T::beta)
#pragma unroll
        for (X& x : acc) x = product_of(beta, x);
    };
    // Where a and c lie in the same sectors, c's reads have just brought what is copied of a.
    if (team < turns) {
      if constexpr (!b_stays) load(team);
      read(team);
      if constexpr (b_stays) load(team);
      begin();
    }
    wait_copies<0>();
    __syncthreads();
    // alpha belongs to what stays.
    constexpr bool conj = b_stays ? T::conj_b : T::conj_a;
    if (conj || args.alpha[0] != 1 || args.alpha[1] != 0) {
      for (int x = threadIdx.x; x < kept_bytes / static_cast<int>(sizeof(X)); x += T::block) stays[x] = product_of(alpha, conj_if<conj>(stays[x]));
      __syncthreads();
    }
#pragma unroll 1
    for (int turn = team; turn < turns; turn += T::teams) {
      const int after = turn + T::teams;
      const bool more = after < turns;
      if (T::slots == 2 && more) load(after);
      multiply_panel<T, pitch_a, pitch_b>(acc, b_stays ? passes(turn) : stays, b_stays ? stays : passes(turn));
      if constexpr (T::slots == 1) {
        meet();
        if (!b_stays && more) load(after);
      }
      for_own<T>(row_c(turn), col_c(turn), [&](int r, int s, offset at) {
        pack<X, share::col_run> run;
#pragma unroll
        for (int u = 0; u < share::col_run; ++u) run.x[u] = acc[share::at(r, s + u)];
        *reinterpret_cast<pack<X, share::col_run>*>(pc + at) = run;
      });
      if (!more) break;
      read(after);
      if constexpr (T::slots == 1 && b_stays) load(after);
      begin();
      if (after + T::teams < turns) find(after + T::teams);
      wait_copies<0>();
      meet();
    }
  }
}
