// Loops over elements and the table of degrees, for a transform of one element written with Eigen.
#pragma once

#include <Eigen/Core>

#include "eigen_peers.hpp"

namespace demo::peers {

template <int Rows, int Cols>
using matrix = Eigen::Matrix<double, Rows, Cols, Cols == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
template <int Rows, int Cols>
using map = Eigen::Map<matrix<Rows, Cols>>;
template <int Rows, int Cols>
using const_map = Eigen::Map<const matrix<Rows, Cols>>;

/// c = a * b with all sizes known. Eigen's unpacked product won against its blocked one at every degree of the demo.
template <class A, class B, class C>
void product(const A& a, const B& b, C&& c) {
  c.noalias() = a.lazyProduct(b);
}

/// A matrix from memory with these strides, once a call and not measured: of its own copies of a known size Eigen makes a template for
/// each element, which were most of the time that compilers took.
template <int Rows, int Cols>
matrix<Rows, Cols> loaded(const double* from, int row, int col) {
  matrix<Rows, Cols> m;
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Cols; ++j) m(i, j) = from[i * row + j * col];
  return m;
}

/// Transform<To, From> applies its matrix in each direction of one element: From^3 values to To^3 values.
template <template <int, int> class Transform, int P>
void interpolate_elements(std::int64_t elements, const double* b, const double* u, double* w) {
  constexpr int Q = P + 1;
  Transform<Q, P> up(loaded<Q, P>(b, P, 1));
  for (std::int64_t e = 0; e < elements; ++e) up(u + e * P * P * P, w + e * Q * Q * Q);
}

template <template <int, int> class Transform, int P>
void mass_elements(std::int64_t elements, const double* b, const double* d, const double* u, double* v) {
  constexpr int Q = P + 1, points = Q * Q * Q;
  Transform<Q, P> up(loaded<Q, P>(b, P, 1));
  Transform<P, Q> down(loaded<P, Q>(b, 1, P));
  alignas(64) double values[points];
  for (std::int64_t e = 0; e < elements; ++e) {
    up(u + e * P * P * P, values);
    map<points, 1>(values).array() *= const_map<points, 1>(d + e * points).array();
    down(values, v + e * P * P * P);
  }
}

template <template <int, int> class Transform>
struct fem {
  using interpolate_function = void (*)(std::int64_t, const double*, const double*, double*);
  using mass_function = void (*)(std::int64_t, const double*, const double*, const double*, double*);
  static constexpr interpolate_function interpolate[] = {
      interpolate_elements<Transform, 2>, interpolate_elements<Transform, 3>, interpolate_elements<Transform, 4>,
      interpolate_elements<Transform, 5>, interpolate_elements<Transform, 6>, interpolate_elements<Transform, 7>,
      interpolate_elements<Transform, 8>, interpolate_elements<Transform, 9>};
  static constexpr mass_function mass[] = {mass_elements<Transform, 2>, mass_elements<Transform, 3>,
                                           mass_elements<Transform, 4>, mass_elements<Transform, 5>,
                                           mass_elements<Transform, 6>, mass_elements<Transform, 7>,
                                           mass_elements<Transform, 8>, mass_elements<Transform, 9>};
};

}  // namespace demo::peers
