// Programs without a label that runs through all of their steps: in stages, each with its own blocks.
#include <catch2/catch.hpp>

#include <omp.h>

#include <cmath>
#include <sstream>
#include <thread>
#include <type_traits>

#include <ricci/ricci.hpp>

using namespace ricci::labels;

namespace {

template <class T> using matrix = ricci::tensor<T, ricci::dynamic, ricci::dynamic>;
template <class T> using field = ricci::tensor<T, ricci::dynamic, ricci::dynamic, ricci::dynamic, ricci::dynamic>;

/// Small integers: every sum here is exact in float, so results are compared by ==.
template <class Tensor> void fill(Tensor& x, int seed) {
  unsigned state = static_cast<unsigned>(seed) * 2654435761u + 1;
  for (auto& value : x) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<std::remove_reference_t<decltype(value)>>(static_cast<int>(state >> 16) % 3 - 1);
  }
}

template <class Plan> int stages(const Plan& p) {
  std::ostringstream text;
  text << p;
  int count = 0;
  for (std::size_t at = text.str().find("\n  stage "); at != std::string::npos; at = text.str().find("\n  stage ", at + 1)) ++count;
  return count;
}

template <class T>
struct elements {
  int P = 3, Q = 4;
  std::int64_t E;
  matrix<T> B;
  field<T> u, v, D;
  explicit elements(std::int64_t count) : E(count), B(Q, P), u(E, P, P, P), v(E, P, P, P), D(E, Q, Q, Q) {
    fill(B, 1), fill(u, 2), fill(D, 3);
  }

  /// What the mass operator makes of u, by plain loops.
  std::vector<double> mass() const {
    std::vector<double> out(static_cast<std::size_t>(v.size()));
    for (std::int64_t x = 0; x < E; ++x)
      for (int m = 0; m < Q * Q * Q; ++m) {
        const int y = m / Q / Q, z = m / Q % Q, w = m % Q;
        double at = 0;
        for (int n = 0; n < P * P * P; ++n) at += weight(y, z, w, n) * static_cast<double>(u(x, n / P / P, n / P % P, n % P));
        at *= static_cast<double>(D(x, y, z, w));
        for (int n = 0; n < P * P * P; ++n) out[static_cast<std::size_t>(x * P * P * P + n)] += weight(y, z, w, n) * at;
      }
    return out;
  }

 private:
  double weight(int y, int z, int w, int n) const {
    return static_cast<double>(B(y, n / P / P)) * static_cast<double>(B(z, n / P % P)) * static_cast<double>(B(w, n % P));
  }
};

template <class T> double dot(const std::vector<double>& x, const field<T>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * static_cast<double>(y.data()[i]);
  return sum;
}

}  // namespace

TEMPLATE_TEST_CASE("an operator and a scalar product with its result", "", double, float) {
  for (std::int64_t count : {1, 7, 3001}) {
    elements<TestType> x(count);
    const auto want = x.mass();
    ricci::local<TestType> g, h;
    ricci::tensor<TestType> product;
    const auto plan = ricci::fuse(g(e, q, r, s).assign(x.B(q, i) * x.B(r, j) * x.B(s, k) * x.u(e, i, j, k)),
                                  h(e, q, r, s).assign(x.D(e, q, r, s) * g(e, q, r, s)),
                                  x.v(e, a, b, c).assign(x.B(q, a) * x.B(r, b) * x.B(s, c) * h(e, q, r, s)),
                                  product().assign(x.v(e, a, b, c) * x.u(e, a, b, c)));
    if (count > 1000) CHECK(stages(plan) == 2);
    for (const int threads : {1, 2}) {
      omp_set_num_threads(threads);
      x.v.fill(9), product.fill(9);
      plan.run();
      bool equal = true;
      for (std::size_t n = 0; n < want.size(); ++n) equal = equal && static_cast<double>(x.v.data()[n]) == want[n];
      CHECK(equal);
      CHECK(static_cast<double>(*product.data()) == dot(want, x.u));
    }
  }
}

