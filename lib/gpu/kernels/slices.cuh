// Slices of a factor for tile.cuh: lines (rows of a, columns of b) of some terms, from global to shared memory.
#pragma once
#include "copies.cuh"
#include "planes.cuh"
#include "words.cuh"

/// Where element k of a line lies in shared memory.
template <bool AlongK, int Pitch>
__device__ constexpr int place_in(int line, int k) { return AlongK ? line * Pitch + k : k * Pitch + line; }

/// The same as warpgroups read them: runs of `Run` elements, 128 or 64 bytes, one of each of the `Others` lines (or terms) after the
/// other, their pieces of 16 bytes in an order of their own, by where the run lies, so that neighbouring lines' are in other banks.
template <bool AlongK, int Others, int Run>
__device__ constexpr int swizzled_place(int line, int k) {
  const int run = AlongK ? k : line, other = AlongK ? line : k, pieces = Run / 8;
  return (run / Run * Others + other) * Run + (run / 8 % pieces ^ other * pieces / 8 % pieces) * 8 + run % 8;
}
__device__ constexpr int swizzled_run(int elements) { return elements % 64 == 0 ? 64 : 32; }

/// What slice_copy is told of a, and of b.
template <class T>
struct rows_of {
  using element = typename T::A;
  static constexpr int lines = T::rows, pad = T::pad_a, vec = T::vec_a, room = T::planes_a, planes = T::scaled && room == 2 ? 1 : room;
  static constexpr bool along_k = T::a_along_k, stays = T::a_stays, swizzled = T::compute == 4, clean = T::scaled, all_lines = T::m % T::rows == 0, all_terms = T::k % T::depth == 0, is_cut = T::cut_a;
  static constexpr i64 line_step = T::row_step, term_step = T::sum_step_a;
};
template <class T>
struct columns_of {
  using element = typename T::B;
  static constexpr int lines = T::cols, pad = T::pad_b, vec = T::vec_b, room = T::planes_b, planes = T::scaled && room == 2 ? 1 : room;
  static constexpr bool along_k = T::b_along_k, stays = T::b_stays, swizzled = T::compute == 4, clean = T::scaled, all_lines = T::n % T::cols == 0, all_terms = T::k % T::depth == 0, is_cut = T::cut_b;
  static constexpr i64 line_step = T::col_step, term_step = T::sum_step_b;
};

/// Copies a slice of `Depth` terms; terms outside become zero, lines outside are anything (`clean`: zero): their sums are not stored. Elements too small for asynchronous copies wait in registers from
/// `begin` to `end`, all of a slice at once; if they are too many, `begin` is done with them piece by piece. Those that become several planes of bfloat16, one behind the other, wait too.
template <class S, int Depth, int Block>
struct slice_copy {
  using X = typename S::element::type;
  static constexpr bool in_planes = S::planes > 1;
  using Y = typename in_shared_memory<in_planes, X>::type;
  static constexpr int run = S::stays ? Depth : S::lines, other = S::stays ? S::lines : Depth;
  static constexpr int pitch = run + (S::swizzled ? 0 : S::pad), elements = other * pitch;
  static constexpr int bytes = S::vec * static_cast<int>(sizeof(X));
  static constexpr int across = (S::along_k ? Depth : S::lines) / S::vec, total = S::lines * Depth / S::vec;
  static constexpr int workers = Block > across ? Block / across * across : Block, turns = divide_up(total, workers);
  static constexpr int most_held = S::swizzled ? 16 : turns;
  static constexpr bool is_single = bytes < 4 && !in_planes, is_held = is_single && turns <= most_held;
  static constexpr int room = (S::room * elements * static_cast<int>(sizeof(Y)) + 15) / 16 * 16;  // bytes of a slice
  // Even: turn by turn a thread (of those that have whole lines or terms between them) is at the same place of other lines (or terms), or beside it on the same ones, `beside` turns for each.
  static constexpr bool even = workers % across == 0 || across % workers == 0;
  static constexpr int after = even && workers > across ? workers / across : 1, beside = even && Block < across ? across / Block : 1;
  static constexpr i64 inner_step = S::along_k ? S::term_step : S::line_step, outer_step = S::along_k ? S::line_step : S::term_step;
  static constexpr bool linear = even && outer_step != 0 && (beside == 1 || inner_step != 0);
  using waiting = neighbours<X, in_planes ? S::vec : 1>;
  waiting held[is_held || in_planes ? turns : 1];

  /// What of a slice a thread copies in a turn.
  struct piece {
    int line, k;
    bool is_there;
  };
  static __device__ piece piece_of(unsigned thread, int turn) {
    const unsigned at = even ? thread : turn * Block + thread;
    const unsigned inside = (at % across + (even ? turn % beside * Block : 0)) * S::vec, other = at / across + (even ? turn / beside * after : 0);
    const bool is_there = (workers == Block || thread < workers) && (total % workers == 0 || turn * workers + static_cast<int>(thread) < total);
    return {static_cast<int>(S::along_k ? other : inside), static_cast<int>(S::along_k ? inside : other), is_there};
  }
  static __device__ Y* place(Y* to, const piece& x) {
    if constexpr (S::swizzled) return to + swizzled_place<S::stays, other, swizzled_run(run)>(x.line, x.k);
    else return to + place_in<S::stays, pitch>(x.line, x.k);
  }

