// Products of a thread's rows and columns in shared memory, by multiply-adds. Neighbours there are read at once: terms, if lines lie
// along k, whose distance is a multiple of four banks; else neighbouring lines, of which a thread has a run.
#pragma once
#include "small_product.cuh"

/// Terms of a line that one load takes: lines begin at multiples of that.
template <class X, bool AlongK, int Pitch, int Depth>
__device__ constexpr int run_of_terms() {
  int run = 1;
  while (AlongK && 2 * run * static_cast<int>(sizeof(X)) <= 16 && Pitch % (2 * run) == 0 && Depth >= 2 * run) run *= 2;
  return run;
}

/// Lines that one load takes of a thread's `Count`, if neighbours are those.
template <class X, bool AlongK, int Pitch, int Count>
__device__ constexpr int run_of_lines() {
  int run = 1;
  while (!AlongK && 2 * run * static_cast<int>(sizeof(X)) <= 16 && Pitch % (2 * run) == 0 && Count % (2 * run) == 0) run *= 2;
  return run;
}

/// A thread's x-th line: runs of `Run` lie `Step` runs apart, so that neighbouring threads have neighbouring runs.
template <int Run, int Step>
__device__ constexpr int line_of(int thread, int x) { return (thread + x / Run * Step) * Run + x % Run; }

/// How a thread reads one factor: `lines` of its Count lines at once, or `terms`; one of the two is 1.
template <class X, int Count, int Step, int Lines, int Terms>
struct run_reader {
  static constexpr int count = Count, lines = Lines, terms = Terms;
  using element = X;
  using run = pack<X, Lines * Terms>;

  /// Of lines from `line` on, a run of them, `Depth` terms from k on.
  template <int Depth, class Place>
  static __device__ void read(run (&to)[Depth / Terms], const X* from, int thread, int line, int k, const Place& place) {
#pragma unroll
    for (int c = 0; c < Depth; c += Terms) to[c / Terms] = *reinterpret_cast<const run*>(from + place(line_of<Lines, Step>(thread, line), k + c));
  }
  template <int N>
  static __device__ X at(const run (&x)[N], int line, int term) { return x[term / Terms].x[line % Lines + term % Terms]; }
};

/// acc[r * columns + s] += a[row r, k] b[column s, k] for `Depth` terms from k on. take_a, take_b: what is multiplied.
template <class Rows, class Columns, int Depth, class W, class InA, class InB, class TakeA, class TakeB>
__device__ inline void multiply_terms(W* acc, const typename Rows::element* a, const typename Columns::element* b, int i, int j, int k, const InA& in_a, const InB& in_b, const TakeA& take_a,
                                      const TakeB& take_b) {
  typename Columns::run y[Columns::count / Columns::lines][Depth / Columns::terms];
#pragma unroll
  for (int s = 0; s < Columns::count; s += Columns::lines) Columns::template read<Depth>(y[s / Columns::lines], b, j, s, k, in_b);
#pragma unroll
  for (int first = 0; first < Rows::count; first += Rows::lines) {
    typename Rows::run x[Depth / Rows::terms];
    Rows::template read<Depth>(x, a, i, first, k, in_a);
#pragma unroll
    for (int c = 0; c < Depth; ++c)
#pragma unroll
      for (int r = first; r < first + Rows::lines; ++r)
#pragma unroll
        for (int s = 0; s < Columns::count; ++s)
          multiply_add(acc[r * Columns::count + s], take_a(Rows::at(x, r, c)), take_b(Columns::at(y[s / Columns::lines], s, c)));
  }
}

/// The same for all `Depth` terms, of rows and columns in runs of LinesA and LinesB.
template <int Rm, int Rn, int StepM, int StepN, int LinesA, int LinesB, bool AlongA, bool AlongB, int PitchA, int PitchB, int Depth, class W, class XA, class XB, class InA, class InB, class TakeA,
          class TakeB>
__device__ inline void multiply_runs(W* acc, const XA* a, const XB* b, int i, int j, const InA& in_a, const InB& in_b, const TakeA& take_a, const TakeB& take_b) {
  constexpr int run_a = run_of_terms<XA, AlongA, PitchA, Depth>(), run_b = run_of_terms<XB, AlongB, PitchB, Depth>(), run = run_a > run_b ? run_a : run_b;
  constexpr int whole = Depth / run * run;
#pragma unroll
  for (int k = 0; k < whole; k += run)
    multiply_terms<run_reader<XA, Rm, StepM, LinesA, run_a>, run_reader<XB, Rn, StepN, LinesB, run_b>, run>(acc, a, b, i, j, k, in_a, in_b, take_a, take_b);
#pragma unroll
  for (int k = whole; k < Depth; ++k)
    multiply_terms<run_reader<XA, Rm, StepM, LinesA, 1>, run_reader<XB, Rn, StepN, LinesB, 1>, 1>(acc, a, b, i, j, k, in_a, in_b, take_a, take_b);
}
