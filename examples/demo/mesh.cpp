// A mesh of boxes over the unit cube with polynomial data on it.
#include "mesh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace demo {
namespace {

/// Coefficients of a polynomial of `degree`, different for every direction and role, signs mixed.
std::vector<real> coefficients(int degree, int which) {
  std::vector<real> c;
  for (int n = 0; n <= degree; ++n) c.push_back(real((n + which) % 3 == 1 ? -1 : 1) / (1 + (n * (which + 2)) % 5));
  return c;
}

real value(const std::vector<real>& c, real x) {
  real sum = 0;
  for (auto n = c.size(); n-- > 0;) sum = sum * x + c[n];
  return sum;
}

/// The integral over [0, 1] of the product of two polynomials.
real integral_of(const std::vector<real>& c, const std::vector<real>& d) {
  real sum = 0;
  for (std::size_t m = 0; m < c.size(); ++m)
    for (std::size_t n = 0; n < d.size(); ++n) sum += c[m] * d[n] / real(m + n + 1);
  return sum;
}

int cells_of(std::int64_t wanted, double power) {
  return std::max(1, static_cast<int>(std::pow(double(wanted), power) + 0.5));
}

/// Calls visit(first index, x, y, z values) for each run along z of the elements of one slab in x.
template <class Visit>
void for_lines(const mesh& m, int count, int cx, Visit visit) {
  for (int cy = 0; cy < m.y.cells; ++cy)
    for (int cz = 0; cz < m.z.cells; ++cz) {
      std::int64_t at = ((std::int64_t(cx) * m.y.cells + cy) * m.z.cells + cz) * count * count * count;
      for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j, at += count) visit(at, cx * count + i, cy * count + j, cz * count);
    }
}

/// to = a[x] b[y] c[z] for all elements.
void outer(const mesh& m, int count, const std::vector<real>& a, const std::vector<real>& b, const std::vector<real>& c,
           double* to) {
#pragma omp parallel for
  for (int cx = 0; cx < m.x.cells; ++cx)
    for_lines(m, count, cx, [&](std::int64_t at, int ix, int iy, int iz) {
      const real factor = a[ix] * b[iy];
      for (int k = 0; k < count; ++k) to[at + k] = static_cast<double>(factor * c[iz + k]);
    });
}

/// sum of a[x] b[y] c[z] values and the same of absolute values.
mesh::integral weighted(const mesh& m, int count, const std::vector<real>& a, const std::vector<real>& b,
                        const std::vector<real>& c, const double* values, const double* magnitudes) {
  // Summed slice by slice, in the same order for any number of threads.
  std::vector<std::pair<real, real>> slices(static_cast<std::size_t>(m.x.cells));
#pragma omp parallel for
  for (int cx = 0; cx < m.x.cells; ++cx) {
    real sum = 0, magnitude = 0;
    for_lines(m, count, cx, [&](std::int64_t at, int ix, int iy, int iz) {
      const real factor = a[ix] * b[iy];
      real line = 0, line_magnitude = 0;
      for (int k = 0; k < count; ++k) {
        line += c[iz + k] * values[at + k];
        line_magnitude += std::abs(c[iz + k]) * magnitudes[at + k];
      }
      sum += factor * line;
      magnitude += std::abs(factor) * line_magnitude;
    });
    slices[static_cast<std::size_t>(cx)] = {sum, magnitude};
  }
  real sum = 0, magnitude = 0;
  for (const auto& [x, y] : slices) sum += x, magnitude += y;
  return {0, sum, magnitude};
}

}  // namespace

direction::direction(int axis, int count, int degree) : cells(count) {
  const auto nodes = lobatto_nodes(degree);
  const auto gauss = gauss_legendre(degree + 2);
  const auto cf = coefficients(degree, axis), cg = coefficients(degree, axis + 3);
  const auto edge = [&](int cell) {  // smaller cells near zero
    const real t = real(cell) / cells;
    return t * (0.6L + 0.4L * t);
  };
  for (int cell = 0; cell < cells; ++cell) {
    const real half = (edge(cell + 1) - edge(cell)) / 2, center = (edge(cell + 1) + edge(cell)) / 2;
    for (const real w : gauss.weights) weight.push_back(w * half);
    for (const real xi : nodes) {
      f.push_back(value(cf, center + half * xi));
      g.push_back(value(cg, center + half * xi));
    }
  }
  integral_f = integral_of(cf, {1});
  integral_fg = integral_of(cf, cg);
}

mesh::mesh(int polynomial_degree, std::int64_t wanted)
    : degree(polynomial_degree),
      P(degree + 1),
      Q(degree + 2),
      x(0, cells_of(wanted, 1. / 3), degree),
      y(1, cells_of(wanted / x.cells, 0.5), degree),
      z(2, cells_of(wanted / x.cells / y.cells, 1), degree),
      elements(std::int64_t(x.cells) * y.cells * z.cells) {
  const auto exact = lagrange(lobatto_nodes(degree), gauss_legendre(Q).points);
  basis.assign(exact.begin(), exact.end());
}

void mesh::nodal_values(double* u) const { outer(*this, P, x.f, y.f, z.f, u); }

void mesh::jacobians(double* d) const { outer(*this, Q, x.weight, y.weight, z.weight, d); }

double mesh::integral::error(int roundings) const {
  const real bound = roundings * real(std::numeric_limits<double>::epsilon()) / 2 * magnitude;
  return static_cast<double>(std::abs(sum - exact) / bound);
}

mesh::integral mesh::of_points(const double* w, const double* magnitude) const {
  integral out = weighted(*this, Q, x.weight, y.weight, z.weight, w, magnitude);
  out.exact = x.integral_f * y.integral_f * z.integral_f;
  return out;
}

mesh::integral mesh::of_nodes(const double* v, const double* magnitude) const {
  integral out = weighted(*this, P, x.g, y.g, z.g, v, magnitude);
  out.exact = x.integral_fg * y.integral_fg * z.integral_fg;
  return out;
}

}  // namespace demo
