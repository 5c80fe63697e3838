// A fused operator whose geometry is computed at the points, from tensors under some of the labels: examples/fem, against
// plain loops. Whole numbers and maps of determinant 2^n: every evaluation is exact.
#include <catch2/catch.hpp>

#include <array>
#include <sstream>

#include "../../examples/fem/operators.hpp"

namespace {

using ricci::dynamic;
using cube = std::array<double, 3>;

struct problem {
  int P, Q;
  hex::matrix B, D, N;
  hex::vector dN;
  ricci::tensor<double, dynamic, dynamic, dynamic> w;
  ricci::tensor<double, dynamic, 2, 2, 2, 3> corners;
  hex::field u, v, expected;

  problem(int elements, int nodes, int points)
      : P(nodes), Q(points), B(Q, P), D(Q, Q), N(Q, 2), dN(2), w(Q, Q, Q), corners(elements), u(elements, P, P, P), v(u), expected(u) {
    for (int q = 0; q < Q; ++q) {
      for (int p = 0; p < P; ++p) B(q, p) = B(Q - 1 - q, P - 1 - p) = (3 * q + 5 * p) % 5 - 2;
      for (int r = 0; r < Q; ++r) D(q, r) = (2 * q + 3 * r) % 5 - 2, D(Q - 1 - q, Q - 1 - r) = -D(q, r);
      N(q, 0) = 1 - q, N(q, 1) = q;
    }
    if (Q % 2) D(Q / 2, Q / 2) = 0;
    dN(0) = -1, dN(1) = 1;
    int at = 0;
    for (double& x : u) x = at = (at * 5 + 3) % 7;
    for (double& x : w) x = at = (at * 7 + 2) % 11;
    for (double& x : v) x = 3;
    for (int e = 0; e < elements; ++e)
      for (int c = 0; c < 8; ++c) {
        const double x = c & 1, y = c >> 1 & 1, z = c >> 2;
        const cube one{x, y + e % 3 * x, z - e % 4 * x + e % 5 * x * y};  // of determinant 1
        const cube two{2 * x, y + e % 3 * x - 2 * x * z, z - x};
        for (int d = 0; d < 3; ++d) corners(e, c >> 2, c >> 1 & 1, c & 1, (d + e) % 3) = (e % 2 ? two : one)[d];
      }
  }

  /// J[c][d] at a point of an element.
  std::array<cube, 3> jacobian(int e, int t, int s, int r) const {
    std::array<cube, 3> J{};
    for (int c = 0; c < 3; ++c)
      for (int n = 0; n < 8; ++n) {
        const int k = n >> 2, j = n >> 1 & 1, i = n & 1;
        const double x = corners(e, k, j, i, c);
        J[c][0] += x * N(t, k) * N(s, j) * dN(i), J[c][1] += x * N(t, k) * dN(j) * N(r, i), J[c][2] += x * dN(k) * N(s, j) * N(r, i);
      }
    return J;
  }

  void expect() {
    for (int e = 0; e < u.extent(0); ++e) {
      const auto at = [&](int t, int s, int r) { return (t * Q + s) * Q + r; };
      std::vector<double> p(Q * Q * Q), h0(p), h1(p), h2(p), q(p);
      for_points([&](int t, int s, int r) {
        for (int k = 0; k < P; ++k)
          for (int j = 0; j < P; ++j)
            for (int i = 0; i < P; ++i) p[at(t, s, r)] += B(t, k) * B(s, j) * B(r, i) * u(e, k, j, i);
      });
      for_points([&](int t, int s, int r) {
        cube g{}, y{}, h{};
        for (int o = 0; o < Q; ++o) g[0] += D(r, o) * p[at(t, s, o)], g[1] += D(s, o) * p[at(t, o, r)], g[2] += D(t, o) * p[at(o, s, r)];
        const auto J = jacobian(e, t, s, r);
        std::array<cube, 3> A;
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d) {
            const int c1 = (c + 1) % 3, c2 = (c + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
            A[c][d] = J[c1][d1] * J[c2][d2] - J[c1][d2] * J[c2][d1];
          }
        const double det = J[0][0] * A[0][0] + J[0][1] * A[0][1] + J[0][2] * A[0][2];
        REQUIRE((std::abs(det) == 1 || std::abs(det) == 2));
        for (int c = 0; c < 3; ++c)
          for (int d = 0; d < 3; ++d) y[c] += A[c][d] * g[d];
        for (int d = 0; d < 3; ++d)
          for (int c = 0; c < 3; ++c) h[d] += A[c][d] * y[c];
        const double f = w(t, s, r) / det;
        h0[at(t, s, r)] = f * h[0], h1[at(t, s, r)] = f * h[1], h2[at(t, s, r)] = f * h[2];
      });
      for_points([&](int t, int s, int r) {
        for (int o = 0; o < Q; ++o) q[at(t, s, r)] += D(o, r) * h0[at(t, s, o)] + D(o, s) * h1[at(t, o, r)] + D(o, t) * h2[at(o, s, r)];
      });
      for (int k = 0; k < P; ++k)
        for (int j = 0; j < P; ++j)
          for (int i = 0; i < P; ++i) {
            double sum = 0;
            for_points([&](int t, int s, int r) { sum += B(t, k) * B(s, j) * B(r, i) * q[at(t, s, r)]; });
            expected(e, k, j, i) = 3 + sum;
          }
    }
  }

  template <class F>
  void for_points(const F& f) const {
    for (int t = 0; t < Q; ++t)
      for (int s = 0; s < Q; ++s)
        for (int r = 0; r < Q; ++r) f(t, s, r);
  }
};

/// How often a word stands in the plan's steps for blocks of eight elements.
int count_in(const std::string& plan, const std::string& word) {
  int count = 0;
  const std::size_t end = std::min(plan.find("blocks of 1 e"), plan.size());
  for (std::size_t at = plan.find(word, plan.find("blocks of 8 e")); at < end; at = plan.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("geometry at the points from tensors under some of the labels") {
  using namespace hex;
  const auto [nodes, points] = GENERATE(std::pair(2, 3), std::pair(3, 4), std::pair(4, 5), std::pair(5, 6), std::pair(2, 2));
  for (const int elements : {1, 8, 21}) {
    problem x(elements, nodes, points);
    const auto B = ricci::even_odd(x.B), D = ricci::even_odd(x.D);
    const auto put = [&](const auto& right) { return x.v(e, n, m, l).add(right); };
    auto plan = diffusion_from_corners(B, D, x.N, x.dN, x.w, x.corners, x.u(e, k, j, i), put);
    plan.run();
    x.expect();
    CAPTURE(nodes, points, elements);
    CHECK(std::equal(x.v.begin(), x.v.end(), x.expected.begin()));
    std::ostringstream text;
    text << plan;
    CAPTURE(text.str());
    if (text.str().find("matrices in halves") == std::string::npos) continue;  // other kernels
    CHECK(count_in(text.str(), "packed") == 0);     // one copy of each coordinate serves three products
    CHECK(count_in(text.str(), "       copy") <= 4);  // and one of u
  }
}
