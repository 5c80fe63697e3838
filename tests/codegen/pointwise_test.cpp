// Pointwise statements over problems that lie one after the other in some inputs and side by side in others: written
// kernels and compiled ones against plain loops.
#include <catch2/catch.hpp>

#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include "../kernels/guarded.hpp"
#include "codegen/pointwise.hpp"
#include "uniform.hpp"

using namespace ricci;
using kernels::pointwise_args;

namespace {

struct turned_case {
  int turned;           // inputs that lie problem after problem; as many lie side by side
  std::int64_t lanes, rows;
  bool adds;
};

template <class T> constexpr bool complex_type = !std::is_floating_point_v<T>;
template <class T> using real_of = decltype(std::real(T()));

/// Two statements: c_0 = beta c_0 + sum_n t_n s_n, c_1 = c_0 / t_0 - w, where w is the same for all problems. Of complex numbers
/// c_1 = c_0 conj(t_0) - w.
template <class T> pointwise_args args_of(const turned_case& k) {
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
  g.factors[2 * k.turned] = {-1, function::identity};
  g.factors[2 * k.turned + 1] = {0, complex_type<T> ? function::identity : function::reciprocal, complex_type<T>};
  g.terms[k.turned + 1] = {2 * k.turned + 2, 1, combine::multiply};
  g.factors[2 * k.turned + 2] = {weight, function::identity};
  return g;
}

/// The same of pairs of reals, where T is complex.
template <class T> pointwise_args written_args_of(const turned_case& k) {
  pointwise_args g = args_of<T>(k);
  if (!complex_type<T>) return g;
  g.lane_extent *= 2;
  for (int i = 0; i < g.input_count; ++i) g.inputs[i].row *= 2;
  for (int i = 0; i < g.output_count; ++i) g.outputs[i].row *= 2;
  return g;
}

template <class T> struct operands {
  std::vector<std::unique_ptr<guarded<T>>> inputs, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<T> before;

  explicit operands(const turned_case& k) {
    std::mt19937 rng(static_cast<unsigned>(k.turned * 100 + k.rows));
    const ricci::test::uniform<real_of<T>> real{real_of<T>(0.5), real_of<T>(1.5)};
    const auto value = [&] {
      if constexpr (complex_type<T>) return T(real(rng), real(rng) - 1);
      else return real(rng);
    };
    const auto size = static_cast<std::size_t>(k.lanes * k.rows);
    for (int n = 0; n <= 2 * k.turned; ++n) {
      inputs.push_back(std::make_unique<guarded<T>>(n == 2 * k.turned ? static_cast<std::size_t>(k.rows) : size, true));
      for (T& x : *inputs.back()) x = value();
      in.push_back(inputs.back()->data());
    }
    for (int n = 0; n < 2; ++n) {
      outputs.push_back(std::make_unique<guarded<T>>(size, true));
      for (T& x : *outputs.back()) x = k.adds && n == 0 ? value() : T(std::numeric_limits<real_of<T>>::quiet_NaN());
      out.push_back(outputs.back()->data());
    }
    before.assign(outputs[0]->begin(), outputs[0]->end());
  }
};

template <class T, class Run> double error_of(const turned_case& k, const Run& run) {
  using wide = std::conditional_t<complex_type<T>, std::complex<long double>, long double>;
  operands<T> o(k);
  run(o);
  double worst = 0;
  const auto compare = [&](T got, wide want, long double size) {
    const auto bound = static_cast<double>((k.turned + 4) * size * (complex_type<T> ? 2 : 1)) * std::numeric_limits<real_of<T>>::epsilon();
    const auto error = static_cast<double>(std::abs(wide(got) - want));
    worst = std::max(worst, std::isnan(error) ? 1e9 : error / bound);
  };
  for (std::int64_t r = 0; r < k.rows; ++r)
    for (std::int64_t l = 0; l < k.lanes; ++l) {
      const auto side = static_cast<std::size_t>(r * k.lanes + l), turned = static_cast<std::size_t>(l * k.rows + r);
      wide want = k.adds ? wide(o.before[side]) : wide(0);
      long double size = std::abs(want);
      for (int n = 0; n < k.turned; ++n) {
        const wide term = wide((*o.inputs[std::size_t(2 * n)])[turned]) * wide((*o.inputs[std::size_t(2 * n + 1)])[side]);
        want += term, size += std::abs(term);
      }
      compare((*o.outputs[0])[side], want, size);
      const wide first = wide((*o.inputs[0])[turned]), weight = wide((*o.inputs[std::size_t(2 * k.turned)])[std::size_t(r)]);
      wide factor;
      if constexpr (complex_type<T>) factor = std::conj(first);
      else factor = 1 / first;
      compare((*o.outputs[1])[side], want * factor - weight, size * std::abs(factor) + std::abs(weight));
    }
  return worst;
}

template <class T> bool test_written(const turned_case& k, codegen::target t) {
  using enum codegen::factor;
  codegen::pointwise_request wanted{dtype_of<real_of<T>>, written_args_of<T>(k), std::vector<codegen::factor>(std::size_t(k.turned + 2), one), {k.adds ? one : zero, zero}};
  wanted.pairs = complex_type<T>;
  wanted.alphas.back() = minus_one;
  const auto made = codegen::make(wanted, t);
  if (!made) return false;
  CHECK(error_of<T>(k, [&](operands<T>& o) { (*made)(o.in.data(), o.out.data(), nullptr, nullptr); }) <= 1);
  return true;
}

/// Every compiled kernel, and those that are written; how many there are of these.
template <class T> int test_case(const turned_case& k) {
  CAPTURE(k.turned, k.lanes, k.rows, k.adds);
  const std::size_t reals = complex_type<T> ? 2 : 1;
  std::vector<real_of<T>> alphas(reals * std::size_t(k.turned + 2)), betas(2 * reals);
  for (std::size_t i = 0; i < alphas.size(); i += reals) alphas[i] = i + reals == alphas.size() ? -1 : 1;
  betas[0] = k.adds;
  const kernels::kernel_sets sets = kernels::available();
  for (int s = 0; s < sets.count; ++s)
    CHECK(error_of<T>(k, [&](operands<T>& o) {
            sets.first[s]->pointwise[static_cast<int>(dtype_of<T>)](args_of<T>(k), o.in.data(), o.out.data(), alphas.data(), betas.data());
          }) <= 1);
  using enum codegen::target;
  const codegen::target best = codegen::best_target();
  return (best == avx512 && test_written<T>(k, avx512)) + (best != none && test_written<T>(k, avx2));
}

}  // namespace

TEMPLATE_TEST_CASE("pointwise statements turn what lies problem after problem", "", double, float, std::complex<double>, std::complex<float>) {
  int written = 0;
  for (const int turned : {1, 2, 3, 4, 6, 9})
    for (const std::int64_t lanes : {1, 3, 4, 7, 8, 13, 16, 40, 60, 64, 100})
      for (const std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 27, 64, 125}) written += test_case<TestType>({turned, lanes, rows, (lanes + rows) % 2 == 0});
  for (const std::int64_t lanes : {8, 16, 21}) written += test_case<TestType>({2, lanes, 1024, true});  // lines in the same sets of a cache
  CHECK((written > 100 || codegen::best_target() == codegen::target::none));
}
