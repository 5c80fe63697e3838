// High-order finite elements: interpolation to points in one statement, and the mass operator.
#include <iostream>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

int main() {
  const int elements = 100;
  constexpr int P = 3, Q = 3;  // nodes and points in each direction
  ricci::tensor<double, Q, P> B;
  // Quadratic Lagrange basis on the nodes -1, 0, 1, at the points -1, 0, 1/2.
  const double points[Q] = {-1, 0, 0.5};
  for (int y = 0; y < Q; ++y) {
    const double z = points[y];
    B(y, 0) = z * (z - 1) / 2, B(y, 1) = 1 - z * z, B(y, 2) = z * (z + 1) / 2;
  }

  // u = x y^2 at the nodes of every element.
  ricci::tensor<double, ricci::dynamic, P, P, P> nodal(elements), result(elements);
  ricci::tensor<double, ricci::dynamic, Q, Q, Q> at_points(elements), D(elements);
  for (int n0 = 0; n0 < elements; ++n0)
    for (int x0 = 0; x0 < P; ++x0)
      for (int y0 = 0; y0 < P; ++y0)
        for (int z0 = 0; z0 < P; ++z0) nodal(n0, x0, y0, z0) = (x0 - 1) * (y0 - 1) * (y0 - 1);
  D.fill(2);

  // One statement: ricci does one direction after the other, element by element, with the rest in cache.
  at_points(e, q, r, s) = B(q, i) * B(r, j) * B(s, k) * nodal(e, i, j, k);
  std::cout << at_points(7, 2, 2, 0) << ' ' << at_points(99, 0, 2, 1) << '\n';

  // Interpolate, scale, go back: one kernel, and g and h never see main memory.
  ricci::local<double> g, h;
  const auto mass = ricci::fuse(g(e, q, r, s).assign(B(q, i) * B(r, j) * B(s, k) * nodal(e, i, j, k)),
                                h(e, q, r, s).assign(D(e, q, r, s) * g(e, q, r, s)),
                                result(e, a, b, c).assign(B(q, a) * B(r, b) * B(s, c) * h(e, q, r, s)));
  mass.run();

  // The same as one statement of eight factors. With these numbers both are exact.
  ricci::tensor<double, ricci::dynamic, P, P, P> other(elements);
  other(e, a, b, c) = B(q, a) * B(r, b) * B(s, c) * D(e, q, r, s) * B(q, i) * B(r, j) * B(s, k) * nodal(e, i, j, k);
  std::cout << (other == result ? "equal, " : "different, ") << result(99, 2, 2, 1) << '\n';
}
