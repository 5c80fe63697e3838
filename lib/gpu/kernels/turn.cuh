// c = beta c + alpha b for tensors that lie in any order: tiles go through shared memory, elements of 16 bits in words of two
// (turn_pairs.cuh), others one by one (turn_elements.cuh).
//
// A tile is rows of neighbours of b, and rows of neighbours of c. Blocks may stay: what is the same in all tiles, where words come from
// and go to, is worked out once, and words of the next tile are asked for before those of this one leave. The text before this header
// defines turn_type:
//   E, beta, conj_b, block, blocks, stays
//   words_b, rows_b, words_c, rows_c   words of a row, rows of a tile; a word has two elements of 16 bits, or one
//   tile, offset                       where a tile begins (b, c), how much of it there is, whether that is all and b has words around it (whole);
//                                      a type for offsets in it
//   step_b, room_b, step_c, room_c     from row to row, in the tensor and in shared memory; step < 0: rows are of several axes
//   next                               in shared memory, from an element of c to the next; 0: inner() says
//   number, tile_of(at)                the number of a tile
//   low_b(t), high_b(t), low_c(t), high_c(t)   which elements of rows there are, counted with those before
//   row_b(row, from, place), row_c(row, to, place)   where a row begins, in the tensor and in shared memory
//   has_b(t, row), has_c(t, row)       whether there is such a row
//   inner(n)                           where the n-th element of a row of c lies from its first, in shared memory
// and for elements one by one:
//   line                               elements of a line of the second cache, if rows of c begin anywhere in one; else 0
// and for words of two elements:
//   shifts_b, shifts_c                 rows may begin in the middle of a word
//   cut_c                              words of c may reach past a row, also in tiles that are whole
//   before                             elements of a row of c that are read before those of the tile
#pragma once
#include "turn_elements.cuh"
#include "turn_pairs.cuh"

struct turn_args {
  const void* b;
  void* c;
  i64 count;  // tiles
  double alpha[2], beta[2];
};

/// How elements of so many bytes come and leave.
template <class T, int Bytes>
struct words_of {
  using b = elements_of_b<T>;
  using c = elements_of_c<T>;
};
template <class T>
struct words_of<T, 2> {
  using b = words_of_b<T>;
  using c = words_of_c<T>;
};

extern "C" __global__ void __launch_bounds__(turn_type::block, turn_type::blocks) turn(const __grid_constant__ turn_args args) {
  using T = turn_type;
  extern __shared__ uint4 pool[];
  using X = typename T::E::type;
  using W = typename T::E::wide;
  using words = words_of<T, sizeof(X)>;
  X* const shared = reinterpret_cast<X*>(pool);
  const W alpha = coefficient(static_cast<W*>(nullptr), args.alpha), beta = coefficient(static_cast<W*>(nullptr), args.beta);
  const bool moves = words::c::moves(alpha);  // bits as they are
  const X* const all_b = static_cast<const X*>(args.b);
  X* const all_c = static_cast<X*>(args.c);
  const typename words::b in;
  const typename words::c out;
  typename words::b::word asked[words::b::read::rounds];
  typename T::number at = blockIdx.x;
  const typename T::number count = static_cast<typename T::number>(args.count);
  typename T::tile t = T::tile_of(at);
  bool is_asked = false;
#pragma unroll 1
  while (at < count) {
    const X* const b = all_b + t.b;
    const int shift = in.shift_of(b);
    if (!t.whole) in.ask_part(asked, b, t);
    else if (!is_asked) in.ask(asked, b);
    in.keep(shared, asked, shift);
    __syncthreads();
    at += gridDim.x;
    typename T::tile next{};
    if constexpr (T::stays) {
      next = T::tile_of(at);
      is_asked = at < count && next.whole;
      if (is_asked) in.ask(asked, all_b + next.b);
    }
    if (t.whole) out.template leave<true>(all_c + t.c, shared, shift, t, alpha, beta, moves);
    else out.template leave<false>(all_c + t.c, shared, shift, t, alpha, beta, moves);
    if constexpr (!T::stays) {
      if (at >= count) return;
      next = T::tile_of(at);
    }
    __syncthreads();
    t = next;
  }
}
