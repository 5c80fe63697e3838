// Tests the Eigen side of the demo and its basis functions against plain loops in long double.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "basis.hpp"
#include "eigen_peers.hpp"

namespace {

using demo::real;
namespace peers = demo::peers;

int failures = 0;

/// A value with its magnitude, the sum of absolute values that rounding is judged against.
struct judged {
  real value = 0, magnitude = 0;
  void add(real x, real m) { value += x, magnitude += m; }
};

/// |got - value| <= roundings eps magnitude for every element; eps = 2 unit roundoffs, so one factor 2 is slack.
template <class T>
void expect(const char* what, const std::vector<T>& got, const std::vector<judged>& want, int k) {
  real worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const real bound = k * real(std::numeric_limits<T>::epsilon()) * want[i].magnitude;
    const real error = std::abs(real(got[i]) - want[i].value);
    if (!(error <= bound)) worst = std::numeric_limits<real>::infinity();
    if (bound > 0) worst = std::max(worst, error / bound);
  }
  if (worst <= 1 && got.size() == want.size()) return;
  ++failures;
  std::printf("%s: error is %Lg of its bound\n", what, worst);
}

template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::vector<T> x(count);
  for (auto& v : x) v = T(int((seed = seed * 1664525u + 1013904223u) >> 12) - (1 << 19)) / T(1 << 19);
  return x;
}

/// y(e,q,r,s) = t(q,i) t(r,j) t(s,k) x(e,i,j,k), all six loops; t is to x from with the given strides.
std::vector<judged> transform(int to, int from, const std::vector<double>& t, int row, int col,
                              const std::vector<judged>& x) {
  const std::size_t elements = x.size() / (from * from * from);
  std::vector<judged> y;
  for (std::size_t e = 0; e < elements; ++e)
    for (int q = 0; q < to; ++q)
      for (int r = 0; r < to; ++r)
        for (int s = 0; s < to; ++s) {
          judged sum;
          const judged* at = &x[e * from * from * from];
          for (int i = 0; i < from; ++i)
            for (int j = 0; j < from; ++j)
              for (int k = 0; k < from; ++k, ++at) {
                const real b = real(t[q * row + i * col]) * t[r * row + j * col] * t[s * row + k * col];
                sum.add(b * at->value, std::abs(b) * at->magnitude);
              }
          y.push_back(sum);
        }
  return y;
}

std::vector<judged> exact(const std::vector<double>& x) {
  std::vector<judged> y;
  for (const double v : x) y.push_back({v, std::abs(v)});
  return y;
}

void fem(int degree) {
  const int p = degree + 1, q = degree + 2, elements = 2;
  const auto b = numbers<double>(q * p, 1), u = numbers<double>(elements * p * p * p, 2);
  const auto d = numbers<double>(elements * q * q * q, 3);
  auto want = transform(q, p, b, p, 1, exact(u));
  for (const auto interpolate : {peers::interpolate_axes, peers::interpolate_turning}) {
    std::vector<double> w(d.size());
    interpolate(degree, elements, b.data(), u.data(), w.data());
    expect("interpolate", w, want, 3 * p);
  }
  for (std::size_t i = 0; i < d.size(); ++i) want[i] = {want[i].value * d[i], want[i].magnitude * std::abs(d[i])};
  want = transform(p, q, b, 1, p, want);
  for (const auto mass : {peers::mass_axes, peers::mass_turning}) {
    std::vector<double> v(u.size());
    mass(degree, elements, b.data(), d.data(), u.data(), v.data());
    expect("mass", v, want, 3 * p + 3 * q + 1);
  }
}

