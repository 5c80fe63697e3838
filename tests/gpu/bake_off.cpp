// The bake-off operators in index notation, lowered but not run: away from the internal headers, whose names differ.
#include "bake_off.hpp"

#include "../../examples/fem/operators.hpp"

namespace ricci::test {
namespace {

using hex::e, hex::i, hex::j, hex::k, hex::l, hex::m, hex::n, hex::r, hex::s, hex::t;

struct lower_only {
  template <class... S>
  program operator()(const S&... statements) const {
    ricci::detail::frame<ricci::detail::source<S...>> f{};
    ricci::detail::sink to = f.writer();
    (statements.put(to), ...);
    return ricci::detail::lower(f.call());
  }
};

}  // namespace

program bake_off(int kernel, int degree) {
  const bool collocated = kernel == 5;
  const hex::basis b(degree, degree + (collocated ? 1 : 2), collocated);
  hex::field u(9, b.P, b.P, b.P), v(u), W(9, b.Q, b.Q, b.Q);
  const std::array<hex::field, 6> G{W, W, W, W, W, W};
  const auto B = even_odd(b.B);
  const auto D = even_odd(b.D);
  const auto put = [&](const auto& right) { return v(e, n, m, l).assign(right); };
  const auto put_here = [&](const auto& right) { return v(e, t, s, r).assign(right); };
  if (kernel == 1) return hex::mass(B, W, u(e, k, j, i), put, lower_only{});
  if (kernel == 3) return hex::diffusion(B, D, G, u(e, k, j, i), put, lower_only{});
  return hex::collocated_diffusion(D, G, u(e, t, s, r), put_here, lower_only{});
}

}  // namespace ricci::test
