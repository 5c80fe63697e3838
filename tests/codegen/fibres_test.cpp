// Pointwise statements between products with even and odd matrices, in guarded memory, against plain loops.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "../kernels/guarded.hpp"
#include "codegen/fibres.hpp"
#include "uniform.hpp"

using namespace ricci;
using kernels::pointwise_args;

namespace {

/// For every group, outer and inner index and lane:
///   x[r] = sum_n A[r, n] p[n] (or read from memory), y[r] = sum_f w_f[r] s_f[r] x[r] + s_0[r], z[r] = 2 x[r] - s_0[r],
///   q[m] = beta q[m] + sum_r B[m, r] y[r] (or y stored).
struct fibres_case {
  int rows, before, after;      // 0: no product
  int parity_before, parity_after, factors, turned;
  std::int64_t groups, outer, inner;
  bool adds, scaled;            // q += ...; the last term has a factor that only the run knows
};

template <class T> constexpr dtype type_of = sizeof(T) == 8 ? dtype::f64 : dtype::f32;

template <class T> struct fixture {
  static constexpr std::int64_t lanes = 64 / sizeof(T);
  fibres_case k;
  codegen::fibres_request r;
  std::vector<std::unique_ptr<guarded<T>>> inputs, outputs;
  std::vector<std::vector<T>> matrices;
  std::vector<T> before;
  std::mt19937 rng{7};

  std::int64_t fibres() const { return k.outer * k.inner; }
  T value() { return static_cast<T>(ricci::test::uniform<double>{-1, 1}(rng)); }

  /// [group][outer][inner][element][lane]; turned: [group][lane][outer][inner][element].
  pointwise_args::stream stream(std::int64_t elements, bool turned) const {
    pointwise_args::stream s;
    const std::int64_t each = turned ? 1 : lanes;
    s.lane = turned ? fibres() * elements : 1, s.row = each;
    s.loops[0] = elements * each, s.loops[1] = k.inner * elements * each, s.loops[2] = fibres() * elements * lanes;
    return s;
  }
  static std::int64_t at(const pointwise_args::stream& s, std::int64_t g, std::int64_t o, std::int64_t i, std::int64_t e, std::int64_t l) {
    return g * s.loops[2] + o * s.loops[1] + i * s.loops[0] + e * s.row + l * s.lane;
  }

  int add(bool output, std::int64_t elements, bool turned) {
    auto& all = output ? outputs : inputs;
    pointwise_args& g = r.points.args;
    all.push_back(std::make_unique<guarded<T>>(static_cast<std::size_t>(k.groups * fibres() * elements * lanes), true));
    for (T& x : *all.back()) x = value();
    (output ? g.outputs[g.output_count] : g.inputs[g.input_count]) = stream(elements, turned);
    return output ? g.output_count++ : g.input_count++;
  }

  /// An end's matrix, q by n, and its halves as another input.
  int matrix(int q, int n, int parity) {
    kernels::halves_args h;
    h.q = q, h.n = n, h.parity = parity, h.m_q = n, h.m_n = 1;
    std::vector<T> m(static_cast<std::size_t>(q * n));
    for (int y = 0; y < q; ++y)
      for (int x = 0; x < n; ++x) {
        const int here = y * n + x, mirror = (q - 1 - y) * n + n - 1 - x;
        m[here] = here == mirror && parity < 0 ? T(0) : value();
        m[mirror] = here == mirror ? m[here] : static_cast<T>(parity) * m[here];
      }
    pointwise_args& g = r.points.args;
    inputs.push_back(std::make_unique<guarded<T>>(static_cast<std::size_t>(codegen::halves_bytes(h, type_of<T>)) / sizeof(T), true));
    const T one = 1;
    codegen::make_halves(h, type_of<T>, m.data(), &one, inputs.back()->data());
    matrices.push_back(m);
    return g.input_count++;
  }

  explicit fixture(const fibres_case& c) : k(c) {
    pointwise_args& g = r.points.args;
    r.points.type = type_of<T>;
    g.lane_extent = lanes, g.row_extent = k.rows, g.loop_count = 3;
    g.loops[0] = k.inner, g.loops[1] = k.outer, g.loops[2] = k.groups;
    const int x = add(false, k.rows, false);
    std::vector<int> weights, sides;
    for (int f = 0; f < k.factors; ++f) weights.push_back(add(false, k.rows, f < k.turned)), sides.push_back(add(false, k.rows, false));
    if (k.before) {
      g.inputs[x] = {};
      r.before = {x, add(false, k.before, false), matrix(k.rows, k.before, k.parity_before), k.before, k.parity_before, codegen::factor::zero};
    } else {
      matrices.push_back({});
    }
    int t = 0, f = 0;
    const auto term = [&](std::initializer_list<int> factors) {
      g.terms[t++] = {f, static_cast<int>(factors.size()), combine::multiply};
      for (int input : factors) g.factors[f++] = {input, function::identity};
    };
    for (int n = 0; n < k.factors; ++n) term({weights[n], sides[n], x});
    term({sides[0]});
    g.statements[0] = {0, t, -1, false, false};
    term({x}), term({x}), term({sides[0]});
    g.statements[1] = {t - 3, 3, -1, false, false};
    g.statement_count = 2;
    if (!k.after) g.statements[0].output = add(true, k.rows, false);
    g.statements[1].output = add(true, k.rows, false);
    if (k.after)
      r.after = {0, add(true, k.after, false), matrix(k.after, k.rows, k.parity_after), k.after, k.parity_after,
                 k.adds ? codegen::factor::one : codegen::factor::zero};
    r.points.alphas.assign(static_cast<std::size_t>(t), codegen::factor::one);
    r.points.alphas.back() = k.scaled ? codegen::factor::any : codegen::factor::minus_one;
    r.points.betas.assign(2, codegen::factor::zero);
    if (k.adds)  // what is asked for may lie anywhere
      for (int n = 0; n < static_cast<int>(inputs.size()); ++n) r.points.ahead.push_back(n % 3 == 1 ? 0 : (n % 2 ? 1 : -1) * 12345 * 64);
    for (std::size_t n = 0; n < outputs.size(); ++n) {
      const bool kept = k.adds && static_cast<int>(n) == r.after.tensor;
      if (kept) before.assign(outputs[n]->begin(), outputs[n]->end());
      else std::fill(outputs[n]->begin(), outputs[n]->end(), std::numeric_limits<T>::quiet_NaN());
    }
  }

  /// The worst error in units of its bound; -1: no kernel.
  double run() {
    const auto made = codegen::make(r, codegen::target::avx512);
    if (!made) return -1;
    std::vector<const void*> in;
    std::vector<void*> out;
    for (auto& x : inputs) in.push_back(x->data());
    for (auto& x : outputs) out.push_back(x->data());
    std::vector<T> alphas(r.points.alphas.size(), T(1)), betas(2, T(0));
    alphas.back() = k.scaled ? T(-0.75) : T(-1);
    (*made)(in.data(), out.data(), alphas.data(), betas.data());
    double worst = 0;
    for (std::int64_t g = 0; g < k.groups; ++g)
      for (std::int64_t o = 0; o < k.outer; ++o)
        for (std::int64_t i = 0; i < k.inner; ++i)
          for (std::int64_t l = 0; l < lanes; ++l) worst = std::max(worst, check(g, o, i, l, alphas.back()));
    return worst;
  }

  double check(std::int64_t g, std::int64_t o, std::int64_t i, std::int64_t l, T last) {
    const pointwise_args& a = r.points.args;
    const auto in = [&](int n, std::int64_t e) -> long double { return (*inputs[std::size_t(n)])[std::size_t(at(a.inputs[n], g, o, i, e, l))]; };
    const auto place = [&](int n, std::int64_t e) { return std::size_t(at(a.outputs[n], g, o, i, e, l)); };
    double worst = 0;
    const auto compare = [&](T got, long double want, long double size, int steps) {
      const long double bound = steps * size * std::numeric_limits<T>::epsilon() + std::numeric_limits<T>::min();
      worst = std::max(worst, std::isnan(got) ? 1e9 : static_cast<double>(std::abs(got - want) / bound));
    };
    const auto rows = static_cast<std::size_t>(k.rows);
    std::vector<long double> x(rows), x_size(rows), y(rows), y_size(rows);
    const int side = a.factors[a.terms[k.factors].first].input;
    for (int e = 0; e < k.rows; ++e) {
      if (!k.before) x[e] = in(0, e), x_size[e] = std::abs(x[e]);
      for (int n = 0; n < k.before; ++n) {  // sums pass through those of mirrored elements, which may cancel
        const long double m = matrices[0][std::size_t(e * k.before + n)];
        x[e] += m * in(r.before.tensor, n);
        x_size[e] += std::abs(m) * (std::abs(in(r.before.tensor, n)) + std::abs(in(r.before.tensor, k.before - 1 - n)));
      }
      y[e] = in(side, e), y_size[e] = std::abs(y[e]);
      for (int f = 0; f < k.factors; ++f) {
        const long double by = in(1 + 2 * f, e) * in(2 + 2 * f, e);
        y[e] += by * x[e], y_size[e] += std::abs(by) * x_size[e];
      }
      const int z = a.statements[1].output;
      compare((*outputs[std::size_t(z)])[place(z, e)], 2 * x[e] + last * in(side, e), 2 * x_size[e] + std::abs(in(side, e)), k.before + 6);
      if (!k.after) compare((*outputs[0])[place(0, e)], y[e], y_size[e], k.before + k.factors + 6);
    }
    for (int m = 0; m < k.after; ++m) {
      const std::size_t to = place(r.after.tensor, m);
      long double want = k.adds ? before[to] : T(0), size = std::abs(want);
      for (int e = 0; e < k.rows; ++e) {
        const long double b = matrices[1][std::size_t(m * k.rows + e)];
        want += b * y[e], size += std::abs(b) * (y_size[e] + y_size[rows - 1 - std::size_t(e)]);
      }
      compare((*outputs[std::size_t(r.after.tensor)])[to], want, size, k.before + k.factors + k.rows + 8);
    }
    return worst;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("statements between products with even and odd matrices", "", float, double) {
  if (codegen::best_target() != codegen::target::avx512) return;
  std::mt19937 rng(5);
  int written = 0;
  for (int rows = 2; rows <= 17; ++rows)
    for (int n = 0; n < 60; ++n) {
      const auto pick = [&](int low, int high) { return low + static_cast<int>(rng() % static_cast<unsigned>(high - low + 1)); };
      fibres_case k{rows, pick(1, 14), pick(1, 20), pick(0, 1) ? 1 : -1, pick(0, 1) ? 1 : -1, pick(1, n % 5 ? 3 : 8), 0, pick(1, 2), pick(1, 3),
                    pick(1, 9), pick(0, 1) == 1, pick(0, 2) == 0};
      if (k.before == 1) k.before = 0;
      if (k.after == 1) k.after = 0;
      if (sizeof(TestType) == 8 && n % 3 == 0) k.turned = pick(1, k.factors);
      CAPTURE(k.rows, k.before, k.after, k.parity_before, k.parity_after, k.factors, k.turned, k.groups, k.outer, k.inner, k.adds, k.scaled);
      const double error = fixture<TestType>(k).run();
      CHECK(error <= 1);
      const bool fits = (k.before || k.after) && codegen::fibres_fit(k.rows, k.before, k.after);
      CHECK((error >= 0) == fits);
      written += error >= 0;
    }
  CHECK(written > 600);
}