void statement() {
  const auto a = numbers<double>(64 * 64 * 72, 4);
  const auto at = [&](int i, int j, int m, int n) { return real(a[((i * 64 + j) * 9 + m) * 8 + n]); };
  auto want = exact(a);
  for (int i = 0; i < 64; i += 9)
    for (int j = 0; j < 64; ++j)
      for (int m = 1; m < 9; ++m)
        for (int n = 1; n < 8; ++n)
          for (int k = 0; k < 64; ++k) {
            const real x = at(i, k, m, 0) * at(k, j, 0, n);
            want[((i * 64 + j) * 9 + m) * 8 + n].add(-x, std::abs(x));
          }
  for (const auto way : {peers::statement_loops, peers::statement_gathered}) {
    auto got = a;
    way(got.data());
    for (int i = 0; i < 64; ++i)
      if (i % 9 != 0) std::copy_n(a.begin() + i * 64 * 72, 64 * 72, got.begin() + i * 64 * 72);
    expect("statement", got, want, 65);
  }
}

void convolution(const peers::convolution_shape& s) {
  const auto f = numbers<float>(s.filters * s.channels * s.taps * s.taps, 5);
  const auto x = numbers<float>(s.images * s.channels * s.height * s.width, 6);
  std::vector<judged> want;
  for (int b = 0; b < s.images; ++b)
    for (int o = 0; o < s.filters; ++o)
      for (int i = 0; i < s.rows(); ++i)
        for (int j = 0; j < s.columns(); ++j) {
          judged sum;
          for (int c = 0; c < s.channels; ++c)
            for (int p = 0; p < s.taps; ++p)
              for (int q = 0; q < s.taps; ++q) {
                const real product = real(f[((o * s.channels + c) * s.taps + p) * s.taps + q]) *
                                     x[((b * s.channels + c) * s.height + i + p) * s.width + j + q];
                sum.add(product, std::abs(product));
              }
          want.push_back(sum);
        }
  for (const int bytes : {0, 50000, 1 << 30}) {
    std::vector<float> got(want.size());
    peers::convolve(bytes, s, f.data(), x.data(), got.data());
    expect("convolution", got, want, s.channels * s.taps * s.taps);
  }
}

void product(int m, int n, int k) {
  const auto a = numbers<double>(m * k, 7), b = numbers<double>(k * n, 8);
  std::vector<judged> want(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) {
        const real x = real(a[i * k + l]) * b[l * n + j];
        want[i * n + j].add(x, std::abs(x));
      }
  std::vector<double> c(m * n);
  peers::multiply(m, n, k, a.data(), b.data(), c.data());
  expect("product", c, want, k);
}

/// The rule integrates x^n exactly up to degree 2 count - 1; the basis reproduces x^n up to its degree.
void basis(int count) {
  const real eps = 4 * count * std::numeric_limits<real>::epsilon();
  const auto rule = demo::gauss_legendre(count);
  for (int n = 0; n < 2 * count; ++n) {
    real sum = 0;
    for (int i = 0; i < count; ++i) sum += rule.weights[i] * std::pow(rule.points[i], real(n));
    if (!(std::abs(sum - (n % 2 ? 0 : 2.0L / (n + 1))) <= eps)) ++failures, std::printf("rule %d, x^%d\n", count, n);
  }
  if (count < 3) return;
  const auto nodes = demo::lobatto_nodes(count - 2);
  const auto b = demo::lagrange(nodes, rule.points);
  for (int q = 0; q < count; ++q)
    for (int n = 0; n < count - 1; ++n) {
      judged sum;
      for (int i = 0; i < count - 1; ++i) {
        const real term = b[q * (count - 1) + i] * std::pow(nodes[i], real(n));
        sum.add(term, std::abs(term));
      }
      if (!(std::abs(sum.value - std::pow(rule.points[q], real(n))) <= eps * sum.magnitude))
        ++failures, std::printf("basis of degree %d, x^%d\n", count - 2, n);
    }
}

}  // namespace

int main() {
  for (int count = 1; count <= 12; ++count) basis(count);
  for (int degree = 1; degree <= 8; ++degree) fem(degree);
  statement();
  convolution({2, 3, 4, 9, 8, 3});
  convolution({1, 16, 5, 40, 33, 5});
  product(33, 21, 70);
  std::puts(failures ? "some are wrong" : "Eigen agrees with plain loops");
  return failures != 0;
}
