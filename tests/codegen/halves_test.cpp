// Products with even and odd matrices: the compiled kernels and those written at run time, against plain loops.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "../kernels/guarded.hpp"
#include "codegen/halves.hpp"
#include "uniform.hpp"

using namespace ricci;
using kernels::halves_args;

namespace {

struct halves_case {
  int q, n, parity;
  std::int64_t lanes;
  bool outer;  // fibres run along the outermost axis of x and y, the lanes take the inner one
};

halves_args args_of(const halves_case& k) {
  halves_args g;
  g.q = k.q, g.n = k.n, g.parity = k.parity, g.lane_extent = k.lanes;
  g.m_q = k.n, g.m_n = 1;
  g.loop_count = 2;
  g.loops[0] = 3, g.loops[1] = 2;
  if (k.outer) {
    g.x_loops[0] = g.y_loops[0] = k.lanes, g.x_n = g.y_q = 3 * k.lanes;
    g.x_loops[1] = k.n * 3 * k.lanes, g.y_loops[1] = k.q * 3 * k.lanes;
  } else {
    g.x_n = g.y_q = k.lanes;
    g.x_loops[0] = k.n * k.lanes, g.y_loops[0] = k.q * k.lanes;
    g.x_loops[1] = 3 * g.x_loops[0], g.y_loops[1] = 3 * g.y_loops[0];
  }
  return g;
}

template <class T> struct operands {
  std::vector<T> m;
  guarded<T> x, y;

  operands(const halves_case& k, std::mt19937& rng)
      : m(static_cast<std::size_t>(k.q * k.n)), x(static_cast<std::size_t>(6 * k.n * k.lanes), true),
        y(static_cast<std::size_t>(6 * k.q * k.lanes), true) {
    const ricci::test::uniform<T> value{-1, 1};
    for (int q = 0; q < k.q; ++q)
      for (int n = 0; n < k.n; ++n) {
        const int mirror = (k.q - 1 - q) * k.n + k.n - 1 - n, here = q * k.n + n;
        m[here] = here == mirror && k.parity < 0 ? T(0) : value(rng);
        m[mirror] = here == mirror ? m[here] : static_cast<T>(k.parity) * m[here];
      }
    for (T& v : x) v = value(rng);
    for (T& v : y) v = value(rng);
  }
};

/// The worst error in units of its bound.
template <class T, class Run> double error_of(const halves_case& k, bool adds, const Run& run) {
  const halves_args g = args_of(k);
  std::mt19937 rng(static_cast<unsigned>(k.q * 100 + k.n));
  operands<T> o(k, rng);
  const std::vector<T> before(o.y.begin(), o.y.end());
  if (!adds) std::fill(o.y.begin(), o.y.end(), std::numeric_limits<T>::quiet_NaN());
  const T alpha = T(0.75);
  run(g, o, alpha);
  double worst = 0;
  for (int f = 0; f < 2; ++f)
    for (int e = 0; e < 3; ++e)
      for (std::int64_t l = 0; l < k.lanes; ++l)
        for (int q = 0; q < k.q; ++q) {
          const auto to = static_cast<std::size_t>(e * g.y_loops[0] + f * g.y_loops[1] + q * g.y_q + l);
          long double want = adds ? before[to] : 0, size = std::abs(want);
          for (int n = 0; n < k.n; ++n) {
            const long double x = o.x[static_cast<std::size_t>(e * g.x_loops[0] + f * g.x_loops[1] + n * g.x_n + l)];
            want += alpha * static_cast<long double>(o.m[q * k.n + n]) * x;
            // The sum passes through those of mirrored elements, which may cancel.
            const long double y = o.x[static_cast<std::size_t>(e * g.x_loops[0] + f * g.x_loops[1] + (k.n - 1 - n) * g.x_n + l)];
            size += alpha * std::abs(static_cast<long double>(o.m[q * k.n + n])) * (std::abs(x) + std::abs(y));
          }
          const double bound = (k.n + 4) * static_cast<double>(size) * std::numeric_limits<T>::epsilon();
          worst = std::max(worst, std::isnan(o.y[to]) ? 1e9 : static_cast<double>(std::abs(o.y[to] - want)) / (bound + 1e-300));
        }
  return worst;
}

template <class T> constexpr dtype type_of = sizeof(T) == 8 ? dtype::f64 : dtype::f32;

/// Whether a kernel was written, and is right.
template <class T> bool test_written(const halves_case& k, codegen::target t, bool adds) {
  const halves_args g = args_of(k);
  const auto made = codegen::make({type_of<T>, g, adds ? codegen::factor::one : codegen::factor::zero, 5000}, t);
  if (!made) return false;
  const auto written = [&](const halves_args& a, operands<T>& o, T alpha) {
    std::vector<char> halves(static_cast<std::size_t>(codegen::halves_bytes(a, type_of<T>)));
    codegen::make_halves(a, type_of<T>, o.m.data(), &alpha, halves.data());
    (*made)(halves.data(), o.x.data(), o.y.data(), o.x.data(), nullptr);
  };
  CHECK(error_of<T>(k, adds, written) <= 1);
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("products with even and odd matrices", "", float, double) {
  int written = 0;
  for (int q = 1; q <= 20; ++q)
    for (int n : {q - 2, q - 1, q, q + 1, 20 - q / 2})
      for (const std::int64_t lanes : {3, 8, 11, 16, 20, 48})
        for (const int parity : {1, -1})
          for (const bool adds : {false, true}) {
            if (n < 1 || n > kernels::max_halves) continue;
            const halves_case k{q, n, parity, lanes, (q + n) % 2 == 0};
            CAPTURE(q, n, lanes, parity, adds);
            const kernels::kernel_sets sets = kernels::available();
            for (int s = 0; s < sets.count; ++s)
              CHECK(error_of<TestType>(k, adds, [&](const halves_args& g, operands<TestType>& o, TestType alpha) {
                      const TestType beta = adds ? 1 : 0;
                      sets.first[s]->halves[sizeof(TestType) == 8](g, o.m.data(), o.x.data(), o.y.data(), &alpha, &beta);
                    }) <= 1);
            using enum codegen::target;
            const codegen::target best = codegen::best_target();
            if (best == avx512) written += test_written<TestType>(k, avx512, adds);
            if (best != none) written += test_written<TestType>(k, avx2, adds);
          }
  CHECK((written > 500 || codegen::best_target() == codegen::target::none));
}

namespace {

/// y[outer, q, i, lane] = (y +) sum m[q, n] x[outer, n, i, lane]; x or y or both with the lane outermost. whole: one of
/// these is [lane, outer, i, n] or [lane, outer, i, q].
struct turned_case {
  int q, n, parity;
  std::int64_t lanes, neighbours, outer;
  bool x_turned, y_turned, adds, whole;
};

struct turned_layout {
  std::int64_t own, outer, neighbour, lane, size;  // strides
  turned_layout(int extent, const turned_case& k, bool turned) {
    const std::int64_t inner = turned ? 1 : k.lanes;
    neighbour = inner, own = (k.neighbours + (k.outer == 3 ? 2 : 0)) * inner, outer = extent * own;  // with a gap, or dense
    if (k.whole && turned) own = 1, neighbour = extent;
    lane = turned ? k.outer * outer + 3 : 1;  // no multiple of a register
    size = turned ? k.lanes * lane : k.outer * outer;
  }
};

/// The worst error in units of its bound; -1 if no kernel was written.
double error_of_turned(const turned_case& k) {
  std::mt19937 rng(static_cast<unsigned>(k.q * 100 + k.n));
  const ricci::test::uniform<double> value{-1, 1};
  const turned_layout x(k.n, k, k.x_turned), y(k.q, k, k.y_turned);
  halves_args g;
  g.q = k.q, g.n = k.n, g.parity = k.parity, g.m_q = k.n, g.m_n = 1, g.lane_extent = k.lanes, g.loop_count = 2;
  g.loops[0] = k.neighbours, g.x_loops[0] = x.neighbour, g.y_loops[0] = y.neighbour, g.x_n = x.own;
  g.loops[1] = k.outer, g.x_loops[1] = x.outer, g.y_loops[1] = y.outer, g.y_q = y.own;
  const auto made = codegen::make({dtype::f64, g, k.adds ? codegen::factor::one : codegen::factor::zero, 0, x.lane, y.lane}, codegen::best_target());
  if (!made) return -1;
  std::vector<double> m(static_cast<std::size_t>(k.q * k.n));
  for (int q = 0; q < k.q; ++q)
    for (int n = 0; n < k.n; ++n) {
      const int mirror = (k.q - 1 - q) * k.n + k.n - 1 - n, here = q * k.n + n;
      m[mirror] = m[here] = here == mirror && k.parity < 0 ? 0 : value(rng);
      if (here != mirror) m[mirror] *= k.parity;
    }
  guarded<double> from(static_cast<std::size_t>(x.size), true), to(static_cast<std::size_t>(y.size), true);
  for (double& v : from) v = value(rng);
  for (double& v : to) v = value(rng);
  const std::vector<double> before(to.begin(), to.end());
  std::vector<bool> written(before.size());
  const double alpha = 0.75;
  std::vector<char> halves(static_cast<std::size_t>(codegen::halves_bytes(g, dtype::f64)));
  codegen::make_halves(g, dtype::f64, m.data(), &alpha, halves.data());
  (*made)(halves.data(), from.data(), to.data(), from.data(), nullptr);
  double worst = 0;
  for (std::int64_t o = 0; o < k.outer; ++o)
    for (std::int64_t i = 0; i < k.neighbours; ++i)
      for (std::int64_t l = 0; l < k.lanes; ++l)
        for (int q = 0; q < k.q; ++q) {
          const auto at = static_cast<std::size_t>(o * y.outer + i * y.neighbour + l * y.lane + q * y.own);
          long double want = k.adds ? before[at] : 0, size = std::abs(want);
          for (int n = 0; n < k.n; ++n) {
            const auto v = [&](int e) { return static_cast<long double>(from[static_cast<std::size_t>(o * x.outer + i * x.neighbour + l * x.lane + e * x.own)]); };
            want += alpha * static_cast<long double>(m[q * k.n + n]) * v(n);
            size += alpha * std::abs(static_cast<long double>(m[q * k.n + n])) * (std::abs(v(n)) + std::abs(v(k.n - 1 - n)));
          }
          const double bound = (k.n + 4) * static_cast<double>(size) * std::numeric_limits<double>::epsilon();
          worst = std::max(worst, std::isnan(to[at]) ? 1e9 : static_cast<double>(std::abs(to[at] - want)) / (bound + 1e-300));
          written[at] = true;
        }
  for (std::size_t at = 0; at < written.size(); ++at)
    if (!written[at] && to[at] != before[at]) return 2;
  return worst;
}

}  // namespace

TEST_CASE("products in halves turn problems that lie one after the other") {
  const bool writes = codegen::best_target() == codegen::target::avx512;
  for (const auto& [q, n] : {std::pair{2, 2}, {3, 2}, {2, 5}, {7, 6}, {8, 9}, {12, 11}, {20, 20}})
    for (const std::int64_t neighbours : {2, 7, 8, 9, 12, 25, 36, 49})
      for (const std::int64_t lanes : {8, 16})
        for (const std::int64_t outer : {1, 3})
          for (const int parity : {1, -1})
            for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
              const bool x_turned = kind == 0 || kind == 2 || kind == 4 || kind == 5, whole = kind > 4;
              const turned_case k{q, n, parity, lanes, neighbours, lanes == 16 ? 1 : outer, x_turned, kind > 0 && kind != 5, kind > 2 && kind != 6, whole};
              CAPTURE(q, n, neighbours, lanes, outer, parity, kind);
              const double error = error_of_turned(k);
              CHECK((error >= 0) == writes);
              CHECK(error <= 1);
            }
}
