// The innermost loops of the moves; compiled once for each instruction set.
#include "nests-inl.hpp"

namespace ricci::kernels::RICCI_ISA {
namespace {

/// One row; a stride that is known is better code.
template <bool Reads, class S, class D, class From, class To>
RICCI_INLINE void row(const S* __restrict s, D* __restrict d, std::int64_t n, From src, To dst, compute<D> beta) {
  std::int64_t i = 0;
#ifdef __F16C__
  constexpr bool halves = !Reads && ((same<S, f16> && same<D, float>) || (same<S, float> && same<D, f16>));
  if constexpr (halves && same<From, constant<1>> && same<To, constant<1>>)
    for (; i + convert_width <= n; i += convert_width) convert_block(s + i, d + i);
#endif
  for (; i < n; ++i) move_one<Reads>(s[i * src], d[i * dst], beta);
}

}  // namespace

template <bool Reads, class S, class D> void move_nest(stretch x, stretch y, const S* s, D* d, compute<D> beta) {
  const auto all_rows = [&](auto src, auto dst) RICCI_INLINE_LAMBDA {
    for (std::int64_t j = 0; j < y.extent; ++j) row<Reads>(s + j * y.src, d + j * y.dst, x.extent, src, dst, beta);
  };
  constexpr constant<1> one;
  if (x.src == 1 && x.dst == 1) return all_rows(one, one);
  if (x.dst == 1) return all_rows(x.src, one);
  all_rows(x.src, x.dst);
}

#define RICCI_NEST(S, D, from, to)                                                 \
  template void move_nest<true, S, D>(stretch, stretch, const S*, D*, compute<D>); \
  template void move_nest<false, S, D>(stretch, stretch, const S*, D*, compute<D>);
RICCI_MOVES(RICCI_NEST)
#undef RICCI_NEST

#define RICCI_NEST(n) template void move_nest<false, bundle<n>, bundle<n>>(stretch, stretch, const bundle<n>*, bundle<n>*, bundle<n>);
RICCI_NEST(2)
RICCI_NEST(4)
RICCI_NEST(8)
RICCI_NEST(16)
#undef RICCI_NEST

}  // namespace ricci::kernels::RICCI_ISA
