// Hexahedra of degree p: bases, a deformed cube of n x n x n elements with its unknowns, and geometry at points.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include <ricci/ricci.hpp>

#include "../demo/basis.hpp"

namespace hex {

using matrix = ricci::tensor<double, ricci::dynamic, ricci::dynamic>;
using vector = ricci::tensor<double, ricci::dynamic>;
using field = ricci::tensor<double, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>;
using indices = ricci::tensor<std::int32_t, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>;

/// d/dx of the Lagrange polynomials of `nodes` at `points`, row-major.
inline std::vector<demo::real> derivatives(const std::vector<demo::real>& nodes, const std::vector<demo::real>& points) {
  std::vector<demo::real> values;
  for (const demo::real x : points)
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      demo::real sum = 0;
      for (std::size_t j = 0; j < nodes.size(); ++j) {
        if (j == i) continue;
        demo::real value = 1 / (nodes[i] - nodes[j]);
        for (std::size_t l = 0; l < nodes.size(); ++l)
          if (l != i && l != j) value *= (x - nodes[l]) / (nodes[i] - nodes[l]);
        sum += value;
      }
      values.push_back(sum);
    }
  return values;
}

/// B[q,i] from P nodes (Gauss-Lobatto) to Q points, D[q,r] the derivative on the points, N[q,c] from two
/// corners, dN[c] its slope.
struct basis {
  int P, Q;
  std::vector<demo::real> nodes, points, weights;
  matrix B, D, N;
  vector w, dN;

  /// Gauss points, or the nodes themselves.
  basis(int degree, int point_count, bool collocated = false)
      : P(degree + 1), Q(point_count), nodes(demo::lobatto_nodes(degree)), B(Q, P), D(Q, Q), N(Q, 2), w(Q), dN(2) {
    if (collocated) {
      points = nodes;
      for (const demo::real x : points) weights.push_back(2 / (demo::real(degree) * P * legendre(degree, x) * legendre(degree, x)));
    } else {
      const demo::rule rule = demo::gauss_legendre(Q);
      points = rule.points, weights = rule.weights;
    }
    copy(demo::lagrange(nodes, points), B), copy(derivatives(points, points), D), copy(weights, w);
    copy(demo::lagrange({-1, 1}, points), N), copy(derivatives({-1, 1}, {0}), dN);
  }

  template <class Tensor>
  static void copy(const std::vector<demo::real>& from, Tensor& to) {
    for (std::size_t x = 0; x < from.size(); ++x) to.data()[x] = double(from[x]);
  }
  static demo::real legendre(int n, demo::real x) {
    demo::real before = 1, p = n == 0 ? 1 : x;
    for (int i = 2; i <= n; ++i) {
      const demo::real next = ((2 * i - 1) * x * p - (i - 1) * before) / i;
      before = p, p = next;
    }
    return p;
  }
};

/// The unit cube, deformed smoothly, cut into n x n x n elements.
struct mesh {
  int n, degree;
  std::int64_t elements, side, unknowns;
  indices dof;  // dof(e, k, j, i)

  mesh(int n_in, int p)
      : n(n_in), degree(p), elements(std::int64_t(n) * n * n), side(std::int64_t(n) * p + 1), unknowns(side * side * side),
        dof(elements, p + 1, p + 1, p + 1) {
    std::int32_t* to = dof.data();
    for (std::int64_t e = 0; e < elements; ++e)
      for (int k = 0; k <= p; ++k)
        for (int j = 0; j <= p; ++j)
          for (int i = 0; i <= p; ++i)
            *to++ = std::int32_t(((e / (n * n) * p + k) * side + e / n % n * p + j) * side + e % n * p + i);
  }

