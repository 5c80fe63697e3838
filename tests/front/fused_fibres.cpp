// Chains in which pointwise statements stand between products with even and odd matrices, stored side by side and one
// element after the other, against plain loops in long double.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <vector>

#include "helpers.hpp"
#include "reduced.hpp"
#include "uniform.hpp"

using ricci::dynamic;
using ricci::interleaved;
using ricci::tensor;
using ricci::labels::e;
using ricci::labels::g;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::l;
using ricci::labels::m;
using ricci::labels::r;
using ricci::labels::s;

namespace {

using number = long double;

/// Q by P with the symmetry that is declared, its values as numbers.
template <class T> struct symmetric {
  tensor<T, dynamic, dynamic> m;
  symmetric(int Q, int P, int parity, std::mt19937& rng) : m(Q, P) {
    const ricci::test::uniform<double> value{-1, 1};
    for (int q = 0; q < Q; ++q)
      for (int n = 0; n < P; ++n) {
        const bool same = 2 * q == Q - 1 && 2 * n == P - 1;
        m(q, n) = same && parity < 0 ? T(0) : static_cast<T>(value(rng));
        if (!same) m(Q - 1 - q, P - 1 - n) = static_cast<T>(parity) * m(q, n);
      }
  }
};

struct sizes {
  int elements, P, Q;
};

/// The operators on one element, and with absolute values the size of what is summed.
template <class T> struct element {
  const symmetric<T>&B, &D;
  int P, Q;
  bool size;

  number of(number x) const { return size ? std::abs(x) : x; }
  /// y[q, c] = sum m[q, n] x[n, c] of rows or columns, or with the matrix turned.
  std::vector<number> along(const symmetric<T>& by, bool turned, bool columns, const std::vector<number>& x, int rows, int cols) const {
    const int n = columns ? cols : rows, other = columns ? rows : cols;
    const int q_count = turned ? static_cast<int>(by.m.extent(1)) : static_cast<int>(by.m.extent(0));
    std::vector<number> y(static_cast<std::size_t>(q_count * other));
    for (int q = 0; q < q_count; ++q)
      for (int c = 0; c < other; ++c)
        for (int k = 0; k < n; ++k) {
          const number v = of(static_cast<number>(turned ? by.m(k, q) : by.m(q, k)));
          // Products in halves pass through sums of mirrored elements.
          const auto at = [&](int a) { return x[static_cast<std::size_t>(columns ? c * cols + a : a * cols + c)]; };
          y[static_cast<std::size_t>(columns ? c * q_count + q : q * other + c)] += v * (size ? at(k) + at(n - 1 - k) : at(k));
        }
    return y;
  }
  std::vector<number> up(const std::vector<number>& u) const { return along(B, false, true, along(B, false, false, u, P, P), Q, P); }
  std::vector<number> down(const std::vector<number>& q) const { return along(B, true, true, along(B, true, false, q, Q, Q), P, Q); }
};

template <class T, class Storage> class chains {
 public:
  chains(const sizes& n, unsigned seed)
      : n_(n), rng_(seed), B_(n.Q, n.P, 1, rng_), D_(n.Q, n.Q, -1, rng_), u_(make(n.P)), v_(make(n.P)), W_(make(n.Q)), G_{make(n.Q), make(n.Q), make(n.Q)} {}

  /// v = B B (W (B B u)).
  double mass() {
    ricci::local<T> p("p"), q("q");
    const auto B = ricci::even_odd(B_.m);
    ricci::fuse(p(e, s, r).assign(B(s, j) * B(r, i) * u_.t(e, j, i)), q(e, s, r).assign(W_.t(e, s, r) * p(e, s, r)),
                v_.t(e, m, l).assign(B(s, m) * B(r, l) * q(e, s, r))).run();
    return worst([&](const element<T>& x, const auto& u, const auto& W, const auto&) {
      std::vector<number> at = x.up(u);
      for (std::size_t z = 0; z < at.size(); ++z) at[z] *= W[z];
      return x.down(at);
    });
  }

  /// v = B B (D G D (B B u)), with a coefficient that the statements share.
  double diffusion() {
    ricci::local<T> p("p"), x("x"), y("y"), a("a"), b("b"), q("q");
    const auto B = ricci::even_odd(B_.m);
    const auto D = ricci::even_odd(D_.m);
    const auto& G = G_;
    ricci::fuse(p(e, s, r).assign(B(s, j) * B(r, i) * u_.t(e, j, i)), x(e, s, r).assign(D(r, g) * p(e, s, g)),
                y(e, s, r).assign(D(s, g) * p(e, g, r)), a(e, s, r).assign(G[0].t(e, s, r) * x(e, s, r) + G[1].t(e, s, r) * y(e, s, r)),
                b(e, s, r).assign(G[1].t(e, s, r) * x(e, s, r) - G[2].t(e, s, r) * y(e, s, r)),
                q(e, s, r).assign(D(g, r) * a(e, s, g) + D(g, s) * b(e, g, r)), v_.t(e, m, l).assign(B(s, m) * B(r, l) * q(e, s, r))).run();
    return worst([&](const element<T>& z, const auto& u, const auto&, const auto& by) {
      const int Q = n_.Q;
      const std::vector<number> at = z.up(u), dx = z.along(D_, false, true, at, Q, Q), dy = z.along(D_, false, false, at, Q, Q);
      std::vector<number> hx(dx.size()), hy(dx.size());
      for (std::size_t c = 0; c < dx.size(); ++c) {
        hx[c] = by[0][c] * dx[c] + by[1][c] * dy[c];
        hy[c] = by[1][c] * dx[c] + (z.size ? by[2][c] * dy[c] : -by[2][c] * dy[c]);
      }
      std::vector<number> sum = z.along(D_, true, true, hx, Q, Q);
      const std::vector<number> other = z.along(D_, true, false, hy, Q, Q);
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += other[c];
      return z.down(sum);
    });
  }

 private:
  struct stored {
    Storage t;
    std::vector<T> values;
  };
  stored make(int n) {
    stored x{Storage(n_.elements, n, n), {}};
    const ricci::test::uniform<double> value{-1, 1};
    for (int a = 0; a < n_.elements; ++a)
      for (int b = 0; b < n; ++b)
        for (int c = 0; c < n; ++c) x.values.push_back(x.t(a, b, c) = static_cast<T>(value(rng_)));
    return x;
  }
  std::vector<number> part(const stored& x, int a, bool size) const {
    const std::size_t each = x.values.size() / static_cast<std::size_t>(n_.elements);
    std::vector<number> out(x.values.begin() + static_cast<std::ptrdiff_t>(each) * a, x.values.begin() + static_cast<std::ptrdiff_t>(each) * (a + 1));
    if (size)
      for (number& y : out) y = std::abs(y);
    return out;
  }

  template <class F> double worst(const F& of_element) {
    double most = 0;
    for (int a = 0; a < n_.elements; ++a) {
      const auto all = [&](bool size) {
        return of_element(element<T>{B_, D_, n_.P, n_.Q, size}, part(u_, a, size), part(W_, a, size),
                          std::vector<std::vector<number>>{part(G_[0], a, size), part(G_[1], a, size), part(G_[2], a, size)});
      };
      const std::vector<number> want = all(false), size = all(true);
      for (int b = 0; b < n_.P; ++b)
        for (int c = 0; c < n_.P; ++c) {
          const auto at = static_cast<std::size_t>(b * n_.P + c);
          const number bound = 8 * std::numeric_limits<T>::epsilon() * size[at];
          const T got = v_.t(a, b, c);
          most = std::max(most, std::isnan(got) ? 1e9 : static_cast<double>(std::abs(got - want[at]) / bound));
        }
    }
    return most;
  }

  sizes n_;
  std::mt19937 rng_;
  symmetric<T> B_, D_;
  stored u_, v_, W_, G_[3];
};

template <class T, class Storage> void test(const char* name) {
  for (const int elements : reduced_tests() ? std::vector{5, 8, 35} : std::vector{1, 5, 8, 16, 24, 35, 67})
    for (const auto& [P, Q] : {std::pair{2, 3}, {3, 3}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {9, 10}, {12, 13}, {16, 17}}) {
      if (reduced_tests() && P > 4 && P < 9) continue;
      CAPTURE(name, elements, P, Q);
      chains<T, Storage> c({elements, P, Q}, static_cast<unsigned>(elements * 100 + P));
      CHECK(c.mass() <= 1);
      CHECK(c.diffusion() <= 1);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("pointwise statements between even and odd products", "", float, double) {
  using T = TestType;
  if (!reduced_tests() || sizeof(T) == 4) test<T, tensor<T, dynamic, dynamic, dynamic, interleaved<8>>>("eight side by side");
  if (!reduced_tests() || sizeof(T) == 8) test<T, tensor<T, dynamic, dynamic, dynamic, interleaved<16>>>("sixteen side by side");
  test<T, tensor<T, dynamic, dynamic, dynamic>>("one after the other");
}
