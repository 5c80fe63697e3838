// Poisson's equation on a deformed cube by high-order finite elements: conjugate gradients with one fused operator that
// gathers, computes with the geometry of every element and scatters; the error falls by the order of the degree.
//   example_fem_poisson [--csv]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <vector>

#include "operators.hpp"

namespace {

using namespace hex;
using ricci::labels::a;

/// The exact solution, zero on the boundary of the cube (and of its image), as a function of the cube's coordinates.
double exact(double x, double y, double z) {
  return std::sin(std::numbers::pi * x) * std::sin(2 * std::numbers::pi * y) * std::sin(std::numbers::pi * z);
}

/// Is unknown `d` on the boundary?
bool on_boundary(const mesh& grid, std::int64_t d) {
  const std::int64_t i0 = d % grid.side, j0 = d / grid.side % grid.side, k0 = d / grid.side / grid.side, last = grid.side - 1;
  return i0 == 0 || j0 == 0 || k0 == 0 || i0 == last || j0 == last || k0 == last;
}

void clear_boundary(const mesh& grid, vector& v) {
  for (std::int64_t d = 0; d < grid.unknowns; ++d)
    if (on_boundary(grid, d)) v(d) = 0;
}

double dot(vector& x, vector& y) {
  ricci::tensor<double> sum;
  sum() = x(a) * y(a);
  return sum();
}

struct outcome {
  double error;
  int iterations;
};

/// Solves grad u . grad v = f v. The right side is integrated from the exact solution's gradient, so that no second
/// derivative of the map is needed: f v = sum over points of (G grad exact) . grad v.
outcome solve(int n_side, int degree) {
  const mesh grid(n_side, degree);
  const basis b(degree, degree + 2), fine(degree, degree + 4);
  const geometry g(grid, b, false), at_fine(grid, fine, false);
  const auto B = ricci::even_odd(b.B);
  const auto D = ricci::even_odd(b.D);
  const auto& dof = grid.dof;
  vector u(grid.unknowns), residual(grid.unknowns), direction(grid.unknowns), image(grid.unknowns);

  const auto apply = diffusion(B, D, g.G, direction(dof(e, k, j, i)), [&](const auto& right) { return image(dof(e, n, m, l)).add(right); });

  // residual = A applied to the exact solution at finer points: U = exact at the points.
  const int Q = fine.Q;
  field U(grid.elements, Q, Q, Q);
  std::int64_t at = 0;
  for (std::int64_t el = 0; el < grid.elements; ++el)
    for (int t0 = 0; t0 < Q; ++t0)
      for (int s0 = 0; s0 < Q; ++s0)
        for (int r0 = 0; r0 < Q; ++r0) {
          const auto [z, y, x] = grid.cube(el, double(fine.points[t0]), double(fine.points[s0]), double(fine.points[r0]));
          U.data()[at++] = exact(x, y, z);
        }
  {
    using P3 = ricci::local<double>;
    P3 x, y, z, a0, a1, a2, q;
    const auto& G = at_fine.G;
    const auto& Df = fine.D;
    const auto& Bf = fine.B;
    ricci::fuse(x(e, t, s, r).assign(Df(r, o) * U(e, t, s, o)), y(e, t, s, r).assign(Df(s, o) * U(e, t, o, r)),
                z(e, t, s, r).assign(Df(t, o) * U(e, o, s, r)),
                a0(e, t, s, r).assign(G[0](e, t, s, r) * x(e, t, s, r) + G[3](e, t, s, r) * y(e, t, s, r) + G[4](e, t, s, r) * z(e, t, s, r)),
                a1(e, t, s, r).assign(G[3](e, t, s, r) * x(e, t, s, r) + G[1](e, t, s, r) * y(e, t, s, r) + G[5](e, t, s, r) * z(e, t, s, r)),
                a2(e, t, s, r).assign(G[4](e, t, s, r) * x(e, t, s, r) + G[5](e, t, s, r) * y(e, t, s, r) + G[2](e, t, s, r) * z(e, t, s, r)),
                q(e, t, s, r).assign(Df(o, r) * a0(e, t, s, o) + Df(o, s) * a1(e, t, o, r) + Df(o, t) * a2(e, o, s, r)),
                residual(dof(e, n, m, l)).add(Bf(t, n) * Bf(s, m) * Bf(r, l) * q(e, t, s, r)))
        .run();
  }
  clear_boundary(grid, residual);

  // Conjugate gradients.
  direction = residual;
  double now = dot(residual, residual);
  const double enough = now * 1e-24;
  int iterations = 0;
  for (; now > enough && iterations < 2000; ++iterations) {
    image.fill(0);
    apply.run();
    clear_boundary(grid, image);
    const double step = now / dot(direction, image);
    u(a) += step * direction(a);
    residual(a) -= step * image(a);
    const double next = dot(residual, residual);
    direction(a) = residual(a) + next / now * direction(a);
    now = next;
  }

  // The L2 error: interpolated to the finer points, times the volume there.
  field difference(grid.elements, Q, Q, Q);
  difference(e, t, s, r) = fine.B(t, k) * fine.B(s, j) * fine.B(r, i) * u(dof(e, k, j, i));
  for (std::int64_t x = 0; x < difference.size(); ++x) difference.data()[x] -= U.data()[x];
  ricci::tensor<double> square;
  square() = difference(e, t, s, r) * difference(e, t, s, r) * at_fine.W(e, t, s, r);
  return {std::sqrt(square()), iterations};
}

}  // namespace

int main(int count, char** arguments) {
  const bool csv = count > 1 && std::strcmp(arguments[1], "--csv") == 0;
  if (csv) std::printf("degree,elements,unknowns,error,iterations\n");
  for (int degree = 1; degree <= (csv ? 6 : 3); ++degree) {
    std::vector<int> sides = csv ? std::vector{2, 3, 4, 6, 8} : std::vector{3, 6};
    if (csv && degree <= 3) sides.push_back(12);
    double before = 0;
    for (const int side : sides) {
      const outcome o = solve(side, degree);
      if (csv) {
        std::printf("%d,%d,%d,%.6e,%d\n", degree, side, (side * degree + 1) * (side * degree + 1) * (side * degree + 1), o.error, o.iterations);
      } else if (before > 0) {
        const double order = std::log2(before / o.error);
        std::printf("degree %d: order of the error %s %d\n", degree, order > degree + 0.7 ? "at least nearly" : "less than", degree + 1);
      }
      before = o.error;
    }
  }
}