  /// Where a point of the cube goes.
  static std::array<double, 3> place(double x, double y, double z) {
    const double bump = 0.06 * std::sin(std::numbers::pi * x) * std::sin(std::numbers::pi * y) * std::sin(std::numbers::pi * z);
    return {x + bump, y - bump, z + 0.5 * bump};
  }
  /// (z, y, x) of reference coordinates in element e.
  std::array<double, 3> cube(std::int64_t e, double t, double s, double r) const {
    return {(double(e / (n * n)) + (t + 1) / 2) / n, (double(e / n % n) + (s + 1) / 2) / n, (double(e % n) + (r + 1) / 2) / n};
  }
  /// The corners of every element: C(e, k, j, i, component).
  ricci::tensor<double, ricci::dynamic, 2, 2, 2, 3> corners() const {
    ricci::tensor<double, ricci::dynamic, 2, 2, 2, 3> C(elements);
    double* to = C.data();
    for (std::int64_t e = 0; e < elements; ++e)
      for (int c = 0; c < 8; ++c) {
        const auto [z, y, x] = cube(e, c & 4 ? 1 : -1, c & 2 ? 1 : -1, c & 1 ? 1 : -1);
        for (const double y1 : place(x, y, z)) *to++ = y1;
      }
    return C;
  }
};

/// W = w det J and G = w det J J^-1 J^-T (six numbers) at the points. trilinear: of the element between the corners.
struct geometry {
  field W;
  std::array<field, 6> G;  // 00, 11, 22, 01, 02, 12 with axes r (fastest in x), s, t

  geometry(const mesh& m, const basis& b, bool trilinear) : W(m.elements, b.Q, b.Q, b.Q), G{W, W, W, W, W, W} {
    const auto corners = m.corners();
    std::int64_t at = 0;
    for (std::int64_t e = 0; e < m.elements; ++e)
      for (int t = 0; t < b.Q; ++t)
        for (int s = 0; s < b.Q; ++s)
          for (int r = 0; r < b.Q; ++r, ++at) {
            double J[3][3];
            if (trilinear) jacobian(corners.data() + e * 24, b, t, s, r, J);
            else jacobian(m, e, double(b.points[t]), double(b.points[s]), double(b.points[r]), J);
            put(at, double(b.weights[t] * b.weights[s] * b.weights[r]), J);
          }
  }

 private:
  /// J[c][d] = d x_c / d reference_d, by the corners.
  static void jacobian(const double* C, const basis& b, int t, int s, int r, double (&J)[3][3]) {
    for (int c = 0; c < 3; ++c) {
      J[c][0] = J[c][1] = J[c][2] = 0;
      for (int n = 0; n < 8; ++n) {
        const int k = n >> 2, j = n >> 1 & 1, i = n & 1;
        J[c][0] += C[n * 3 + c] * b.dN(i) * b.N(s, j) * b.N(t, k);
        J[c][1] += C[n * 3 + c] * b.N(r, i) * b.dN(j) * b.N(t, k);
        J[c][2] += C[n * 3 + c] * b.N(r, i) * b.N(s, j) * b.dN(k);
      }
    }
  }
  /// The same of the smooth map.
  static void jacobian(const mesh& m, std::int64_t e, double t, double s, double r, double (&J)[3][3]) {
    const auto [z, y, x] = m.cube(e, t, s, r);
    const double pi = std::numbers::pi, h = 0.5 / m.n;
    const double sx = std::sin(pi * x), sy = std::sin(pi * y), sz = std::sin(pi * z);
    const double slope[3] = {0.06 * pi * std::cos(pi * x) * sy * sz, 0.06 * pi * sx * std::cos(pi * y) * sz,
                             0.06 * pi * sx * sy * std::cos(pi * z)};
    const double share[3] = {1, -1, 0.5};
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) J[c][d] = h * ((c == d) + share[c] * slope[d]);
  }
  void put(std::int64_t at, double weight, const double (&J)[3][3]) {
    double A[3][3];  // A[c][d] = cofactor: J^-1[d][c] det
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d)
        A[c][d] = J[(c + 1) % 3][(d + 1) % 3] * J[(c + 2) % 3][(d + 2) % 3] - J[(c + 1) % 3][(d + 2) % 3] * J[(c + 2) % 3][(d + 1) % 3];
    const double det = J[0][0] * A[0][0] + J[0][1] * A[0][1] + J[0][2] * A[0][2];
    W.data()[at] = weight * det;
    const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int g = 0; g < 6; ++g) {
      double sum = 0;
      for (int c = 0; c < 3; ++c) sum += A[c][pairs[g][0]] * A[c][pairs[g][1]];
      G[g].data()[at] = weight * sum / det;
    }
  }
};

}  // namespace hex