TEST_CASE("an energy in one statement: a chain over elements, then its sum") {
  for (std::int64_t count : {1, 7, 3001}) {
    elements<double> x(count);
    ricci::tensor<double> energy;
    const auto plan = ricci::plan(energy().assign(x.B(q, a) * x.B(r, b) * x.B(s, c) * x.u(e, a, b, c) * x.D(e, q, r, s) * x.B(q, i) *
                                                  x.B(r, j) * x.B(s, k) * x.u(e, i, j, k)));
    if (count > 1000) CHECK(stages(plan) > 1);
    plan.run();
    CHECK(*energy.data() == dot(x.mass(), x.u));
  }
}

TEST_CASE("tensors between stages belong to the run: two threads, two sets of memory") {
  elements<double> x(2503);
  ricci::local<double> g, t;
  // t is wanted per element, and by all elements the scalar product of what becomes of it.
  ricci::tensor<double> energy;
  field<double> w(x.E, x.Q, x.Q, x.Q);
  const auto plan = ricci::fuse(g(e, q, r, s).assign(x.B(q, i) * x.B(r, j) * x.B(s, k) * x.u(e, i, j, k)),
                                t(e, q, r, s).assign(x.D(e, q, r, s) * g(e, q, r, s)),
                                x.v(e, a, b, c).assign(x.B(q, a) * x.B(r, b) * x.B(s, c) * t(e, q, r, s)),
                                energy().assign(x.v(e, a, b, c) * x.u(e, a, b, c)), w(e, q, r, s).assign(energy() * t(e, q, r, s)));
  CHECK(stages(plan) > 1);
  plan.run();
  const std::vector<double> once(w.begin(), w.end());
  double largest = 0, total = 0;
  for (double value : once) largest = std::max(largest, std::abs(value)), total += value;
  double want = 0;
  for (std::int64_t n = 0; n < x.E; ++n)
    for (int m = 0; m < 64; ++m) {
      double at = 0;
      for (int l = 0; l < 27; ++l) at += x.B(m / 16, l / 9) * x.B(m / 4 % 4, l / 3 % 3) * x.B(m % 4, l % 3) * x.u(n, l / 9, l / 3 % 3, l % 3);
      want += at * x.D(n, m / 16, m / 4 % 4, m % 4);
    }
  CHECK(*energy.data() == dot(x.mass(), x.u));
  CHECK(total == want * *energy.data());
  CHECK(largest > 0);
  // The same plan on several threads at once writes the same values.
  std::vector<std::thread> team;
  for (int n = 0; n < 3; ++n)
    team.emplace_back([&] {
      omp_set_num_threads(1);
      elements<double> y(2503);
      ricci::tensor<double> mine;
      for (int again = 0; again < 5; ++again)
        mine() = y.B(q, a) * y.B(r, b) * y.B(s, c) * y.u(e, a, b, c) * y.D(e, q, r, s) * y.B(q, i) * y.B(r, j) * y.B(s, k) * y.u(e, i, j, k);
      if (*mine.data() != dot(y.mass(), y.u)) largest = -1;
    });
  for (std::thread& one : team) one.join();
  CHECK(largest > 0);
}

TEST_CASE("a gathered operator, added to its vector, and a scalar product of both") {
  const std::int64_t E = 4001, N = E * 2 + 1;
  ricci::tensor<int, ricci::dynamic, 3> dof(E);
  for (std::int64_t x = 0; x < E; ++x)
    for (int n = 0; n < 3; ++n) dof(x, n) = static_cast<int>(2 * x + n);
  ricci::tensor<double, 3, 3> K;
  ricci::tensor<double, ricci::dynamic> u(N), v(N);
  fill(K, 4), fill(u, 5);
  ricci::tensor<double> product;
  ricci::local<double> y;
  const auto plan = ricci::fuse(y(e, b).assign(K(b, a) * u(dof(e, a))), v(dof(e, b)).add(y(e, b)), product().assign(u(n) * v(n)));
  std::vector<double> want(static_cast<std::size_t>(N));
  for (std::int64_t x = 0; x < E; ++x)
    for (int row = 0; row < 3; ++row)
      for (int col = 0; col < 3; ++col) want[static_cast<std::size_t>(2 * x + row)] += K(row, col) * u(2 * x + col);
  double sum = 0;
  for (std::size_t n = 0; n < want.size(); ++n) sum += want[n] * u.data()[n];
  for (const int threads : {1, 2}) {
    omp_set_num_threads(threads);
    v.fill(0);
    plan.run();
    CHECK(std::equal(want.begin(), want.end(), v.begin()));
    CHECK(*product.data() == sum);
  }
}
