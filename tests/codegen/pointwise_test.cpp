// Pointwise statements over problems that lie one after the other in some inputs and side by side in others: written
// kernels and compiled ones against plain loops.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "../kernels/guarded.hpp"
#include "codegen/pointwise.hpp"

using namespace ricci;
using kernels::pointwise_args;

namespace {

struct turned_case {
  int turned;           // inputs that lie problem after problem; as many lie side by side
  std::int64_t lanes, rows;
  bool adds;
};

/// Two statements: c_0 = beta c_0 + sum_n t_n s_n, c_1 = c_0 / t_0 - w, where w is the same for all problems.
pointwise_args args_of(const turned_case& k) {
  pointwise_args g;
  g.lane_extent = k.lanes, g.row_extent = k.rows;
  g.input_count = 2 * k.turned + 1, g.output_count = g.statement_count = 2;
  for (int n = 0; n < k.turned; ++n) {
    g.inputs[2 * n].lane = k.rows, g.inputs[2 * n].row = 1;
    g.inputs[2 * n + 1].row = k.lanes;
    g.terms[n] = {2 * n, 2, combine::multiply};
    g.factors[2 * n] = {2 * n, function::identity}, g.factors[2 * n + 1] = {2 * n + 1, function::identity};
  }
  const int weight = 2 * k.turned;
  g.inputs[weight].lane = 0, g.inputs[weight].row = 1;
  g.outputs[0].row = g.outputs[1].row = k.lanes;
  g.statements[0] = {0, k.turned, 0, true, true};
  g.statements[1] = {k.turned, 2, 1, false, false};
  g.terms[k.turned] = {2 * k.turned, 2, combine::multiply};
  g.factors[2 * k.turned] = {-1, function::identity}, g.factors[2 * k.turned + 1] = {0, function::reciprocal};
  g.terms[k.turned + 1] = {2 * k.turned + 2, 1, combine::multiply};
  g.factors[2 * k.turned + 2] = {weight, function::identity};
  return g;
}

struct operands {
  std::vector<std::unique_ptr<guarded<double>>> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<double> before;

  explicit operands(const turned_case& k) {
    std::mt19937 rng(static_cast<unsigned>(k.turned * 100 + k.rows));
    std::uniform_real_distribution<double> value(0.5, 1.5);
    const auto size = static_cast<std::size_t>(k.lanes * k.rows);
    for (int n = 0; n <= 2 * k.turned; ++n) {
      inputs.push_back(std::make_unique<guarded<double>>(n == 2 * k.turned ? static_cast<std::size_t>(k.rows) : size, true));
      for (double& x : *inputs.back()) x = value(rng);
      in.push_back(inputs.back()->data());
    }
    for (int n = 0; n < 2; ++n) {
      outputs.push_back(std::make_unique<guarded<double>>(size, true));
      for (double& x : *outputs.back()) x = k.adds && n == 0 ? value(rng) : std::numeric_limits<double>::quiet_NaN();
      out.push_back(outputs.back()->data());
    }
    before.assign(outputs[0]->begin(), outputs[0]->end());
  }
};

template <class Run> double error_of(const turned_case& k, const Run& run) {
  operands o(k);
  run(args_of(k), o);
  double worst = 0;
  const auto compare = [&](double got, long double want, long double size) {
    const auto bound = static_cast<double>((k.turned + 4) * size) * std::numeric_limits<double>::epsilon();
    worst = std::max(worst, std::isnan(got) ? 1e9 : static_cast<double>(std::abs(got - want)) / bound);
  };
  for (std::int64_t r = 0; r < k.rows; ++r)
    for (std::int64_t l = 0; l < k.lanes; ++l) {
      const auto side = static_cast<std::size_t>(r * k.lanes + l), turned = static_cast<std::size_t>(l * k.rows + r);
      long double want = k.adds ? o.before[side] : 0;
      for (int n = 0; n < k.turned; ++n)
        want += static_cast<long double>((*o.inputs[std::size_t(2 * n)])[turned]) * (*o.inputs[std::size_t(2 * n + 1)])[side];
      compare((*o.outputs[0])[side], want, want);  // all terms are positive
      const long double first = (*o.inputs[0])[turned], weight = (*o.inputs[std::size_t(2 * k.turned)])[std::size_t(r)];
      compare((*o.outputs[1])[side], want / first - weight, want / first + weight);
    }
  return worst;
}

bool test_written(const turned_case& k, codegen::target t) {
  using enum codegen::factor;
  codegen::pointwise_request wanted{dtype::f64, args_of(k), std::vector<codegen::factor>(std::size_t(k.turned + 2), one), {k.adds ? one : zero, zero}};
  wanted.alphas.back() = minus_one;
  const auto made = codegen::make(wanted, t);
  if (!made) return false;
  CHECK(error_of(k, [&](const pointwise_args&, operands& o) { (*made)(o.in.data(), o.out.data(), nullptr, nullptr); }) <= 1);
  return true;
}

}  // namespace

TEST_CASE("pointwise statements turn what lies problem after problem") {
  int written = 0;
  for (int turned : {1, 2, 3, 4, 6, 9})
    for (const std::int64_t lanes : {3, 8, 16, 40, 64})
      for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 27, 64, 125})
        for (const bool adds : {false, true}) {
          const turned_case k{turned, lanes, rows, adds};
          CAPTURE(turned, lanes, rows, adds);
          std::vector<double> alphas(std::size_t(turned + 2), 1), betas{adds ? 1.0 : 0.0, 0.0};
          alphas.back() = -1;
          const kernels::kernel_sets sets = kernels::available();
          for (int s = 0; s < sets.count; ++s)
            CHECK(error_of(k, [&](const pointwise_args& g, operands& o) {
                    sets.first[s]->pointwise[1](g, o.in.data(), o.out.data(), alphas.data(), betas.data());
                  }) <= 1);
          using enum codegen::target;
          const codegen::target best = codegen::best_target();
          if (best == avx512) written += test_written(k, avx512);
          if (best != none) written += test_written(k, avx2);
        }
  CHECK((written > 300 || codegen::best_target() == codegen::target::none));
}
