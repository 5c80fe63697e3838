// Chains whose steps run slice by slice, against the same chains with matrices that are not declared even or odd. Whole
// numbers: sums are exact, in whatever order.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <sstream>

#include "../../examples/fem/operators.hpp"
#include "codegen/codegen.hpp"
#include "operator_data.hpp"
#include "reduced.hpp"

using namespace hex;
using namespace front;

namespace {

/// v and expected by the same statements, with declared matrices and with plain ones. The plan of the former.
template <class Tensor, class Make> std::string run_both(Tensor& v, Tensor& expected, const Make& make) {
  v = expected = field_of<Tensor>(v.extent(0), static_cast<int>(v.extent(1)), 0, 3);
  const auto plan = make(v, [](const auto& matrix) { return ricci::even_odd(matrix); });
  plan.run();
  make(expected, [](const auto& matrix) -> const auto& { return matrix; }).run();
  std::ostringstream text;
  text << plan;
  return text.str();
}

bool in_slices(const std::string& plan) { return plan.find(" for each of ") != std::string::npos; }
bool has_halves() { return ricci::codegen::best_target() == ricci::codegen::target::avx512; }

}  // namespace

TEMPLATE_TEST_CASE("mass operators slice by slice", "", in_order<double>, side_by_side<double>, side_by_side<float>) {
  using T = typename TestType::value_type;
  int sliced = 0;
  for (const int P : {5, 7, 8, 11})
    for (const int elements : {1, 16, 37, P == 8 ? (reduced_tests() ? 200 : 600) : 24}) {  // more: the next block is asked for
      if (reduced_tests() && P == 11 && elements > 1) continue;
      const square<T> M = symmetric<T>(P + 1, P, 1);
      const auto u = field_of<TestType>(elements, P, -1, 3), W = field_of<TestType>(elements, P + 1, 0, 3);
      TestType v(u), expected(u);
      const std::string plan = run_both(v, expected, [&](TestType& to, const auto& declared) {
        const auto& B = declared(M);
        ricci::local<T> p("p"), q("q");
        return ricci::fuse(p(e, t, s, r).assign(B(t, k) * B(s, j) * B(r, i) * u(e, k, j, i)), q(e, t, s, r).assign(W(e, t, s, r) * p(e, t, s, r)),
                           to(e, n, m, l).add(B(t, n) * B(s, m) * B(r, l) * q(e, t, s, r)));
      });
      CAPTURE(P, elements, plan);
      CHECK(equal(v, expected));
      sliced += in_slices(plan);
    }
  CHECK((sliced > 3 || !has_halves()));
}

TEMPLATE_TEST_CASE("diffusion slice by slice", "", in_order<double>, side_by_side<double>) {
  int sliced = 0;
  for (const int P : {4, 6, 8, 10})
    for (const int elements : {8, 29, P == 6 ? (reduced_tests() ? 160 : 500) : 16})
      for (const bool collocated : {false, true}) {
        if (reduced_tests() && P == 10 && elements > 8) continue;
        const int Q = collocated ? P : P + 1;
        const square<double> M = symmetric<double>(Q, P, 1), D = symmetric<double>(Q, Q, -1);
        const auto u = field_of<TestType>(elements, P, -1, 3);
        std::array<TestType, 6> G{u, u, u, u, u, u};
        for (int x = 0; x < 6; ++x) G[x] = field_of<TestType>(elements, Q, x % 3 - 1, 3);
        TestType v(u), expected(u);
        std::string plan;
        if (collocated)
          plan = run_both(v, expected, [&](TestType& to, const auto& declared) {
            return collocated_diffusion(declared(D), G, u(e, t, s, r), [&](const auto& right) { return to(e, t, s, r).assign(right); });
          });
        else
          plan = run_both(v, expected, [&](TestType& to, const auto& declared) {
            return diffusion(declared(M), declared(D), G, u(e, k, j, i), [&](const auto& right) { return to(e, n, m, l).assign(right); });
          });
        CAPTURE(P, elements, collocated, plan);
        CHECK(equal(v, expected));
        sliced += in_slices(plan);
      }
  CHECK((sliced > 3 || !has_halves()));
}