  /// line_at(line), term_at(k): offsets in memory.
  template <class LineAt, class TermAt>
  __device__ void begin(Y* to, const X* from, i64 lines_left, i64 terms_left, const LineAt& line_at, const TermAt& term_at) {
    unsigned thread = threadIdx.x;
    if constexpr (is_single) asm volatile("" : "+r"(thread));  // else offsets of all lines are kept from slice to slice, in too many registers
    const int lines = static_cast<int>(lines_left < S::lines ? lines_left : S::lines), terms = static_cast<int>(terms_left < Depth ? terms_left : Depth);
    const piece start = piece_of(thread, 0);
    const X* const first = from + (line_at(start.line) + term_at(start.k));
    const auto copy = [&](int r, waiting& to_hold, bool whole) {  // whole: every line and term is there
      const piece x = piece_of(thread, r);
      if (!x.is_there) return;
      const X* at = first;
      if constexpr (linear) at += r / beside * after * outer_step + r % beside * Block * S::vec * inner_step;
      else at = from + (line_at(x.line) + term_at(x.k));
      const bool is_line = S::all_lines || x.line < lines, is_term = S::all_terms || x.k < terms;
      if constexpr (in_planes || is_single) to_hold = is_line && is_term ? *reinterpret_cast<const waiting*>(at) : waiting{};
      else if (whole) copy_async<bytes>(place(to, x), at);
      else if (!is_line && !S::clean) return;
      else if constexpr (S::is_cut) {
        const int left = S::along_k ? terms - x.k : lines - x.line;
        copy_async_of<bytes>(place(to, x), at, is_line && is_term ? (left < S::vec ? left : S::vec) * static_cast<int>(sizeof(X)) : 0);
      }
      else if constexpr (S::clean && !S::all_lines) copy_async_or_zero<bytes>(place(to, x), at, is_line && is_term);
      else if constexpr (S::all_terms) copy_async<bytes>(place(to, x), at);
      else copy_async_or_zero<bytes>(place(to, x), at, is_term);
    };
    if constexpr (is_held || in_planes) {
#pragma unroll
      for (int r = 0; r < turns; ++r) copy(r, held[r], false);
    } else if constexpr (is_single) {
#pragma unroll 1
      for (int done = 0; done < turns; done += most_held) {
        waiting some[most_held];
#pragma unroll
        for (int r = 0; r < most_held; ++r)
          if (done + r < turns) copy(done + r, some[r], false);
#pragma unroll
        for (int r = 0; r < most_held; ++r)
          if (const piece x = piece_of(thread, done + r); done + r < turns && x.is_there) *place(to, x) = some[r].x[0];
      }
    } else if ((S::all_terms || terms == Depth) && (S::all_lines || lines == S::lines)) {
#pragma unroll 4
      for (int r = 0; r < turns; ++r) copy(r, held[0], true);
    } else {
#pragma unroll 4
      for (int r = 0; r < turns; ++r) copy(r, held[0], false);
    }
  }

  /// cut(numbers, planes)
  template <int Planes, class Cut>
  static __device__ void put_planes(Y* to, const piece& x, const waiting& from, const Cut& cut) {
    if (!x.is_there) return;
    float numbers[S::vec];
    u16 parts[Planes][S::vec];
#pragma unroll
    for (int v = 0; v < S::vec; ++v) numbers[v] = S::element::get(from.x[v]);
    cut(numbers, parts);
#pragma unroll
    for (int p = 0; p < Planes; ++p) {
      neighbours<u16, S::vec> plane;
#pragma unroll
      for (int v = 0; v < S::vec; ++v) plane.x[v] = parts[p][v];
      *reinterpret_cast<neighbours<u16, S::vec>*>(place(to, x) + p * elements) = plane;
    }
  }
  /// Times scale, in two planes of halves or in those of bfloat16.
  __device__ void end_scaled(Y* to, float scale, bool in_bfloats) const {
    if (in_bfloats) {
#pragma unroll
      for (int r = 0; r < turns; ++r)
        put_planes<S::planes>(to, piece_of(threadIdx.x, r), held[r], [&](float(&numbers)[S::vec], u16(&parts)[S::planes][S::vec]) {
#pragma unroll
          for (int v = 0; v < S::vec; ++v) numbers[v] *= scale;
          cut_in_planes(numbers, parts);
        });
    } else {
#pragma unroll
      for (int r = 0; r < turns; ++r)
        put_planes<2>(to, piece_of(threadIdx.x, r), held[r], [&](const float(&numbers)[S::vec], u16(&parts)[2][S::vec]) { cut_in_halves(numbers, scale, parts); });
    }
  }
  template <class Each>
  __device__ void for_held(const Each& each) const {
#pragma unroll
    for (int r = 0; r < turns; ++r)
      if (piece_of(threadIdx.x, r).is_there)
#pragma unroll
        for (int v = 0; v < S::vec; ++v) each(S::element::get(held[r].x[v]));
  }
  __device__ float largest() const {
    float most = 0;
    for_held([&](float x) { most = fmaxf(most, fabsf(x)); });
    return most;
  }
  __device__ bool is_outside(float scale) const {
    bool outside = false;
    for_held([&](float x) { outside = outside || is_outside_of_halves(x * scale); });
    return outside;
  }

  __device__ void end(Y* to) const {
    if constexpr (in_planes) {
#pragma unroll
      for (int r = 0; r < turns; ++r)
        put_planes<S::planes>(to, piece_of(threadIdx.x, r), held[r], [](const float(&numbers)[S::vec], u16(&parts)[S::planes][S::vec]) { cut_in_planes(numbers, parts); });
    } else if constexpr (is_held) {
#pragma unroll
      for (int r = 0; r < turns; ++r)
        if (const piece x = piece_of(threadIdx.x, r); x.is_there) *place(to, x) = held[r].x[0];
    }
  }
};
