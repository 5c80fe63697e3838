// Gauss-Legendre rules, Gauss-Lobatto-Legendre nodes and the Lagrange basis on them.
#include "basis.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace demo {
namespace {

struct legendre_value {
  real p, derivative;
};

/// P_n(x) by the three-term recurrence, and P'_n(x) = n (x P_n - P_{n-1}) / (x^2 - 1); |x| < 1.
legendre_value legendre(int n, real x) {
  real before = 1, p = x;
  for (int i = 2; i <= n; ++i) {
    const real next = ((2 * i - 1) * x * p - (i - 1) * before) / i;
    before = p;
    p = next;
  }
  return {p, n * (x * p - before) / (x * x - 1)};
}

/// Newton's method; the starting points used here are close enough for quadratic convergence.
template <class Step>
real newton(real x, Step step) {
  for (int i = 0; i < 50; ++i) {
    const real dx = step(x);
    x -= dx;
    if (std::abs(dx) <= 2 * std::numeric_limits<real>::epsilon()) break;
  }
  return x;
}

}  // namespace

rule gauss_legendre(int count) {
  rule r{std::vector<real>(count), std::vector<real>(count)};
  for (int i = 0; i < count; ++i) {
    const real start = -std::cos(std::numbers::pi_v<real> * (i + 0.75L) / (count + 0.5L));
    const real x = newton(start, [&](real y) {
      const auto at = legendre(count, y);
      return at.p / at.derivative;
    });
    const real slope = legendre(count, x).derivative;
    r.points[i] = x;
    r.weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
  return r;
}

std::vector<real> lobatto_nodes(int degree) {
  std::vector<real> nodes(degree + 1);
  nodes.front() = -1;
  nodes.back() = 1;
  for (int i = 1; i < degree; ++i) {
    const real start = -std::cos(std::numbers::pi_v<real> * i / degree);
    nodes[i] = newton(start, [&](real x) {  // Legendre's equation gives the second derivative
      const auto at = legendre(degree, x);
      const real second = (2 * x * at.derivative - degree * (degree + 1) * at.p) / (1 - x * x);
      return at.derivative / second;
    });
  }
  return nodes;
}

std::vector<real> lagrange(const std::vector<real>& nodes, const std::vector<real>& points) {
  std::vector<real> values;
  values.reserve(nodes.size() * points.size());
  for (const real x : points)
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      real value = 1;
      for (std::size_t j = 0; j < nodes.size(); ++j)
        if (j != i) value *= (x - nodes[j]) / (nodes[i] - nodes[j]);
      values.push_back(value);
    }
  return values;
}

}  // namespace demo
