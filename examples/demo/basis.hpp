// Gauss-Legendre rules, Gauss-Lobatto-Legendre nodes and the Lagrange basis on them, computed in long double.
#pragma once

#include <vector>

namespace demo {

using real = long double;

/// Points and weights on [-1, 1].
struct rule {
  std::vector<real> points, weights;
};

/// Exact for polynomials up to degree 2 count - 1. Newton's method on the Legendre polynomial of degree `count`.
rule gauss_legendre(int count);

/// -1, the zeros of P'_degree, 1: degree + 1 nodes in increasing order. Needs degree >= 1.
std::vector<real> lobatto_nodes(int degree);

/// B(q, i) = value of the Lagrange polynomial of node i at point q; row-major.
std::vector<real> lagrange(const std::vector<real>& nodes, const std::vector<real>& points);

}  // namespace demo
