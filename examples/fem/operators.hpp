// The CEED bake-off operators as fused programs.
//   U[e,t,s,r] = B[t,k] B[s,j] B[r,i] u[e,k,j,i];  mass: v = B B B (W U);  diffusion: g = grad U, h = G g, v = B B B div h
// u and v are anything that may stand in a statement: fields, looked-up global vectors, interleaved tensors.
#pragma once

#include "hexahedra.hpp"

namespace hex {

using ricci::labels::e;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::labels::l;
using ricci::labels::m;
using ricci::labels::n;
using ricci::labels::o;
using ricci::labels::r;
using ricci::labels::s;
using ricci::labels::t;

/// What is made of an operator's statements: a fused program.
struct fused {
  template <class... S>
  auto operator()(const S&... statements) const { return ricci::fuse(statements...); }
};

/// v(... i j k ...) += mass of u(...), written by `put`: v.assign or v.add of an expression over e, n, m, l.
/// u stands under (e, k, j, i), the result under (e, n, m, l).
template <class Basis, class Weights, class U, class Put, class Make = fused>
auto mass(const Basis& B, const Weights& W, const U& u, const Put& put, const Make& make = {}) {
  ricci::local<double> p("p"), q("q");
  return make(p(e, t, s, r).assign(B(t, k) * B(s, j) * B(r, i) * u), q(e, t, s, r).assign(W(e, t, s, r) * p(e, t, s, r)),
                     put(B(t, n) * B(s, m) * B(r, l) * q(e, t, s, r)));
}

/// Diffusion with stored geometry. G: six fields as in geometry::G.
template <class Basis, class Derivative, class Six, class U, class Put, class Make = fused>
auto diffusion(const Basis& B, const Derivative& D, const Six& G, const U& u, const Put& put, const Make& make = {}) {
  ricci::local<double> p("p"), x("x"), y("y"), z("z"), a("a"), b("b"), c("c"), q("q");
  return make(
      p(e, t, s, r).assign(B(t, k) * B(s, j) * B(r, i) * u),
      x(e, t, s, r).assign(D(r, o) * p(e, t, s, o)), y(e, t, s, r).assign(D(s, o) * p(e, t, o, r)),
      z(e, t, s, r).assign(D(t, o) * p(e, o, s, r)),
      a(e, t, s, r).assign(G[0](e, t, s, r) * x(e, t, s, r) + G[3](e, t, s, r) * y(e, t, s, r) + G[4](e, t, s, r) * z(e, t, s, r)),
      b(e, t, s, r).assign(G[3](e, t, s, r) * x(e, t, s, r) + G[1](e, t, s, r) * y(e, t, s, r) + G[5](e, t, s, r) * z(e, t, s, r)),
      c(e, t, s, r).assign(G[4](e, t, s, r) * x(e, t, s, r) + G[5](e, t, s, r) * y(e, t, s, r) + G[2](e, t, s, r) * z(e, t, s, r)),
      q(e, t, s, r).assign(D(o, r) * a(e, t, s, o) + D(o, s) * b(e, t, o, r) + D(o, t) * c(e, o, s, r)),
      put(B(t, n) * B(s, m) * B(r, l) * q(e, t, s, r)));
}

/// Diffusion at the nodes: B is the identity. u stands under (e, t, s, r), and so does the result.
template <class Derivative, class Six, class U, class Put, class Make = fused>
auto collocated_diffusion(const Derivative& D, const Six& G, const U& u, const Put& put, const Make& make = {}) {
  ricci::local<double> p("p"), x("x"), y("y"), z("z"), a("a"), b("b"), c("c");
  return make(
      p(e, t, s, r).assign(u),
      x(e, t, s, r).assign(D(r, o) * p(e, t, s, o)), y(e, t, s, r).assign(D(s, o) * p(e, t, o, r)),
      z(e, t, s, r).assign(D(t, o) * p(e, o, s, r)),
      a(e, t, s, r).assign(G[0](e, t, s, r) * x(e, t, s, r) + G[3](e, t, s, r) * y(e, t, s, r) + G[4](e, t, s, r) * z(e, t, s, r)),
      b(e, t, s, r).assign(G[3](e, t, s, r) * x(e, t, s, r) + G[1](e, t, s, r) * y(e, t, s, r) + G[5](e, t, s, r) * z(e, t, s, r)),
      c(e, t, s, r).assign(G[4](e, t, s, r) * x(e, t, s, r) + G[5](e, t, s, r) * y(e, t, s, r) + G[2](e, t, s, r) * z(e, t, s, r)),
      put(D(o, r) * a(e, t, s, o) + D(o, s) * b(e, t, o, r) + D(o, t) * c(e, o, s, r)));
}

/// The vector versions: three components c of u(e, c, k, j, i) share the geometry.
template <class Basis, class Weights, class Tensor, class Make = fused>
auto vector_mass(const Basis& B, const Weights& W, Tensor& u, Tensor& v, const Make& make = {}) {
  using ricci::labels::c;
  ricci::local<double> p("p"), q("q");
  return make(p(e, c, t, s, r).assign(B(t, k) * B(s, j) * B(r, i) * u(e, c, k, j, i)),
              q(e, c, t, s, r).assign(W(e, t, s, r) * p(e, c, t, s, r)),
              v(e, c, n, m, l).assign(B(t, n) * B(s, m) * B(r, l) * q(e, c, t, s, r)));
}

namespace detail {

/// One row of G times the gradient.
template <class Row, class X, class Y, class Z>
auto row(const Row& G, const X& x, const Y& y, const Z& z) {
  using ricci::labels::c;
  return (*G[0])(e, t, s, r) * x(e, c, t, s, r) + (*G[1])(e, t, s, r) * y(e, c, t, s, r) + (*G[2])(e, t, s, r) * z(e, c, t, s, r);
}

template <class Six>
struct rows {
  std::array<const typename Six::value_type*, 3> a, b, c;
  explicit rows(const Six& G) : a{&G[0], &G[3], &G[4]}, b{&G[3], &G[1], &G[5]}, c{&G[4], &G[5], &G[2]} {}
};

}  // namespace detail

template <class Basis, class Derivative, class Six, class Tensor, class Make = fused>
auto vector_diffusion(const Basis& B, const Derivative& D, const Six& six, Tensor& u, Tensor& v, const Make& make = {}) {
  using ricci::labels::c;
  const detail::rows<Six> G(six);
  ricci::local<double> p("p"), x("x"), y("y"), z("z"), f("f"), g("g"), h("h"), q("q");
  return make(
      p(e, c, t, s, r).assign(B(t, k) * B(s, j) * B(r, i) * u(e, c, k, j, i)), x(e, c, t, s, r).assign(D(r, o) * p(e, c, t, s, o)),
      y(e, c, t, s, r).assign(D(s, o) * p(e, c, t, o, r)), z(e, c, t, s, r).assign(D(t, o) * p(e, c, o, s, r)),
      f(e, c, t, s, r).assign(detail::row(G.a, x, y, z)), g(e, c, t, s, r).assign(detail::row(G.b, x, y, z)),
      h(e, c, t, s, r).assign(detail::row(G.c, x, y, z)),
      q(e, c, t, s, r).assign(D(o, r) * f(e, c, t, s, o) + D(o, s) * g(e, c, t, o, r) + D(o, t) * h(e, c, o, s, r)),
      v(e, c, n, m, l).assign(B(t, n) * B(s, m) * B(r, l) * q(e, c, t, s, r)));
}

template <class Derivative, class Six, class Tensor, class Make = fused>
auto collocated_vector_diffusion(const Derivative& D, const Six& six, Tensor& u, Tensor& v, const Make& make = {}) {
  using ricci::labels::c;
  const detail::rows<Six> G(six);
  ricci::local<double> x("x"), y("y"), z("z"), f("f"), g("g"), h("h");
  return make(
      x(e, c, t, s, r).assign(D(r, o) * u(e, c, t, s, o)), y(e, c, t, s, r).assign(D(s, o) * u(e, c, t, o, r)),
      z(e, c, t, s, r).assign(D(t, o) * u(e, c, o, s, r)), f(e, c, t, s, r).assign(detail::row(G.a, x, y, z)),
      g(e, c, t, s, r).assign(detail::row(G.b, x, y, z)), h(e, c, t, s, r).assign(detail::row(G.c, x, y, z)),
      v(e, c, t, s, r).assign(D(o, r) * f(e, c, t, s, o) + D(o, s) * g(e, c, t, o, r) + D(o, t) * h(e, c, o, s, r)));
}

/// Diffusion with the geometry computed at every point from the corners C(e, k, j, i, component): derivatives R, S, T of
/// the trilinear map along r, s and t, their cofactors A, weights w(t, s, r), and
/// h_d = (w / det) sum_c A[c][d] sum_b A[c][b] g_b. N(q, corner) is linear and dN(corner) its slope, so no derivative
/// depends on the label that it is taken along.
template <class Basis, class Derivative, class Map, class Slope, class Weights, class Corners, class U, class Put, class Make = fused>
auto diffusion_from_corners(const Basis& B, const Derivative& D, const Map& N, const Slope& dN, const Weights& w,
                            const Corners& C, const U& u, const Put& put, const Make& make = {}) {
  using namespace ricci::literals;
  using ricci::labels::a;
  using ricci::labels::b;
  using ricci::labels::c;
  ricci::local<double> p("p"), x("x"), y("y"), z("z"), q("q"), f("f"), det("det");
  ricci::local<double> R0("R0"), R1("R1"), R2("R2"), S0("S0"), S1("S1"), S2("S2"), T0("T0"), T1("T1"), T2("T2");
  ricci::local<double> A00("A00"), A01("A01"), A02("A02"), A10("A10"), A11("A11"), A12("A12"), A20("A20"), A21("A21"), A22("A22");
  ricci::local<double> y0("y0"), y1("y1"), y2("y2"), s0("s0"), s1("s1"), s2("s2"), h0("h0"), h1("h1"), h2("h2");
  const auto at = [](const ricci::local<double>& v) { return v(e, t, s, r); };
  const auto along_r = [](const ricci::local<double>& v) { return v(e, t, s); };
  const auto along_s = [](const ricci::local<double>& v) { return v(e, t, r); };
  const auto along_t = [](const ricci::local<double>& v) { return v(e, s, r); };
  const auto dot = [&](const ricci::local<double>& to, const auto& a1, const auto& b1, const auto& a2, const auto& b2, const auto& a3,
                       const auto& b3) { return at(to).assign(at(a1) * at(b1) + at(a2) * at(b2) + at(a3) * at(b3)); };
  const auto scaled = [&](const ricci::local<double>& to, const auto& sum) { return at(to).assign(at(f) * at(sum)); };
  const auto slope_r = [&](const ricci::local<double>& to, auto d) { return along_r(to).assign(N(t, a) * N(s, b) * dN(c) * C(e, a, b, c, d)); };
  const auto slope_s = [&](const ricci::local<double>& to, auto d) { return along_s(to).assign(N(t, a) * dN(b) * N(r, c) * C(e, a, b, c, d)); };
  const auto slope_t = [&](const ricci::local<double>& to, auto d) { return along_t(to).assign(dN(a) * N(s, b) * N(r, c) * C(e, a, b, c, d)); };
  // The cofactors of the derivatives along r, s and t of one coordinate, from those of the other two.
  const auto minor_r = [&](const ricci::local<double>& to, const auto& Sp, const auto& Tp, const auto& Sm, const auto& Tm) {
    return at(to).assign(along_s(Sp) * along_t(Tm) - along_t(Tp) * along_s(Sm));
  };
  const auto minor_s = [&](const ricci::local<double>& to, const auto& Tp, const auto& Rp, const auto& Tm, const auto& Rm) {
    return at(to).assign(along_t(Tp) * along_r(Rm) - along_r(Rp) * along_t(Tm));
  };
  const auto minor_t = [&](const ricci::local<double>& to, const auto& Rp, const auto& Sp, const auto& Rm, const auto& Sm) {
    return at(to).assign(along_r(Rp) * along_s(Sm) - along_s(Sp) * along_r(Rm));
  };
  return make(
      slope_r(R0, 0_c), slope_s(S0, 0_c), slope_t(T0, 0_c), slope_r(R1, 1_c), slope_s(S1, 1_c), slope_t(T1, 1_c),
      slope_r(R2, 2_c), slope_s(S2, 2_c), slope_t(T2, 2_c),
      minor_r(A00, S1, T1, S2, T2), minor_s(A01, T1, R1, T2, R2), minor_t(A02, R1, S1, R2, S2),
      minor_r(A10, S2, T2, S0, T0), minor_s(A11, T2, R2, T0, R0), minor_t(A12, R2, S2, R0, S0),
      minor_r(A20, S0, T0, S1, T1), minor_s(A21, T0, R0, T1, R1), minor_t(A22, R0, S0, R1, S1),
      at(det).assign(along_r(R0) * at(A00) + along_r(R1) * at(A10) + along_r(R2) * at(A20)), at(f).assign(w(t, s, r) / at(det)),
      p(e, t, s, r).assign(B(t, k) * B(s, j) * B(r, i) * u),
      x(e, t, s, r).assign(D(r, o) * p(e, t, s, o)), y(e, t, s, r).assign(D(s, o) * p(e, t, o, r)),
      z(e, t, s, r).assign(D(t, o) * p(e, o, s, r)),
      dot(y0, A00, x, A01, y, A02, z), dot(y1, A10, x, A11, y, A12, z), dot(y2, A20, x, A21, y, A22, z),
      dot(s0, A00, y0, A10, y1, A20, y2), dot(s1, A01, y0, A11, y1, A21, y2), dot(s2, A02, y0, A12, y1, A22, y2),
      scaled(h0, s0), scaled(h1, s1), scaled(h2, s2),
      q(e, t, s, r).assign(D(o, r) * h0(e, t, s, o) + D(o, s) * h1(e, t, o, r) + D(o, t) * h2(e, o, s, r)),
      put(B(t, n) * B(s, m) * B(r, l) * q(e, t, s, r)));
}

}  // namespace hex
