// Chains of products with even matrices on elements that lie one after the other: the kernels turn what they read and
// write. Against the same statements with plain matrices.
#include <catch2/catch.hpp>

#include <cmath>
#include <sstream>

#include "codegen/codegen.hpp"
#include "helpers.hpp"

using front::count_up;
using ricci::dynamic;
using ricci::tensor;
using ricci::labels::e;
using ricci::labels::i;
using ricci::labels::j;
using ricci::labels::k;
using ricci::labels::l;
using ricci::labels::m;
using ricci::labels::n;
using ricci::labels::r;
using ricci::labels::s;
using ricci::labels::t;

namespace {

using matrix = tensor<double, dynamic, dynamic>;
using cubes = tensor<double, dynamic, dynamic, dynamic, dynamic>;

/// Small whole numbers: sums are exact, in whatever order.
matrix even(int Q, int P) {
  matrix B(Q, P);
  for (int q = 0; q < Q; ++q)
    for (int p = 0; p < P; ++p) B(q, p) = B(Q - 1 - q, P - 1 - p) = (3 * q + 5 * p) % 7 - 3;
  return B;
}

struct problem {
  matrix B;
  cubes u, v, W, expected;
  problem(int elements, int P, int Q) : B(even(Q, P)), u(elements, P, P, P), v(elements, P, P, P), W(elements, Q, Q, Q), expected(v) {
    int at = 0;
    for (double* x = u.data(); x < u.data() + u.size(); ++x) *x = at = (at * 5 + 3) % 17;
    for (double* x = W.data(); x < W.data() + W.size(); ++x) *x = at = (at * 7 + 2) % 11;
    v.fill(4), expected.fill(4);
  }
};

/// expected (+)= B B B (W (B B B u)), by plain statements.
void expect(problem& x, bool adds) {
  const auto elements = x.u.extent(0), P = x.B.extent(1), Q = x.B.extent(0);
  cubes p(elements, Q, P, P), q(elements, Q, Q, P), w(elements, Q, Q, Q);
  p(e, t, j, i) = x.B(t, k) * x.u(e, k, j, i);
  q(e, t, s, i) = x.B(s, j) * p(e, t, j, i);
  w(e, t, s, r) = x.B(r, i) * q(e, t, s, i);
  w(e, t, s, r) = x.W(e, t, s, r) * w(e, t, s, r);
  q(e, t, s, l) = x.B(r, l) * w(e, t, s, r);
  p(e, t, m, l) = x.B(s, m) * q(e, t, s, l);
  if (adds) x.expected(e, n, m, l) += x.B(t, n) * p(e, t, m, l);
  else x.expected(e, n, m, l) = x.B(t, n) * p(e, t, m, l);
}

/// The same as a program that ends with `put` of an expression; the text of its plan.
template <class Put> std::string run(problem& x, const Put& put) {
  ricci::local<double> p("p"), q("q");
  const auto B = ricci::even_odd(x.B);
  const auto plan = ricci::fuse(p(e, t, s, r).assign(B(t, k) * B(s, j) * B(r, i) * x.u(e, k, j, i)),
                                q(e, t, s, r).assign(x.W(e, t, s, r) * p(e, t, s, r)),
                                put(B(t, n) * B(s, m) * B(r, l) * q(e, t, s, r)));
  plan.run();
  std::ostringstream text;
  text << plan;
  return text.str();
}

}  // namespace

TEST_CASE("products read and write elements one after the other") {
  int turned[2] = {};
  for (const int elements : {5, 8, 16, 27, 64})
    for (const auto& [P, Q] : {std::pair{3, 4}, {5, 6}, {6, 7}, {7, 8}, {9, 10}, {12, 13}})
      for (const bool adds : {false, true}) {
        CAPTURE(elements, P, Q, adds);
        problem x(elements, P, Q);
        expect(x, adds);
        const std::string text = adds ? run(x, [&](const auto& right) { return x.v(e, n, m, l).add(right); })
                                      : run(x, [&](const auto& right) { return x.v(e, n, m, l).assign(right); });
        CAPTURE(text);
        CHECK(x.v == x.expected);
        const auto says = [&](const char* what) { return text.find(what) != std::string::npos; };
        turned[adds] += says(" E turned on the way") && says(" C turned on the way");
      }
  CAPTURE(turned[0], turned[1]);
  const bool writes = ricci::codegen::best_target() == ricci::codegen::target::avx512;
  CHECK((turned[0] > 5 || !writes));
  CHECK((turned[1] > 5 || !writes));
}

TEST_CASE("an operator whose result takes the place of its argument") {
  for (const int P : {5, 8, 11}) {
    problem x(24, P, P + 1);
    expect(x, false);
    run(x, [&](const auto& right) { return x.u(e, n, m, l).assign(right); });
    CHECK(x.u == x.expected);
  }
}

TEST_CASE("matrices that are too large for products in halves, and elements of several components") {
  for (const int P : {6, 23}) {
    const int Q = P + 1, elements = 16;
    const matrix M = even(Q, P);
    tensor<double, dynamic, 3, dynamic, dynamic, dynamic> u(elements, P, P, P), v(elements, Q, P, P), expected(elements, Q, P, P);
    count_up(u);
    expected(e, ricci::labels::c, t, j, i) = M(t, k) * u(e, ricci::labels::c, k, j, i);
    ricci::local<double> p("p");
    const auto B = ricci::even_odd(M);
    ricci::fuse(p(e, ricci::labels::c, t, j, i).assign(B(t, k) * u(e, ricci::labels::c, k, j, i)),
                v(e, ricci::labels::c, t, j, i).assign(p(e, ricci::labels::c, t, j, i) + p(e, ricci::labels::c, t, j, i))).run();
    for (std::int64_t x = 0; x < v.size(); ++x) REQUIRE(v.data()[x] == 2 * expected.data()[x]);
    problem cube(16, P, Q);
    expect(cube, true);
    run(cube, [&](const auto& right) { return cube.v(e, n, m, l).add(right); });
    CHECK(cube.v == cube.expected);
  }
}
