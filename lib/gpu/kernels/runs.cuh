// Products of a thread's rows and columns in shared memory, by multiply-adds: terms that are neighbours there are read at once.
// Neighbours along k would otherwise be read one by one from lines whose distance is a multiple of four banks.
#pragma once
#include "small_product.cuh"

/// Terms of a line that one load takes: lines begin at multiples of that.
template <class X, bool AlongK, int Pitch, int Depth>
__device__ constexpr int run_of_terms() {
  int run = 1;
  while (AlongK && 2 * run * static_cast<int>(sizeof(X)) <= 16 && Pitch % (2 * run) == 0 && Depth >= 2 * run) run *= 2;
  return run;
}

template <int Run, int Count, class X, class Place>
__device__ inline void read_terms(pack<X, Run> (&to)[Count / Run], const X* from, int line, int k, const Place& place) {
#pragma unroll
  for (int c = 0; c < Count; c += Run) to[c / Run] = *reinterpret_cast<const pack<X, Run>*>(from + place(line, k + c));
}

/// acc[r * Rn + s] += a[i + r * StepM, k] b[j + s * StepN, k] for `Count` terms from k on. take_a, take_b: what is multiplied.
template <int Rm, int Rn, int StepM, int StepN, int RunA, int RunB, int Count, class W, class XA, class XB, class InA, class InB, class TakeA, class TakeB>
__device__ inline void multiply_terms(W* acc, const XA* a, const XB* b, int i, int j, int k, const InA& in_a, const InB& in_b, const TakeA& take_a, const TakeB& take_b) {
  pack<XB, RunB> y[Rn][Count / RunB];
#pragma unroll
  for (int s = 0; s < Rn; ++s) read_terms<RunB, Count>(y[s], b, j + s * StepN, k, in_b);
#pragma unroll
  for (int r = 0; r < Rm; ++r) {
    pack<XA, RunA> x[Count / RunA];
    read_terms<RunA, Count>(x, a, i + r * StepM, k, in_a);
#pragma unroll
    for (int c = 0; c < Count; ++c)
#pragma unroll
      for (int s = 0; s < Rn; ++s) multiply_add(acc[r * Rn + s], take_a(x[c / RunA].x[c % RunA]), take_b(y[s][c / RunB].x[c % RunB]));
  }
}

/// The same for all `Depth` terms.
template <int Rm, int Rn, int StepM, int StepN, bool AlongA, bool AlongB, int PitchA, int PitchB, int Depth, class W, class XA, class XB, class InA, class InB, class TakeA, class TakeB>
__device__ inline void multiply_runs(W* acc, const XA* a, const XB* b, int i, int j, const InA& in_a, const InB& in_b, const TakeA& take_a, const TakeB& take_b) {
  constexpr int run_a = run_of_terms<XA, AlongA, PitchA, Depth>(), run_b = run_of_terms<XB, AlongB, PitchB, Depth>(), run = run_a > run_b ? run_a : run_b;
  constexpr int whole = Depth / run * run;
#pragma unroll
  for (int k = 0; k < whole; k += run) multiply_terms<Rm, Rn, StepM, StepN, run_a, run_b, run>(acc, a, b, i, j, k, in_a, in_b, take_a, take_b);
#pragma unroll
  for (int k = whole; k < Depth; ++k) multiply_terms<Rm, Rn, StepM, StepN, 1, 1, 1>(acc, a, b, i, j, k, in_a, in_b, take_a, take_b);
}
