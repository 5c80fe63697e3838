// The pointwise kernels of every instruction set this CPU runs, of all four types, against plain loops.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "guarded.hpp"
#include "kernels/kernels.hpp"
#include "uniform.hpp"

using namespace ricci::kernels;
using ricci::combine;
using ricci::function;

namespace {

using wide = std::complex<long double>;

template <class T> T number(std::mt19937& rng) {
  const ricci::test::uniform<double> value{-1, 1};
  const double re = value(rng), im = value(rng);
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(re + 0 * im);
  else return T(static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(im));
}

/// c[l, r, i] = beta c + alpha0 x y + alpha1 conj(z) + alpha2: x as it lies, y broadcast along the lanes, z with a stride along them.
struct sizes {
  std::int64_t lanes, rows, loops;
};

template <class T> void test(const kernel_set& set, int type, const sizes& n, T beta, std::int64_t z_lane) {
  std::mt19937 rng(static_cast<unsigned>(n.lanes * 100 + n.rows * 10 + n.loops));
  pointwise_args g;
  g.lane_extent = n.lanes, g.row_extent = n.rows, g.loops[0] = n.loops, g.loop_count = 1;
  g.input_count = 3, g.output_count = 1, g.statement_count = 1;
  const auto stream = [&](std::int64_t lane) {
    pointwise_args::stream s;
    s.lane = lane, s.row = std::max<std::int64_t>(1, n.lanes * lane), s.loops[0] = s.row * n.rows;
    return s;
  };
  g.inputs[0] = g.outputs[0] = stream(1), g.inputs[1] = stream(0), g.inputs[2] = stream(z_lane);
  g.terms[0] = {0, 2, combine::multiply}, g.terms[1] = {2, 1, combine::multiply}, g.terms[2] = {3, 0, combine::multiply};
  constexpr bool is_pair = !std::is_floating_point_v<T>;
  g.factors[0] = {0}, g.factors[1] = {1}, g.factors[2] = {2, function::identity, is_pair};
  g.statements[0] = {0, 3, 0, false, false};
  const auto size = [&](const pointwise_args::stream& s) { return static_cast<std::size_t>(s.loops[0] * n.loops); };
  guarded<T> x(size(g.inputs[0]), true), y(size(g.inputs[1]), true), z(size(g.inputs[2]), true), c(size(g.outputs[0]), true);
  for (auto* v : {&x, &y, &z, &c})
    for (T& e : *v) e = number<T>(rng);
  const T alphas[] = {number<T>(rng), number<T>(rng), number<T>(rng)};
  const std::vector<T> old(c.begin(), c.end());
  if (beta == T(0))
    for (T& e : c) e = T(std::numeric_limits<double>::quiet_NaN());
  const void* inputs[] = {x.data(), y.data(), z.data()};
  void* outputs[] = {c.data()};
  set.pointwise[type](g, inputs, outputs, alphas, &beta);
  const auto at = [](const pointwise_args::stream& s, std::int64_t l, std::int64_t r, std::int64_t i) { return static_cast<std::size_t>(l * s.loops[0] + r * s.row + i * s.lane); };
  double worst = 0;
  for (std::int64_t l = 0; l < n.loops; ++l)
    for (std::int64_t r = 0; r < n.rows; ++r)
      for (std::int64_t i = 0; i < n.lanes; ++i) {
        const std::size_t here = at(g.outputs[0], l, r, i);
        const wide terms[] = {wide(beta) * wide(old[here]), wide(alphas[0]) * wide(x[at(g.inputs[0], l, r, i)]) * wide(y[at(g.inputs[1], l, r, i)]),
                              wide(alphas[1]) * std::conj(wide(z[at(g.inputs[2], l, r, i)])), wide(alphas[2])};
        wide want = 0;
        long double magnitude = 0;
        for (const wide& t : terms) want += t, magnitude += std::abs(t);
        const auto eps = static_cast<long double>(std::numeric_limits<decltype(std::real(T()))>::epsilon());
        worst = std::max(worst, static_cast<double>(std::abs(wide(c[here]) - want) / ((is_pair ? 2.9L : 1.0L) * 8 * eps * magnitude)));
        if (std::isnan(std::real(c[here]))) worst = 1e300;
      }
  CHECK(worst <= 1);
}

}  // namespace

TEMPLATE_TEST_CASE("pointwise kernels of every instruction set", "", float, double, std::complex<float>, std::complex<double>) {
  constexpr int type = (sizeof(decltype(std::real(TestType()))) == 8) + 2 * !std::is_floating_point_v<TestType>;
  const kernel_sets sets = available();
  for (int s = 0; s < sets.count; ++s) {
    INFO(sets.first[s]->isa);
    for (std::int64_t lanes = 1; lanes <= (reduced_tests() ? 9 : 40); ++lanes)
      for (std::int64_t rows : {1, 2, 3, 4, 9})
        for (const std::int64_t z_lane : {1, 0, 3})
          for (const TestType beta : {TestType(0), TestType(1), TestType(-0.5)}) {
            CAPTURE(lanes, rows, z_lane);
            test<TestType>(*sets.first[s], type, {lanes, rows, 2}, beta, z_lane);
          }
    if constexpr (!std::is_floating_point_v<TestType>) test<TestType>(*sets.first[s], type, {13, 5, 3}, TestType(0.5f, -2.0f), 1);
  }
}

TEST_CASE("a complex number times a real coefficient keeps its parts apart") {
  const kernel_sets sets = available();
  const double inf = std::numeric_limits<double>::infinity();
  using T = std::complex<double>;
  for (int s = 0; s < sets.count; ++s) {
    INFO(sets.first[s]->isa);
    pointwise_args g;
    g.lane_extent = 5, g.input_count = g.output_count = g.statement_count = 1;
    g.terms[0] = {0, 1, combine::multiply};
    g.statements[0] = {0, 1, 0, false, false};
    const std::vector<T> x(5, {inf, 1});
    std::vector<T> c(5);
    const void* inputs[] = {x.data()};
    void* outputs[] = {c.data()};
    const T alpha = -2, beta = 0;
    sets.first[s]->pointwise[3](g, inputs, outputs, &alpha, &beta);
    for (const T& e : c) CHECK((e.real() == -inf && e.imag() == -2));
  }
}
