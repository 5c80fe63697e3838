// A mesh of boxes over the unit cube with polynomial data on it, so that every result has an exact integral.
#pragma once

#include <cstdint>
#include <vector>

#include "basis.hpp"

namespace demo {

/// One direction: graded cells, nodes and points in each of them, and two polynomials of the full degree.
struct direction {
  int cells;
  std::vector<real> weight;  // at [cell * Q + q]: weight of the point times half the cell's width
  std::vector<real> f, g;    // at [cell * P + i]: the polynomials at the nodes
  real integral_f, integral_fg;

  direction(int axis, int cells, int degree);
};

/// Tensor products of three directions. Elements are numbered with z fastest; so are nodes and points.
struct mesh {
  int degree, P, Q;
  direction x, y, z;
  std::int64_t elements;
  std::vector<double> basis;  // B(q, i), Q x P, row-major

  /// About `wanted` elements, nodes for polynomials of `degree`, degree + 2 Gauss points in each direction.
  mesh(int degree, std::int64_t wanted);

  /// The product f(x) f(y) f(z) at all nodes; three different polynomials.
  void nodal_values(double* u) const;
  /// Weight times volume at all points.
  void jacobians(double* d) const;

  /// A quadrature sum beside its exact value.
  struct integral {
    real exact = 0, sum = 0, magnitude = 0;
    /// |sum - exact| in units of `roundings` half eps magnitude.
    double error(int roundings) const;
  };
  /// Values of f f f at all points: their weighted sum is the integral of f f f.
  integral of_points(const double* w, const double* magnitude) const;
  /// The mass operator applied to f f f: its dot product with g g g is the integral of both.
  integral of_nodes(const double* v, const double* magnitude) const;
};

}  // namespace demo
